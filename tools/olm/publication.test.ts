import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { changed, expectProblem, olmFolder } from '../../test/kit/olm-bundle.ts';
import { definitionRules } from './definition-rules.ts';
import { publicationRules, releaseRules } from './publication-rules.ts';
import { documentsIn, type Json, listAt, type Manifest, readBundle } from './read.ts';
import { problemsOf } from './rule.ts';

const bundle = olmFolder('bundle');
const { csv } = readBundle(bundle);
const released = readBundle(olmFolder('bundle', true));

test('the bundle passes the rules of publication and of definitions', () => {
  expect(problemsOf(publicationRules, csv)).toEqual([]);
  expect(problemsOf(definitionRules, readBundle(bundle))).toEqual([]);
});

test('the bundle of a release passes the rules of releases, that of the sources does not', () => {
  expect(problemsOf(releaseRules, released.csv)).toEqual([]);
  expect(problemsOf(releaseRules, csv)).toHaveLength(4);
});

test('the catalog of a release lists the images of its bundle, by digest', () => {
  const [, , entry] = documentsIn(
    olmFolder('catalog', true)['configs/windows-machine-config-operator/catalog.yaml'] ?? '',
  );
  const related = listAt(entry, 'relatedImages').map(({ image }) => String(image));
  expect(related).toEqual([entry?.['image'], ...listAt(released.csv, 'spec', 'relatedImages').map(it => it['image'])]);
  expect(related.filter(image => !image.includes('@sha256:'))).toEqual([]);
});

const annotation = (name: string) => `metadata.annotations.${name.replaceAll('.', '~')}`;
const svg = (body: string) => Buffer.from(`<svg >${body}</svg>`).toString('base64');

const csvCases: [rule: string, path: string, value: unknown, problem: RegExp][] = [
  ['needed fields', 'spec.keywords', [], /keywords/],
  ['needed fields', 'spec.maintainers', undefined, /maintainers/],
  ['needed fields', 'spec.labels', {}, /labels/],
  ['needed fields', annotation('support'), ' ', /support/],
  ['needed fields', annotation('description'), undefined, /description/],
  ['subscription', annotation('operators.openshift.io/valid-subscription'), 'none', /no list/],
  ['subscription', annotation('operators.openshift.io/valid-subscription'), '[1]', /no list/],
  ['maturity', 'spec.maturity', 'ready', /"ready"/],
  ['own namespace only', 'spec.installModes.3.supported', true, /AllNamespaces is supported/],
  ['own namespace only', 'spec.installModes.0.supported', false, /OwnNamespace is not/],
  ['monitoring', annotation('operatorframework.io/cluster-monitoring'), 'false', /monitoring/],
  ['uninstalling keeps nodes', annotation('console.openshift.io/disable-operand-delete'), undefined, /all instances/],
  ['uninstalling keeps nodes', annotation('operator.openshift.io/uninstall-message'), undefined, /what happens/],
  ['uninstalling keeps nodes', 'spec.cleanup.enabled', true, /OLM deletes/],
  ['owned resources', 'spec.customresourcedefinitions.owned.0.description', '', /no description/],
  ['owned resources', 'spec.customresourcedefinitions.owned.0.resources', [], /no resources/],
  [
    'definitions are those of OLM',
    'spec.install.spec.clusterPermissions.0.rules.0',
    { apiGroups: ['apiextensions.k8s.io'], resources: ['customresourcedefinitions'], verbs: ['get', 'patch'] },
    /may change/,
  ],
  ['small icon', 'spec.icon.0.base64data', svg(' '.repeat(10_001)), /more than 10000/],
  ['small icon', 'spec.icon.0.base64data', svg('<script/>'), /scripts or links/],
  ['small icon', 'spec.icon.0.base64data', svg('<image href="http://a"/>'), /scripts or links/],
];
for (const [rule, path, value, problem] of csvCases) {
  test(`"${rule}" refuses ${path}: ${JSON.stringify(value)?.slice(0, 80)}`, () => {
    expectProblem(publicationRules, changed<Manifest>(csv, path, value), rule, problem);
  });
}

const releaseCases: [rule: string, path: string, value: unknown, problem: RegExp][] = [
  ['images by digest', 'spec.relatedImages.1.image', 'mcr.microsoft.com/pause:3.9', /pause:3\.9/],
  ['images by digest', annotation('containerImage'), 'quay.io/a/operator@sha256:1', /operator@sha256:1/],
  ['date', annotation('createdAt'), '2026-13-01T00:00:00Z', /no time/],
  ['date', annotation('createdAt'), 'today', /no time/],
];
for (const [rule, path, value, problem] of releaseCases) {
  test(`"${rule}" refuses ${path}: ${JSON.stringify(value)}`, () => {
    expectProblem(releaseRules, changed<Manifest>(released.csv, path, value), rule, problem);
  });
}

const crdFile = Object.keys(bundle).find(path => path.includes('customresourcedefinition')) ?? '';
const csvFile = Object.keys(bundle).find(path => path.includes('clusterserviceversion')) ?? '';
const [crd = {}] = documentsIn(bundle[crdFile] ?? '');
const withCrd = (path: string, value: unknown) => ({
  ...bundle,
  [crdFile]: stringify(changed<Json>(crd, path, value)),
});
const withCsv = (path: string, value: unknown) => ({
  ...bundle,
  [csvFile]: stringify(changed<Json>(csv, path, value)),
});
const withExample = (spec: object) =>
  withCsv(
    annotation('alm-examples'),
    JSON.stringify([
      {
        apiVersion: 'windowsmachineconfig.openshift.io/v1alpha1',
        kind: 'WindowsInstance',
        metadata: { name: 'win1' },
        spec,
      },
    ]),
  );

const definitionCases: [rule: string, what: string, files: Record<string, string>, problem: RegExp][] = [
  ['definitions', 'another name', withCrd('spec.names.plural', 'instances'), /PLURAL\.GROUP/],
  ['definitions', 'no stored version', withCrd('spec.versions.0.storage', false), /stored version/],
  ['definitions', 'no schema', withCrd('spec.versions.0.schema', {}), /no schema/],
  ['definitions', 'a deprecated version', withCrd('spec.versions.0.deprecated', true), /deprecated/],
  ['valid examples', 'a value of another type', withExample({ address: 1, username: 'a' }), /spec\.address/],
  ['valid examples', 'a missing field', withExample({ address: 'a' }), /username/],
  ['valid examples', 'an unknown field', withExample({ address: 'a', username: 'a', user: 'b' }), /does not have/],
  [
    'descriptors',
    'a field that does not exist',
    withCsv('spec.customresourcedefinitions.owned.0.statusDescriptors.0.path', 'state'),
    /status\.state is described/,
  ],
  [
    'descriptors',
    'an example that is not described',
    withCsv('spec.customresourcedefinitions.owned.0.specDescriptors', []),
    /spec\.address of an example/,
  ],
  ['newest OpenShift', 'another limit', withCsv(annotation('olm.properties'), '[]'), /undefined, but .* 5\.3/],
];
for (const [rule, what, files, problem] of definitionCases) {
  test(`"${rule}" refuses ${what}`, () => expectProblem(definitionRules, readBundle(files), rule, problem));
}

test('every rule has a case that it refuses', () => {
  const tested = [...csvCases, ...releaseCases, ...definitionCases].map(([rule]) => rule);
  const all = [...publicationRules, ...releaseRules, ...definitionRules].map(({ name }) => name);
  expect(all.filter(name => !tested.includes(name))).toEqual([]);
});
