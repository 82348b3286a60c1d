import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { commandHelp } from '#base/command-line.ts';
import { AppError } from '#base/errors.ts';
import { errorOf } from '../../../test/kit/outcome.ts';
import { readSandboxOptions, sandboxLine, type SandboxOptions, storyNames } from './options.ts';

const read = (words: string[]) => readSandboxOptions(words);
const defaults: SandboxOptions = {
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
  story: undefined,
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
  [['--faults=slow-disk@win-2, wrong-key@winworker-1 ,'], { faults: ['slow-disk@win-2', 'wrong-key@winworker-1'] }],
  [['--faults', '--hosts', '3'], { faults: 'list', hosts: 3 }],
];
for (const [words, want] of cases) {
  test(`reads ${JSON.stringify(words)}`, () => expect(read(words)).toEqual({ ...defaults, ...want }));
}

test.each([
  ['remove', 2],
  ['upgrade', 4],
  ['rollback', 3],
  ['takeover', 4],
])('the story %s has %i hosts and no Machines', (story, hosts) => {
  expect(read(['--story', story])).toMatchObject({ story, hosts, machines: 0 });
});

const refused: [string[], RegExp][] = [
  [['--hosts', 'many'], /--hosts is "many", not a whole number up to 500/],
  [['--hosts', '-1'], /--hosts is "-1"/],
  [['--hosts', '1.5'], /--hosts is "1\.5"/],
  [['--hosts', '501'], /--hosts is "501"/],
  [['--hosts', '1e2'], /--hosts is "1e2"/],
  [['--hosts', ''], /--hosts is ""/],
  [['--machines', '99999999999'], /--machines is/],
  [['--hosts', '0', '--machines', '0'], /are both 0/],
  [['--speed', '0'], /--speed is "0", not a number above 0/],
  [['--speed', '-2'], /--speed is "-2"/],
  [['--speed', 'fast'], /--speed is "fast"/],
  [['--speed', '1001'], /--speed is "1001"/],
  [['--speed', 'Infinity'], /--speed is "Infinity"/],
  [['--port', '65536'], /--port is "65536", not a port from 1 to 65535, or 0 for any free port$/],
  [['--port', '99999'], /--port is "99999", not a port from 1 to 65535/],
  [['--port', 'abc'], /--port is "abc", not a port from 1 to 65535/],
  [['--port=-1'], /--port is "-1", not a port from 1 to 65535/],
  [['--timeout', '10'], /--timeout is "10"/],
  [['--timeout', '0'], /--timeout is "0"/],
  [['--timeout', '-5m'], /--timeout is "-5m"/],
  [['--timeout', '10ms'], /--timeout is "10ms"/],
  [['--serve', '--exit-when-ready'], /cannot be combined/],
  [['--story', 'remove', '--hosts', '3'], /--story and --hosts cannot be combined/],
  [['--story', 'remove', '--serve'], /--story and --serve cannot be combined/],
  [['--story', 'bogus'], /--story is "bogus"/],
];
for (const [words, want] of refused) {
  test(`rejects ${JSON.stringify(words)} with a remedy`, () => {
    const error = errorOf(() => read(words));
    expect(error).toMatchObject({ code: 'USAGE', message: expect.stringMatching(want) as string });
    expect(error?.remedy).toMatch(/`wmco sandbox --help`/);
  });
}

for (const words of [['win-1'], ['--color'], ['--hosts'], ['--port']]) {
  test(`rejects ${JSON.stringify(words)}`, () => expect(errorOf(() => read(words))?.code).toBe('USAGE'));
}

test('--help shows examples, exit codes and when it exits', () => {
  expect(read(['--help'])).toBeUndefined();
  const help = commandHelp(sandboxLine);
  expect(help).toContain('wmco sandbox --faults wrong-key@win-2,slow-disk@win-5');
  expect(help).toContain('Without a terminal it exits, unless --serve is given');
  expect(help).toContain('Exit code: 0 all hosts are Ready, 1 some are not, 2 usage error.');
  expect(help).toContain('wmco sandbox --story remove');
});

test('any arguments are read or rejected with a remedy', () => {
  const names = ['--hosts', '--machines', '--speed', '--port', '--timeout', '--faults', '--serve'];
  const words = fc.array(fc.oneof(fc.constantFrom(...names), fc.string()), { maxLength: 6 });
  fc.assert(
    fc.property(words, given => {
      try {
        read(given);
      } catch (error) {
        expect(error).toBeInstanceOf(AppError);
      }
    }),
    { numRuns: 1000 },
  );
});

test('the help explains every story', () => {
  const help = commandHelp(sandboxLine);
  for (const name of storyNames) expect(help).toMatch(new RegExp(`\\b${name} \\(`));
});
