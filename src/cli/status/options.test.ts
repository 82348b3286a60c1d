import { expect, test } from 'vitest';
import { commandHelp } from '#base/command-line.ts';
import { errorOf } from '../../../test/kit/outcome.ts';
import { readStatusOptions, statusLine, type StatusOptions } from './options.ts';

const read = (words: string[], environment: Record<string, string> = {}) => readStatusOptions(words, environment);
const defaults: StatusOptions = {
  hosts: [],
  watch: false,
  form: 'text',
  hasHeaders: true,
  kubeconfig: undefined,
  context: undefined,
  namespace: 'openshift-windows-machine-config-operator',
};

const cases: [string[], Partial<StatusOptions>][] = [
  [[], {}],
  [['win-1'], { hosts: ['win-1'] }],
  [['win-1', '10.0.0.2'], { hosts: ['win-1', '10.0.0.2'] }],
  [['--no-headers'], { hasHeaders: false }],
  [['-w'], { watch: true }],
  [['--watch', 'win-1'], { watch: true, hosts: ['win-1'] }],
  [['win-1', '-w'], { watch: true, hosts: ['win-1'] }],
  [['-o', 'json'], { form: 'json' }],
  [['-o', 'wide'], { form: 'wide' }],
  [['-oyaml'], { form: 'yaml' }],
  [['-o', 'name'], { form: 'name' }],
  [['-w', '-o', 'json'], { watch: true, form: 'json' }],
  [['--output=text'], { form: 'text' }],
  [['--kubeconfig', '/a/b'], { kubeconfig: '/a/b' }],
  [['--kubeconfig='], { kubeconfig: undefined }],
  [['--context', 'c'], { context: 'c' }],
  [['-n', 'mine'], { namespace: 'mine' }],
  [['--namespace', 'mine'], { namespace: 'mine' }],
];
for (const [words, want] of cases) {
  test(`reads ${JSON.stringify(words)}`, () => expect(read(words)).toEqual({ ...defaults, ...want }));
}

test('the namespace defaults to WATCH_NAMESPACE', () => {
  expect(read([], { WATCH_NAMESPACE: 'here' })?.namespace).toBe('here');
  expect(read([], { WATCH_NAMESPACE: '' })?.namespace).toBe(defaults.namespace);
  expect(read(['-n', 'there'], { WATCH_NAMESPACE: 'here' })?.namespace).toBe('there');
});

const refused: [string[], RegExp][] = [
  [['-o', 'table'], /--output is "table", not text, wide, json, yaml or name/],
  [['-o', ''], /--output is "", not text/],
  [['-w', '-o', 'yaml'], /-w and -o yaml/],
  [['-w', '-o', 'name'], /-w and -o name/],
];
for (const [words, want] of refused) {
  test(`rejects ${JSON.stringify(words)} with a remedy`, () => {
    const error = errorOf(() => read(words));
    expect(error).toMatchObject({ code: 'USAGE', message: expect.stringMatching(want) as string });
    expect(error?.remedy).toMatch(/\.$/);
  });
}

for (const words of [['--color'], ['-o'], ['--kubeconfig']]) {
  test(`rejects ${JSON.stringify(words)}`, () => expect(errorOf(() => read(words))?.code).toBe('USAGE'));
}

test('--help shows examples and exit codes', () => {
  expect(read(['--help'])).toBeUndefined();
  expect(commandHelp(statusLine)).toContain('wmco status win-2');
  expect(commandHelp(statusLine)).toContain('Exit code: 0 every host is Ready, paused or not configured');
});
