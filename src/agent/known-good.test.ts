import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { service } from '#contract/services/manifest.ts';
import { ModelHost } from '../../test/kit/model-host.ts';
import { type KnownGood, knownGoodFile, readKnownGood, saveKnownGood } from './known-good.ts';

const node = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'win-1', labels: { a: 'b' }, annotations: { subnet: '10.132.1.0/24' }, resourceVersion: '7' },
  spec: { podCIDR: '10.132.1.0/24' },
  status: {
    addresses: [{ type: 'InternalIP', address: '10.0.0.5' }],
    conditions: [{ type: 'Ready', lastHeartbeatTime: '2026-03-01T12:00:00Z' }],
  },
};
const known: KnownGood = {
  version: 'v1',
  manifest: {
    services: [service({ name: 'kubelet', command: 'k.exe --node NAME', bootstrap: true })],
    files: [{ path: 'C:\\k\\kubelet.exe', checksum: 'a' }],
    environment: { HTTP_PROXY: 'http://me:password@proxy' },
    watchedEnvironment: ['HTTP_PROXY'],
  },
  node: { name: 'win-1', object: node },
};
const writes = (host: ModelHost) => host.log.filter(call => call === `write ${knownGoodFile}`).length;

test('keeps what service commands use', async () => {
  const { files } = new ModelHost();
  await saveKnownGood(known, files);
  const read = await readKnownGood(files);
  expect(read).toMatchObject({
    version: 'v1',
    manifest: { services: known.manifest.services },
    node: { name: 'win-1' },
  });
  const { status, metadata, ...rest } = node;
  const { name, labels, annotations } = metadata;
  const kept = { ...rest, metadata: { name, labels, annotations }, status: { addresses: status.addresses } };
  expect(read?.node.object).toEqual(kept);
});

test('keeps names of variables but not their values, which may hold passwords', async () => {
  const { files, fileTexts } = new ModelHost();
  await saveKnownGood(known, files);
  expect((await readKnownGood(files))?.manifest).toMatchObject({ environment: {}, watchedEnvironment: ['HTTP_PROXY'] });
  expect(fileTexts.get(knownGoodFile)).not.toContain('password');
  expect(files.accessOf(knownGoodFile)).toBe('secret');
});

test('writes only changes, and ignores heartbeats of the Node', async () => {
  const host = new ModelHost();
  await saveKnownGood(known, host.files);
  const alive = {
    ...node,
    metadata: { ...node.metadata, resourceVersion: '8' },
    status: { ...node.status, conditions: [] },
  };
  await saveKnownGood({ ...known, node: { name: 'win-1', object: alive } }, host.files);
  expect(writes(host)).toBe(1);
  await saveKnownGood({ ...known, version: 'v2' }, host.files);
  expect(writes(host)).toBe(2);
});

test('gives undefined without a file', async () => {
  expect(await readKnownGood(new ModelHost().files)).toBeUndefined();
});

const damaged: [name: string, change: (text: string) => string][] = [
  ['an empty file', () => ''],
  ['half a file', text => text.slice(0, text.length / 2)],
  ['no object', () => '"text"'],
  ['no version', text => text.replace('"version"', '"other"')],
  ['no Node', text => text.replace('"node"', '"other"')],
  ['a Node without a name', text => text.replace('"win-1"', '7')],
  ['services that cannot be parsed', text => text.replace('"services":"[', '"services":"{')],
];
for (const [name, change] of damaged) {
  test(`gives undefined for ${name}`, async () => {
    const { files, fileTexts } = new ModelHost();
    await saveKnownGood(known, files);
    fileTexts.set(knownGoodFile, change(fileTexts.get(knownGoodFile) ?? ''));
    expect(await readKnownGood(files)).toBeUndefined();
  });
}

test('never fails for any file content', async () => {
  const { files, fileTexts } = new ModelHost();
  await fc.assert(
    fc.asyncProperty(fc.oneof(fc.string(), fc.json()), async text => {
      fileTexts.set(knownGoodFile, text);
      await readKnownGood(files);
    }),
    { numRuns: 500 },
  );
});

test('accepts a Node that is not an object', async () => {
  const { files } = new ModelHost();
  await saveKnownGood({ ...known, node: { name: 'win-1', object: undefined } }, files);
  expect(await readKnownGood(files)).toBeUndefined();
});
