import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { sha256 } from '#base/sha256.ts';
import { activationService, agentName } from '#contract/names.ts';
import { activationFile, agentProgram, file } from '#contract/paths.ts';
import { programs, SwapLab, versions } from '../../../test/kit/swap-lab.ts';
import { readState } from '../state.ts';
import { cancelSwap, endFailedSwap } from './cancel.ts';
import { rejectWhileSwapping } from './order.ts';
import { activationStatus } from './status.ts';

const prepared = (agent?: string) => new SwapLab(agent).prepare();
const status = ({ host }: SwapLab) => activationStatus(host.files);
const stateOf = async ({ host }: SwapLab, name: string) => (await host.services.query(name))?.state;

test('swaps the sets, keeps the former one, and leaves no service behind', async () => {
  const lab = await prepared();
  expect(await status(lab)).toEqual({ state: 'idle', version: 'v1' });
  await lab.order();
  expect(await status(lab)).toMatchObject({ state: 'running', version: 'v1', doing: expect.stringContaining('v2') });
  await lab.settle();
  expect([await lab.wholeVersion(), await status(lab)]).toEqual(['v2', { state: 'done', version: 'v2' }]);
  expect(await lab.sets()).toMatchObject({ next: undefined, previous: { version: 'v1', agent: sha256(programs.v1) } });
  expect([await stateOf(lab, activationService), await stateOf(lab, agentName)]).toEqual([undefined, 'running']);
  // The agent starts its services itself, and those of others that had to stop.
  expect([await stateOf(lab, 'kubelet'), (await readState(lab.host.files)).stoppedServices]).toEqual([
    'stopped',
    ['other'],
  ]);
});

test('goes back to the previous set without an upload, and keeps the one that it leaves', async () => {
  const lab = await prepared();
  await lab.order();
  await lab.settle();
  await lab.order('previous', 'v1', programs.v1);
  await lab.settle();
  expect([await lab.wholeVersion(), await status(lab)]).toEqual(['v1', { state: 'done', version: 'v1' }]);
  expect(await lab.sets()).toMatchObject({ next: { version: 'v2' }, previous: undefined });
  await lab.order();
  await lab.settle();
  expect(await lab.wholeVersion()).toBe('v2');
});

test('puts the former set back when the new agent does not report', async () => {
  const lab = await prepared(programs.broken);
  await lab.order();
  await lab.settle();
  expect(await lab.wholeVersion()).toBe('v1');
  expect(await status(lab)).toMatchObject({ state: 'reverted', problem: expect.stringContaining('did not report') });
  expect(await lab.sets()).toMatchObject({ next: { version: 'v2' }, previous: undefined });
});

test('puts the former set back when a copy is damaged', async () => {
  const lab = await prepared();
  lab.host.fileTexts.set(`C:\\k\\staged\\${sha256('new')}`, 'bad');
  await lab.order();
  await lab.settle();
  expect([await lab.wholeVersion(), (await status(lab)).state]).toEqual(['v1', 'reverted']);
});

test('an order without effect: for the version in place, and for one that is carried out', async () => {
  const lab = await prepared();
  await lab.order('next', 'v1');
  expect([await lab.isSwapping(), await stateOf(lab, activationService)]).toEqual([false, undefined]);
  await lab.order();
  const before = lab.host.fileTexts.get(activationFile);
  await lab.order();
  expect(lab.host.fileTexts.get(activationFile)).toBe(before);
});

test('goes back when the former version is ordered while the swap is under way', async () => {
  const lab = await prepared();
  await lab.order();
  await lab.order('previous', 'v1', programs.v1);
  await lab.settle();
  expect([await lab.wholeVersion(), (await status(lab)).state]).toEqual(['v1', 'reverted']);
});

const refusals: [name: string, code: string, act: (lab: SwapLab) => Promise<unknown>][] = [
  ['a version that is not kept', 'UPGRADE_IMPOSSIBLE', lab => lab.order('next', 'v3')],
  ['a set that is not kept', 'UPGRADE_IMPOSSIBLE', lab => lab.order('previous', 'v2')],
  ['an order to the agent of another set', 'USAGE', lab => lab.order('next', 'v2', programs.v1)],
  [
    'a set without a copy',
    'ACTIVATION_FAILED',
    lab => {
      lab.host.fileTexts.delete(`C:\\k\\staged\\${sha256('new')}`);
      return lab.order();
    },
  ],
  [
    'a set with a damaged agent',
    'ACTIVATION_FAILED',
    lab => {
      lab.host.fileTexts.set(agentProgram(sha256(programs.v2)), 'bad');
      return lab.order();
    },
  ],
  ['another version while files are swapped', 'HOST_BUSY', lab => lab.order().then(() => lab.order('next', 'v3'))],
  [
    'other commands while files are swapped',
    'HOST_BUSY',
    lab => lab.order().then(() => rejectWhileSwapping(lab.host.files)),
  ],
];
for (const [name, code, act] of refusals) {
  test(`rejects ${name}, and changes nothing`, async () => {
    const lab = await prepared();
    await expect(act(lab)).rejects.toMatchObject({ code, remedy: expect.stringMatching(/./) });
    expect([await lab.wholeVersion(), await stateOf(lab, 'kubelet')]).toEqual(['v1', 'running']);
  });
}

