import { expect, test } from 'vitest';
import { commandHelp } from '#base/command-line.ts';
import { errorOf } from '../../../test/kit/outcome.ts';
import { readRemoveOptions, removeLine } from './options.ts';

const read = (words: string[]) => readRemoveOptions(words, {});
const defaults = {
  host: 'win-2',
  force: false,
  yes: false,
  forget: false,
  username: undefined,
  wait: true,
  timeoutMs: 1_800_000,
  kubeconfig: undefined,
  context: undefined,
  namespace: 'openshift-windows-machine-config-operator',
};

const accepted: [words: string[], want: object][] = [
  [['win-2'], {}],
  [['win-2', '--force', '-y'], { force: true, yes: true }],
  [['--no-wait', 'win-2'], { wait: false }],
  [['win-2', '--username', 'Administrator', '--timeout', '90s'], { username: 'Administrator', timeoutMs: 90_000 }],
  [['--forget', 'win-2'], { forget: true }],
  [['win-2', '-n', 'ns', '--context', 'c', '--kubeconfig', 'f'], { namespace: 'ns', context: 'c', kubeconfig: 'f' }],
];
for (const [words, want] of accepted) {
  test(`reads ${words.join(' ')}`, () => expect(read(words)).toEqual({ ...defaults, ...want }));
}

const rejected: [words: string[], want: RegExp][] = [
  [[], /^missing the host$/],
  [['a', 'b'], /unexpected argument "b"/],
  [['a', '--timeout', '0'], /--timeout is "0"/],
  [['a', '--forget', '--force'], /--forget and --force cannot be combined/],
  [['a', '--forget', '--username', 'x'], /--forget and --username cannot be combined/],
];
for (const [words, want] of rejected) {
  test(`rejects ${JSON.stringify(words)}`, () =>
    expect(errorOf(() => read(words))).toMatchObject({
      code: 'USAGE',
      message: expect.stringMatching(want) as string,
    }));
}

test('--help shows examples and exit codes', () => {
  expect(read(['--help'])).toBeUndefined();
  expect(commandHelp(removeLine)).toMatch(/wmco remove --forget win-2[^]*Exit code: 0 the host is removed/);
});
