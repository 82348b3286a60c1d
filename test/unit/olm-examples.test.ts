import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { defaultNamespace, monitoringLabel } from '../../src/contract/names.ts';
import { defaultImage } from '../../src/install/image-reference.ts';
import { operatorNamespace } from '../../src/install/namespace.ts';
import { csvName } from '../../src/install/olm/csv.ts';
import { channel, packageName } from '../../src/install/olm/publisher.ts';
import { pauseImage } from '../../src/node/desired/containerd-config.ts';
import { releaseImages } from '../../tools/release/images.ts';
import { writeExamples } from '../../tools/release/olm-parts.ts';
import { repositoryRoot, runWmco } from '../kit/run-wmco.ts';

interface Example {
  kind: string;
  metadata: { name: string; namespace?: string; labels?: Record<string, string> };
  spec: Record<string, unknown>;
}

const folder = join(repositoryRoot, 'examples', 'olm');
const read = (name: string) =>
  parseAllDocuments(readFileSync(join(folder, name), 'utf8')).map(each => each.toJS() as Example);
const one = (name: string) => read(name)[0] as Example;

test('the namespace has the labels of an installation without OLM that matter', () => {
  const { metadata } = one('namespace.yaml');
  expect(metadata.name).toBe(defaultNamespace);
  expect(operatorNamespace(defaultNamespace, 'openshift').metadata.labels).toMatchObject(metadata.labels ?? {});
  expect(metadata.labels).toHaveProperty([monitoringLabel], 'true');
});

test('the OperatorGroup is for its own namespace', () => {
  const { metadata, spec } = one('operatorgroup.yaml');
  expect([metadata.namespace, spec]).toEqual([defaultNamespace, { targetNamespaces: [defaultNamespace] }]);
});

for (const [name, approval] of [
  ['subscription.yaml', 'Automatic'],
  ['subscription-manual.yaml', 'Manual'],
]) {
  test(`${name} subscribes to the package with approval ${approval}, from the catalog of the examples`, () => {
    const { metadata, spec } = one(name ?? '');
    expect([metadata.name, metadata.namespace]).toEqual([packageName, defaultNamespace]);
    const { metadata: source } = one('catalogsource.yaml');
    expect(spec).toEqual({
      name: packageName,
      channel,
      installPlanApproval: approval,
      source: source.name,
      sourceNamespace: source.namespace,
    });
  });
}

test('the catalog is that of this version, also in the mirror', () => {
  const { version } = JSON.parse(readFileSync(join(repositoryRoot, 'package.json'), 'utf8')) as { version: string };
  const { metadata, spec } = one('catalogsource.yaml');
  const image = defaultImage(version, 'catalog');
  expect(spec['image']).toBe(image);
  const mirror = one('catalogsource-mirror.yaml');
  expect(mirror.metadata).toEqual(metadata);
  expect(mirror.spec['image']).toBe(image.replace('quay.io', 'mirror.example.com:5000'));
});

test('the pages name what this version has', () => {
  const page = (name: string) => readFileSync(join(repositoryRoot, 'docs', name), 'utf8');
  const { version } = JSON.parse(readFileSync(join(repositoryRoot, 'package.json'), 'utf8')) as { version: string };
  expect(page('install-olm.md')).toContain(`oc delete csv ${csvName(version)} -n ${defaultNamespace}`);
  expect(page('disconnected.md')).toContain(`| \`${pauseImage}\` |`);
  for (const name of readdirSync(folder)) expect(page('install-olm.md') + page('disconnected.md')).toContain(name);
});

test('Windows nodes can use the mirrors', async () => {
  const { code, out, err } = await runWmco(['check', 'mirrors', '-f', join(folder, 'mirrors.yaml')]);
  expect([code, err]).toEqual([0, expect.not.stringContaining('error')]);
  expect(out).toContain('0 problems');
});

test('the examples of a release name its images, also when they are in several registries', async () => {
  const release = mkdtempSync(join(tmpdir(), 'wmco-examples-'));
  onTestFinished(() => rmSync(release, { recursive: true }));
  const digest = `@sha256:${'1'.repeat(64)}`;
  const images = { operator: `a.io/x/operator${digest}`, bundle: `b.io:5000/y/z/bundle${digest}` };
  await writeExamples(release, releaseImages('11.0.0', { ...images, catalog: `c.io/x/catalog${digest}` }));
  const read = (name: string) =>
    parseAllDocuments(readFileSync(join(release, name), 'utf8')).map(each => each.toJS() as Example);
  expect(read('catalogsource.yaml')[0]?.spec['image']).toBe(`c.io/x/catalog${digest}`);
  expect(read('catalogsource-mirror.yaml')[0]?.spec['image']).toBe(`mirror.example.com:5000/x/catalog${digest}`);
  expect(read('mirrors.yaml')[0]?.spec['imageDigestMirrors']).toEqual([
    { source: 'a.io/x', mirrors: ['mirror.example.com:5000/x'] },
    { source: 'b.io:5000/y/z', mirrors: ['mirror.example.com:5000/y/z'] },
  ]);
});

test('every example is tested', () => {
  expect(readdirSync(folder).sort()).toEqual([
    'catalogsource-mirror.yaml',
    'catalogsource.yaml',
    'mirrors.yaml',
    'namespace.yaml',
    'operatorgroup.yaml',
    'subscription-manual.yaml',
    'subscription.yaml',
  ]);
});
