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
function journeyWith(answers: readonly ActivationStatus[]) {
  const notes: { text: string | undefined; obstacle: string | undefined }[] = [];
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
          if (asked >= 10) throw new Error('the limit of the step');
        },
      },
    },
  } as unknown as SwapJourney;
  const note: StepTurn['note'] = (text, obstacle) => void notes.push({ text, obstacle: obstacle?.message });
  const turn = { signal: new AbortController().signal, note } as unknown as StepTurn;
  return { notes, run: () => activate.run(journey, turn) };
}

test('a failure that the host repeats is only noted, until it has passed', async () => {
  const working: ActivationStatus = { state: 'running', version: 'v1', doing: 'starts the agent' };
  const { run, notes } = journeyWith([failing, working, { state: 'done', version: 'v2' }]);
  await run();
  expect(notes).toEqual([
    { text: 'puts the files of version v1 back', obstacle: expect.stringContaining('kubelet did not stop') as string },
    { text: 'starts the agent', obstacle: undefined },
  ]);
});

const final: [name: string, code: string, status: ActivationStatus][] = [
  ['a host that went back', 'ACTIVATION_REVERTED', { state: 'reverted', version: 'v1', problem: 'no report' }],
  ['a journal that cannot be read', 'ACTIVATION_FAILED', { state: 'failed', version: 'v1', problem: 'damaged' }],
];
test.each(final)('%s ends the step', async (_, code, status) => {
  await expect(journeyWith([failing, status]).run()).rejects.toMatchObject({ code });
});
