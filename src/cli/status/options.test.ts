import { CommanderError } from 'commander';
import { expect, test } from 'vitest';
import { errorOf } from '../../../test/kit/outcome.ts';
import { recordedTerminal } from '../../../test/kit/status-views.ts';
import { readStatusOptions, type StatusOptions } from './options.ts';

const read = (words: string[], environment: Record<string, string> = {}) =>
  readStatusOptions(words, recordedTerminal(undefined, environment));
const usual: StatusOptions = {
  host: undefined,
  watch: false,
  form: 'text',
  kubeconfig: undefined,
  context: undefined,
  namespace: 'openshift-windows-machine-config-operator',
};

const cases: [string[], Partial<StatusOptions>][] = [
  [[], {}],
  [['win-1'], { host: 'win-1' }],
  [[''], { host: undefined }],
  [['-w'], { watch: true }],
  [['--watch', 'win-1'], { watch: true, host: 'win-1' }],
  [['win-1', '-w'], { watch: true, host: 'win-1' }],
  [['-o', 'json'], { form: 'json' }],
  [['--output=text'], { form: 'text' }],
  [['--kubeconfig', '/a/b'], { kubeconfig: '/a/b' }],
  [['--kubeconfig='], { kubeconfig: undefined }],
  [['--context', 'c'], { context: 'c' }],
  [['-n', 'mine'], { namespace: 'mine' }],
  [['--namespace', 'mine'], { namespace: 'mine' }],
];
for (const [words, want] of cases) {
  test(`understands ${JSON.stringify(words)}`, () => expect(read(words)).toEqual({ ...usual, ...want }));
}

test('the namespace is that of the operator whose environment it is, unless another is named', () => {
  expect(read([], { WATCH_NAMESPACE: 'here' }).namespace).toBe('here');
  expect(read([], { WATCH_NAMESPACE: '' }).namespace).toBe(usual.namespace);
  expect(read(['-n', 'there'], { WATCH_NAMESPACE: 'here' }).namespace).toBe('there');
});

const refused: [string[], RegExp][] = [
  [['-o', 'yaml'], /-o yaml is not an output form/],
  [['-o', ''], /-o {2}is not an output form/],
  [['-w', '-o', 'json'], /-w and -o json/],
];
for (const [words, want] of refused) {
  test(`refuses ${JSON.stringify(words)} with what to do`, () => {
    const error = errorOf(() => read(words));
    expect(error).toMatchObject({ code: 'USAGE', message: expect.stringMatching(want) as string });
    expect(error?.remedy).toMatch(/\.$/);
  });
}

for (const words of [['a', 'b'], ['--colour'], ['-o'], ['--kubeconfig']]) {
  test(`does not understand ${JSON.stringify(words)}`, () => {
    const terminal = recordedTerminal();
    expect(() => readStatusOptions(words, terminal)).toThrow(CommanderError);
    expect(terminal.errors()).toMatch(/^error: /);
  });
}

test('--help shows examples and exit codes', () => {
  const terminal = recordedTerminal();
  expect(() => readStatusOptions(['--help'], terminal)).toThrow(CommanderError);
  expect(terminal.text()).toContain('wmco status win-2');
  expect(terminal.text()).toContain('Exit code: 0 every host is Ready or paused, 1 some are not');
});
