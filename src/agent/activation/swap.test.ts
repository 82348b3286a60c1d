import { expect, test } from 'vitest';
import { activationService, agentName } from '#contract/names.ts';
import { file } from '#contract/paths.ts';
import { SwapLab } from '../../../test/kit/swap-lab.ts';
import { activationStatus } from './status.ts';

const oldFile = 'C:\\k\\old.conf';
const status = ({ host }: SwapLab) => activationStatus(host.files);
const stateOf = async ({ host }: SwapLab, name: string) => (await host.services.query(name))?.state;

/** A lab whose swap is ordered; `act` is called before each change of a file. */
async function ordered(act: (call: string, lab: SwapLab) => void = () => undefined): Promise<SwapLab> {
  const lab = await new SwapLab().prepare();
  await lab.order();
  const { before } = lab.host;
  lab.host.before = call => {
    before(call);
    act(call, lab);
  };
  return lab;
}

test.each([`write ${file.kubelet}`, `write ${file.agent}`])(
  'no process that Windows starts again during a swap survives it (%s)',
  async point => {
    const names = [agentName, 'containerd', 'kubelet'];
    const started: number[] = [];
    let isRestarted = false;
    const restart = async (name: string, { services }: SwapLab['host']) => {
      await services.start(name);
      started.push((await services.query(name))?.pid ?? 0);
    };
    const lab = await ordered((call, { host }) => {
      if (call !== point || isRestarted) return;
      isRestarted = true;
      for (const name of names) void restart(name, host);
    });
    await lab.settle();
    expect([await lab.wholeVersion(), started]).toEqual(['v2', names.map(() => expect.any(Number))]);
    for (const name of names) expect(started).not.toContain((await lab.host.services.query(name))?.pid);
    expect([await stateOf(lab, 'kubelet'), await stateOf(lab, agentName)]).toEqual(['stopped', 'running']);
  },
);

test.each([1, 3])(
  'a service that Windows starts again before its dependency is stopped is stopped again (%i times)',
  async times => {
    const lab = await ordered();
    const { services } = lab.host;
    const { before } = services;
    let left = times;
    services.before = call => {
      before(call);
      if (call !== 'stop containerd' || left === 0) return;
      left -= 1;
      void services.start('kubelet');
    };
    await lab.settle();
    expect([left, await lab.wholeVersion(), (await status(lab)).state]).toEqual([0, 'v2', 'done']);
    expect(await stateOf(lab, 'kubelet')).toBe('stopped');
  },
);

test('a service that Windows starts again and again ends in the former version', async () => {
  const lab = await ordered();
  const { services } = lab.host;
  const { before } = services;
  services.before = call => {
    before(call);
    if (call === 'stop containerd') void services.start('kubelet');
  };
  await lab.settle();
  expect(await status(lab)).toMatchObject({ state: 'reverted', problem: expect.stringContaining('1051') });
  expect(await lab.wholeVersion()).toBe('v1');
});

test('a service that cannot be stopped does not keep a host down whose files were not touched', async () => {
  const lab = await ordered();
  const { before } = lab.host.services;
  lab.host.services.before = call => {
    before(call);
    if (call === 'stop kubelet') throw new Error('access denied');
  };
  await lab.settle();
  expect(await status(lab)).toMatchObject({ state: 'reverted', problem: expect.stringContaining('access denied') });
  expect([await lab.wholeVersion(), await stateOf(lab, agentName)]).toEqual(['v1', 'running']);
  expect(await stateOf(lab, activationService)).toBeUndefined();
});

test('moves a file in use aside that the new set does not have', async () => {
  const lab = await ordered(call => {
    if (call === `remove ${oldFile}`) throw new Error('it is in use');
  });
  lab.host.fileTexts.set(`${oldFile}.wicd-old-1`, 'older');
  await lab.settle();
  expect([await lab.wholeVersion(), (await status(lab)).state]).toEqual(['v2', 'done']);
  expect(lab.host.fileTexts.get(`${oldFile}.wicd-old-2`)).toBe('old');
});

test('goes back when a file can neither be removed nor moved', async () => {
  const lab = await ordered(call => {
    if (call === `remove ${oldFile}`) throw new Error('it is in use');
  });
  lab.host.files.busy.add(oldFile);
  await lab.settle();
  expect(await status(lab)).toMatchObject({ state: 'reverted', problem: 'it is in use' });
  expect(await lab.wholeVersion()).toBe('v1');
});
