import { expect, test } from 'vitest';
import { sha256 } from '#base/sha256.ts';
import { activationService } from '#contract/names.ts';
import { agentProgram, file } from '#contract/paths.ts';
import { stageTexts } from '../../../test/kit/bundles.ts';
import { ModelHost } from '../../../test/kit/model-host.ts';
import { programs, SwapLab } from '../../../test/kit/swap-lab.ts';
import { copyPath, placeFile, readRecord } from '../stage/record.ts';
import { waitForSwap } from './gate.ts';
import { checkWayBack } from './preflight.ts';

const never = new AbortController().signal;
/** One that is packed, one that is not, an empty one, and one with the content of another. */
const texts = {
  [file.kubelet]: 'MZ kubelet '.repeat(1000),
  [file.kubeletConfig]: '{"a":1}',
  'C:\\k\\empty': '',
  'C:\\k\\same': '{"a":1}',
};

async function staged() {
  const host = new ModelHost();
  await stageTexts(host, texts);
  return { host, set: await readRecord(host.files) };
}

const damages: [name: string, act: (host: ModelHost, copy: string) => void][] = [
  ['missing', (host, copy) => host.fileTexts.delete(copy)],
  ['damaged', (host, copy) => host.fileTexts.set(copy, 'bad')],
];
test.each(damages)('writes a copy that is %s again from the file in place', async (_, damage) => {
  const { host, set } = await staged();
  for (const entry of set.files) damage(host, copyPath(entry));
  // Another file of the set has the same content.
  host.fileTexts.delete(file.kubeletConfig);
  await checkWayBack(set, host.files, never);
  for (const entry of set.files) {
    host.fileTexts.delete(entry.path);
    await placeFile(entry, host.files);
  }
  expect(Object.keys(texts).map(path => host.fileTexts.get(path))).toEqual(Object.values(texts));
});

test('changes nothing on a host whose copies are good', async () => {
  const { host, set } = await staged();
  host.fileTexts.set(file.kubelet, 'changed');
  host.log.length = 0;
  await checkWayBack(set, host.files, never);
  expect(host.log).toEqual([]);
});

async function expectInService(lab: SwapLab): Promise<void> {
  expect([await lab.isSwapping(), (await lab.host.services.query('kubelet'))?.state]).toEqual([false, 'running']);
  expect(await lab.host.services.query(activationService)).toBeUndefined();
}

test.each(damages)('rejects an order without a way back: file changed, copy %s', async (_, damage) => {
  const lab = await new SwapLab().prepare();
  damage(lab.host, `C:\\k\\staged\\${sha256('kubelet 1')}`);
  lab.host.fileTexts.set(file.kubelet, 'changed');
  await expect(lab.order()).rejects.toMatchObject({
    code: 'ACTIVATION_FAILED',
    message: expect.stringContaining('could not go back to version v1'),
    remedy: expect.stringContaining(file.kubelet),
  });
  await expectInService(lab);
});

test('a host leaves a version that has failed, also when its files are damaged', async () => {
  const lab = await new SwapLab().prepare();
  await lab.order();
  await lab.settle();
  lab.host.fileTexts.delete(`C:\\k\\staged\\${sha256('kubelet 2')}`);
  lab.host.fileTexts.set(file.kubelet, 'changed');
  await lab.order('previous', 'v1', programs.v1);
  await lab.settle();
  expect(await lab.wholeVersion()).toBe('v1');
});

test('rejects an order while the disk has too little space', async () => {
  const lab = await new SwapLab().prepare();
  lab.host.files.diskBytes = 200e6;
  await expect(lab.order()).rejects.toMatchObject({
    code: 'HOST_DISK_FULL',
    message: expect.stringContaining('0.2 GB free'),
    remedy: expect.stringContaining('Free 0.1 GB more'),
  });
  await expectInService(lab);
  lab.host.files.diskBytes = 300e6;
  await lab.order();
  expect(await lab.isSwapping()).toBe(true);
});

const command = async ({ host }: SwapLab) => (await host.services.query(activationService))?.config.command;

test('a power cut does not lose the service of a swap, whoever created it', async () => {
  const lab = await new SwapLab().prepare();
  await lab.order();
  await lab.order('previous', 'v1', programs.v1);
  await lab.boot('registry');
  expect(await command(lab)).toContain(agentProgram(sha256(programs.v1)));
  await lab.host.services.stop(activationService);
  await lab.host.services.remove(activationService);
  await lab.host.system.flushServices();
  await waitForSwap(lab.host, lab.host.clock, lab.log);
  await lab.boot('registry');
  expect(await command(lab)).toContain('activate --windows-service');
});