test('keeps a copy of an agent whose program is gone, so that the host can go back', async () => {
  const lab = await prepared(programs.broken);
  lab.host.fileTexts.delete(agentProgram(sha256(programs.v1)));
  await lab.order();
  await lab.settle();
  expect(await lab.wholeVersion()).toBe('v1');
});

const journals: [name: string, text: (good: string) => string][] = [
  ['nothing', () => ''],
  ['half a journal', good => good.slice(0, good.length / 2)],
  ['a later format', good => good.replace('"format": 1', '"format": 2')],
  ['an unknown phase', good => good.replace('"phase": "swap"', '"phase": "later"')],
  ['a path elsewhere', good => good.replace('C:\\\\k\\\\new.conf', 'C:\\\\Windows\\\\x')],
  ['a bad hash', good => good.replace(sha256('new'), 'x')],
];
test.each(journals)('a journal with %s is a failure with a remedy, never a guess', async (_, change) => {
  const lab = await prepared();
  await lab.order();
  const good = lab.host.fileTexts.get(activationFile) ?? '';
  lab.host.fileTexts.set(activationFile, change(good));
  expect(await status(lab)).toMatchObject({ state: 'failed', version: 'v1', problem: expect.stringContaining('del ') });
  await expect(lab.order()).rejects.toMatchObject({ code: 'ACTIVATION_FAILED' });
  expect(await lab.wholeVersion()).toBe('v1');
  // A host that is configured anew gets rid of it.
  await endFailedSwap(lab.host, lab.host.waiting());
  expect(await status(lab)).toEqual({ state: 'idle', version: 'v1' });
});

test('goes back and tries again when neither set can be put in place, and says so', async () => {
  const lab = await prepared(programs.broken);
  await lab.order();
  let failures = 2;
  const { before } = lab.host;
  lab.host.before = call => {
    if (call === `write ${file.stagedRecord}` && failures > 0) {
      failures -= 1;
      throw new Error('disk full');
    }
    before(call);
  };
  const seen: unknown[] = [];
  const { sleep } = lab.host.clock;
  lab.host.clock.sleep = async (ms, signal) => {
    seen.push((await status(lab)).state);
    return sleep(ms, signal);
  };
  await lab.settle();
  expect(seen).toContain('failed');
  expect(await lab.wholeVersion()).toBe('v1');
  expect((await status(lab)).state).toBe('reverted');
});

test('a cancelled swap leaves neither service nor journal', async () => {
  const lab = await prepared();
  await lab.order();
  await cancelSwap(lab.host, lab.host.waiting());
  expect([await status(lab), await stateOf(lab, activationService)]).toEqual([
    { state: 'idle', version: 'v1' },
    undefined,
  ]);
});

/** Orders and cuts the power at each of the points; gives how many of them were reached. */
async function cutOften(lab: SwapLab, cuts: readonly number[], loses: 'nothing' | 'registry'): Promise<number> {
  let reached = 0;
  for (const [index, left] of cuts.entries()) {
    lab.left = left;
    const isCut = await (index === 0 ? lab.order().then(() => lab.settle()) : lab.settle()).then(
      () => false,
      () => true,
    );
    if (isCut) reached += 1;
    // Windows starts no program of a set that is not whole.
    if (loses === 'nothing' && (await lab.startsPrograms())) expect(await lab.wholeVersion()).toBeDefined();
    await lab.boot(loses);
  }
  await lab.settle();
  return reached;
}

async function expectWhole(lab: SwapLab, allowed: readonly string[]): Promise<void> {
  const version = await lab.wholeVersion();
  expect(allowed).toContain(version);
  expect([await lab.isSwapping(), await stateOf(lab, activationService)]).toEqual([false, undefined]);
  const { current, next, previous } = await lab.sets();
  const kept = version === 'v1' ? next : (previous ?? next);
  expect(new Set([current.version, kept?.version])).toEqual(new Set(['v1', 'v2']));
  for (const name of ['containerd', 'kubelet']) {
    if ((await stateOf(lab, name)) === 'stopped') await lab.host.services.start(name);
  }
  expect(Object.keys(versions)).toContain(version);
}

test.each([programs.v2, programs.broken])('a power cut at any point leaves one whole set (%s)', async agent => {
  let point = 0;
  for (let isCut = true; isCut; point += 1) {
    const lab = await prepared(agent);
    isCut = (await cutOften(lab, [point], 'nothing')) > 0;
    await expectWhole(lab, agent === programs.broken ? ['v1'] : ['v1', 'v2']);
  }
  expect(point).toBeGreaterThan(30);
});

test('200 times up to five power cuts, also while the swap is repeated or reverted: always one whole set', async () => {
  const cuts = fc.array(fc.nat(70), { minLength: 1, maxLength: 5 });
  const loses = fc.constantFrom('nothing' as const, 'registry' as const);
  await fc.assert(
    fc.asyncProperty(cuts, loses, fc.boolean(), async (points, lost, isBroken) => {
      const lab = await prepared(isBroken ? programs.broken : programs.v2);
      await cutOften(lab, points, lost);
      await expectWhole(lab, isBroken ? ['v1'] : ['v1', 'v2']);
    }),
    { numRuns: 200 },
  );
});
