import { expect, test } from 'vitest';
import type { ActivationStatus } from '#contract/activation.ts';
import type { StepTurn } from '../step.ts';
import { activate } from './activate.ts';
import type { SwapJourney } from './swap-journey.ts';

const failing: ActivationStatus = {
  state: 'failed',
  version: 'v1',
  doing: 'puts the files of version v1 back',
  problem: 'kubelet did not stop',
};

/** A journey to v2 on a host that gives these answers in turn, the last one again and again. */
function journeyWith(answers: readonly ActivationStatus[], looks = 10) {
  const [notes, stop]: [unknown[], AbortController] = [[], new AbortController()];
  let asked = 0;
  const journey = {
    address: '10.0.0.5',
    target: 'v2',
    set: 'next',
    isOrdered: true,
    commands: { activate: () => 'activate', activation: 'activation' },
    host: {
      exec: async () => ({ exitCode: 0, stdout: JSON.stringify(answers[asked++] ?? answers.at(-1)), stderr: '' }),
    },
    deps: {
      clock: {
        sleep: async () => {
          if (asked >= looks) throw new Error('the limit of the step');
        },
      },
    },
  } as unknown as SwapJourney;
  const turn = { signal: stop.signal, note: (text: unknown) => void notes.push(text) } as unknown as StepTurn;
  return { journey, notes, run: () => activate.run(journey, turn), limit: () => activate.timeout?.message(journey) };
}

test('a failure that the host repeats is only noted', async () => {
  const { run, notes, limit } = journeyWith([failing, failing, { state: 'done', version: 'v2' }]);
  await run();
  expect(notes[0]).toBe('puts the files of version v1 back, again after: kubelet did not stop');
  expect(limit()).toBe('10.0.0.5: the swap to the files of version v2 did not end (kubelet did not stop)');
});

test('the last problem is in the error at the limit, unless it has passed', async () => {
  const stuck = journeyWith([failing]);
  await expect(stuck.run()).rejects.toThrow('the limit of the step');
  expect(stuck.limit()).toContain('(kubelet did not stop)');
  const better = journeyWith([failing, { state: 'running', version: 'v1', doing: 'works' }]);
  await expect(better.run()).rejects.toThrow('the limit of the step');
  expect(better.limit()).toBe('10.0.0.5: the swap to the files of version v2 did not end');
});

const final: [name: string, code: string, status: ActivationStatus][] = [
  ['a host that went back', 'ACTIVATION_REVERTED', { state: 'reverted', version: 'v1', problem: 'no report' }],
  ['a journal that cannot be read', 'ACTIVATION_FAILED', { state: 'failed', version: 'v1', problem: 'damaged' }],
];
test.each(final)('%s ends the step', async (_, code, status) => {
  await expect(journeyWith([failing, status]).run()).rejects.toMatchObject({ code });
});
