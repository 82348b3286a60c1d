import { expect, test } from 'vitest';
import { sha256 } from '#base/sha256.ts';
import { agentProgram, file } from '#contract/paths.ts';
import { bundleOf, bundlePath, stageTexts } from '../../../test/kit/bundles.ts';
import { ModelHost } from '../../../test/kit/model-host.ts';
import { stageNextTexts } from '../../../test/kit/swap-lab.ts';
import { stageNext } from './next-set.ts';
import { readSets } from './record.ts';
import { stage } from './stage.ts';

const agent = sha256('MZ agent 2');
const [v1, v2] = [
  { [file.kubelet]: 'kubelet 1', [file.kubeletCa]: 'same' },
  { [file.kubelet]: 'kubelet 2', [file.kubeletCa]: 'same' },
];
const copyOf = (text: string) => `C:\\k\\staged\\${sha256(text)}`;
const signal = new AbortController().signal;

/** A host with v1 in place and the agent of v2. */
async function upgradable(): Promise<ModelHost> {
  const host = new ModelHost();
  await stageTexts(host, v1, { version: 'v1', agent: 'a1' });
  host.fileTexts.set(agentProgram(agent), 'MZ agent 2');
  return host;
}
const inPlace = (host: ModelHost) => Object.keys(v1).map(path => host.fileTexts.get(path));

test('keeps a set, of which only missing files are uploaded, and places none', async () => {
  const host = await upgradable();
  const outcome = await stageNextTexts(host, v2, agent, { [file.kubelet]: 'kubelet 2' });
  expect(outcome).toEqual({ version: 'v2', files: 2, received: 1 });
  expect(inPlace(host)).toEqual(Object.values(v1));
  const { current, next } = await readSets(host.files);
  expect([current.version, next?.version, next?.agent, next?.files.length]).toEqual(['v1', 'v2', agent, 2]);
  for (const text of ['kubelet 1', 'kubelet 2', 'same']) expect(host.fileTexts.has(copyOf(text))).toBe(true);
  expect(host.fileTexts.has(bundlePath)).toBe(false);
});

test('needs no bundle the second time', async () => {
  const host = await upgradable();
  await stageNextTexts(host, v2, agent);
  const bundle = (await readSets(host.files)).next?.bundle ?? '';
  expect(await stageNext({ bundle: bundlePath, sha256: bundle }, host.files, signal)).toMatchObject({ received: 0 });
});

test('rejects a set without a copy of one of its files', async () => {
  const host = await upgradable();
  await expect(stageNextTexts(host, v2, agent, {})).rejects.toMatchObject({ code: 'BUNDLE_DAMAGED' });
  expect([(await readSets(host.files)).next, inPlace(host)]).toEqual([undefined, Object.values(v1)]);
});

test('rejects a damaged copy and removes it, so that it is uploaded', async () => {
  const host = await upgradable();
  host.fileTexts.set(copyOf('same'), 'bad!');
  const sent = { [file.kubelet]: 'kubelet 2' };
  await expect(stageNextTexts(host, v2, agent, sent)).rejects.toMatchObject({ code: 'BUNDLE_DAMAGED' });
  expect(host.fileTexts.has(copyOf('same'))).toBe(false);
});

test('rejects a set whose agent is not on the host', async () => {
  const host = await upgradable();
  const other = stageNextTexts(host, v2, 'ab'.repeat(32));
  await expect(other).rejects.toMatchObject({ code: 'AGENT_PROGRAM_DAMAGED' });
});

test('rejects bundles that are for the other form of the command', async () => {
  const host = await upgradable();
  const plain = await bundleOf(v2);
  host.fileTexts.set(bundlePath, plain);
  const upload = { bundle: bundlePath, sha256: sha256(plain) };
  await expect(stageNext(upload, host.files, signal)).rejects.toMatchObject({ code: 'BUNDLE_MALFORMED' });
  const set = await bundleOf({}, { next: { agent, files: [] } });
  host.fileTexts.set(bundlePath, set);
  const other = { bundle: bundlePath, sha256: sha256(set), agent };
  await expect(stage(other, host.files, signal)).rejects.toMatchObject({ code: 'BUNDLE_MALFORMED' });
  expect(inPlace(host)).toEqual(Object.values(v1));
});

test('a bundle of the version in place keeps the next set, and one of another version does not', async () => {
  const host = await upgradable();
  await stageNextTexts(host, v2, agent);
  const { next } = await readSets(host.files);
  await stageTexts(host, { [file.kubeletConfig]: 'changed' }, { version: 'v1' });
  expect([(await readSets(host.files)).next, host.fileTexts.has(copyOf('kubelet 2'))]).toEqual([next, true]);
  await stageTexts(host, { [file.kubeletConfig]: 'changed' }, { version: 'v3' });
  expect([(await readSets(host.files)).next, host.fileTexts.has(copyOf('kubelet 2'))]).toEqual([undefined, false]);
});

test('interrupted at any point, the current set stays, and the next run completes the next one', async () => {
  let steps = 0;
  for (let isCut = true; isCut; steps += 1) {
    const host = await upgradable();
    let left = steps;
    host.before = () => {
      left -= 1;
      if (left < 0) throw new Error('power cut');
    };
    isCut = await stageNextTexts(host, v2, agent).then(
      () => false,
      () => true,
    );
    host.before = () => undefined;
    expect([inPlace(host), (await readSets(host.files)).current.version]).toEqual([Object.values(v1), 'v1']);
    await stageNextTexts(host, v2, agent);
    expect((await readSets(host.files)).next?.version).toBe('v2');
  }
  expect(steps).toBeGreaterThan(5);
});
