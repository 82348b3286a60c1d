import { CommanderError } from 'commander';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { AppError } from '#base/errors.ts';
import { errorOf } from '../../../test/kit/outcome.ts';
import { recordedTerminal } from '../../../test/kit/status-views.ts';
import { readSandboxOptions, type SandboxOptions } from './options.ts';

const read = (words: string[]) => readSandboxOptions(words, recordedTerminal());
const usual: SandboxOptions = {
  hosts: 6,
  machines: 2,
  faults: [],
  speed: 2,
  exitWhenReady: false,
  serve: false,
  port: undefined,
  kubeconfig: undefined,
  log: undefined,
  timeoutMs: 600_000,
};

const cases: [string[], Partial<SandboxOptions>][] = [
  [[], {}],
  [['--hosts', '20'], { hosts: 20 }],
  [['--hosts=0'], { hosts: 0 }],
  [['--hosts', '500', '--machines', '0'], { hosts: 500, machines: 0 }],
  [['--machines', '3'], { machines: 3 }],
  [['--speed', '10'], { speed: 10 }],
  [['--speed', '0.5'], { speed: 0.5 }],
  [['--exit-when-ready'], { exitWhenReady: true }],
  [['--serve'], { serve: true }],
  [['--port', '6443'], { port: 6443 }],
  [['--port', '0'], { port: 0 }],
  [['--kubeconfig', 'x'], { kubeconfig: 'x' }],
  [['--kubeconfig='], { kubeconfig: undefined }],
  [['--log', 'y'], { log: 'y' }],
  [['--timeout', '90s'], { timeoutMs: 90_000 }],
  [['--timeout', '1h30m'], { timeoutMs: 5_400_000 }],
  [['--faults'], { faults: 'list' }],
  [['--faults', 'help'], { faults: 'list' }],
  [['--faults', 'list'], { faults: 'list' }],
  [['--faults', ''], { faults: 'list' }],
  [['--faults', ' , '], { faults: 'list' }],
  [['--faults', 'no-ssh'], { faults: ['no-ssh'] }],
  [['--faults=slow-disk@win-2, wrong-key@machine-1 ,'], { faults: ['slow-disk@win-2', 'wrong-key@machine-1'] }],
  [['--faults', '--hosts', '3'], { faults: 'list', hosts: 3 }],
];
for (const [words, want] of cases) {
  test(`understands ${JSON.stringify(words)}`, () => expect(read(words)).toEqual({ ...usual, ...want }));
}

const refused: [string[], RegExp][] = [
  [['--hosts', 'many'], /--hosts is "many", not a whole number up to 500/],
  [['--hosts', '-1'], /--hosts is "-1"/],
  [['--hosts', '1.5'], /--hosts is "1\.5"/],
  [['--hosts', '501'], /--hosts is "501"/],
  [['--hosts', '1e2'], /--hosts is "1e2"/],
  [['--hosts', ''], /--hosts is ""/],
  [['--machines', '99999999999'], /--machines is/],
  [['--hosts', '0', '--machines', '0'], /neither a host nor a Machine/],
  [['--speed', '0'], /--speed is "0", not a number above 0/],
  [['--speed', '-2'], /--speed is "-2"/],
  [['--speed', 'fast'], /--speed is "fast"/],
  [['--speed', '1001'], /--speed is "1001"/],
  [['--speed', 'Infinity'], /--speed is "Infinity"/],
  [['--port', '65536'], /--port is "65536"/],
  [['--timeout', '10'], /--timeout is "10"/],
  [['--timeout', '0'], /--timeout is "0"/],
  [['--timeout', '-5m'], /--timeout is "-5m"/],
  [['--timeout', '10ms'], /--timeout is "10ms"/],
  [['--serve', '--exit-when-ready'], /the opposite of each other/],
];
for (const [words, want] of refused) {
  test(`refuses ${JSON.stringify(words)} with what to do`, () => {
    const error = errorOf(() => read(words));
    expect(error).toMatchObject({ code: 'USAGE', message: expect.stringMatching(want) as string });
    expect(error?.remedy).toMatch(/ See `wmco sandbox --help`\.$/);
  });
}

for (const words of [['win-1'], ['--colour'], ['--hosts'], ['--port']]) {
  test(`does not understand ${JSON.stringify(words)}`, () => {
    const terminal = recordedTerminal();
    expect(() => readSandboxOptions(words, terminal)).toThrow(CommanderError);
    expect(terminal.errors()).toMatch(/^error: /);
  });
}

test('--help shows examples, exit codes and when it ends', () => {
  const terminal = recordedTerminal();
  expect(() => readSandboxOptions(['--help'], terminal)).toThrow(CommanderError);
  expect(terminal.text()).toContain('wmco sandbox --faults wrong-key@win-2,slow-disk@win-5');
  expect(terminal.text()).toContain('elsewhere it ends, unless --serve is given');
  expect(terminal.text()).toContain('Exit code: 0 all are Ready, 1 some are not, 2 wrong use.');
});

test('whatever is given, it is understood or refused in words', () => {
  const names = ['--hosts', '--machines', '--speed', '--port', '--timeout', '--faults', '--serve'];
  const words = fc.array(fc.oneof(fc.constantFrom(...names), fc.string()), { maxLength: 6 });
  fc.assert(
    fc.property(words, given => {
      try {
        read(given);
      } catch (error) {
        expect(error instanceof AppError || error instanceof CommanderError).toBe(true);
      }
    }),
    { numRuns: 1000 },
  );
});
