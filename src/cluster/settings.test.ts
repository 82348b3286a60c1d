import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { errorOf } from '../../test/kit/outcome.ts';
import { extraArguments, readSettings } from './settings.ts';

const logRotation = { fileSize: '100M', fileAge: '', flushInterval: '5s' };
const given = { version: '11.0.0-abcdef0', debug: true, logRotation };
const namespace = 'openshift-windows-machine-config-operator';

const failure = (watched: string | undefined) => errorOf(() => readSettings({ WATCH_NAMESPACE: watched }, given));

test('puts together what the environment says and what was given', () => {
  const environment = { WATCH_NAMESPACE: namespace, HTTPS_PROXY: 'http://proxy:3128', no_proxy: 'x', PATH: '/bin' };
  expect(readSettings(environment, given)).toEqual({
    namespace,
    version: '11.0.0-abcdef0',
    debug: true,
    logRotation,
    proxy: { HTTPS_PROXY: 'http://proxy:3128' },
  });
});

test('has no proxy without the variables of one', () => {
  expect(readSettings({ WATCH_NAMESPACE: namespace }, { ...given, debug: false })).toMatchObject({
    proxy: {},
    debug: false,
  });
});

test('keeps a proxy variable that is empty, since it says that there is a proxy', () => {
  expect(readSettings({ WATCH_NAMESPACE: namespace, NO_PROXY: '' }, given).proxy).toEqual({ NO_PROXY: '' });
});

for (const name of ['a', 'windows', 'team-7', '0', 'x'.repeat(63)])
  test(`accepts the namespace ${name.slice(0, 20)}`, () =>
    expect(readSettings({ WATCH_NAMESPACE: name }, given).namespace).toBe(name));

const badNames = ['', ' ', 'A', 'a b', 'a.b', '-a', 'a-', 'a_b', 'ü', 'a\n', 'a\nb', 'x'.repeat(64)];
for (const name of [...badNames, undefined])
  test(`refuses ${JSON.stringify(name)?.slice(0, 20)} as namespace`, () => {
    const error = failure(name);
    expect(error?.code).toBe('SETTING_INVALID');
    expect(error?.message).toContain('WATCH_NAMESPACE is not a namespace name');
    expect(error?.message).toContain(name === undefined ? 'missing' : JSON.stringify(name));
    expect(error?.remedy).toContain('WATCH_NAMESPACE');
  });

for (const names of ['a,b', ',', 'a,'])
  test(`refuses several namespaces: ${names}`, () => {
    const error = failure(names);
    expect(error?.code).toBe('SETTING_INVALID');
    expect(error?.message).toBe(`WATCH_NAMESPACE has several namespaces: "${names}"`);
  });

const argumentCases: [name: string, text: string | undefined, want: string[]][] = [
  ['no variable', undefined, []],
  ['an empty variable', '', []],
  ['blanks', '   ', []],
  ['one flag', '--debugLogging', ['--debugLogging']],
  ['a flag with a value', '--metrics-bind-address=:9183', ['--metrics-bind-address=:9183']],
  ['several flags', '--debugLogging --kubeconfig /tmp/k', ['--debugLogging', '--kubeconfig', '/tmp/k']],
  ['blanks in a row and at the ends', '  --a   --b ', ['--a', '--b']],
  ['quotes, which mean nothing', '--a="b c"', ['--a="b', 'c"']],
  ['a tab, which does not separate', '--a\t--b', ['--a\t--b']],
  ['a line break, which does not separate', '--a\n--b', ['--a\n--b']],
];
for (const [name, ARGS, want] of argumentCases)
  test(`arguments from ${name}`, () => expect(extraArguments({ ARGS })).toEqual(want));

test('gives back the arguments that were joined with blanks', () => {
  const word = fc.string({ minLength: 1 }).filter(text => !text.includes(' '));
  fc.assert(
    fc.property(fc.array(word), words => {
      expect(extraArguments({ ARGS: words.join(' ') })).toEqual(words);
    }),
    { numRuns: 500 },
  );
});
