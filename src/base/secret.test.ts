import { format, inspect } from 'node:util';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { AppError, shown } from './errors.ts';
import { redacted, Secret, withoutLogin } from './secret.ts';

const hidden = 'correct horse battery staple';
const secret = new Secret(hidden);

test('reveal returns the text', () => {
  expect(secret.reveal()).toBe(hidden);
  expect(new Secret('').reveal()).toBe('');
});

/** Every way in which a value becomes text without anybody meaning to. */
const leaks: [string, () => unknown][] = [
  ['JSON', () => JSON.stringify(secret)],
  ['JSON of an object that holds it', () => JSON.stringify({ deep: [{ secret }] }, undefined, 2)],
  ['a template string', () => `<${secret as unknown as string}>`],
  ['concatenation', () => `token: ${String(secret)}`],
  ['String()', () => String(secret)],
  ['toString', () => secret.toString()],
  ['toLocaleString', () => secret.toLocaleString()],
  ['joining a list', () => [secret, secret].join(',')],
  ['util.inspect', () => inspect(secret)],
  ['util.inspect of hidden members', () => inspect(secret, { showHidden: true, depth: null, getters: true })],
  ['util.inspect without custom functions', () => inspect(secret, { customInspect: false, showHidden: true })],
  ['util.inspect of an object that holds it', () => inspect({ a: new Map([['k', secret]]) }, { depth: null })],
  ['format %s', () => format('%s', secret)],
  ['format %j', () => format('%j', secret)],
  ['format %o', () => format('%o', secret)],
  ['format %O', () => format('%O', { secret })],
  ['spreading', () => JSON.stringify({ ...(secret as object) })],
  ['Object.assign', () => inspect(Object.assign({}, secret))],
  ['its keys, values and symbols', () => inspect([Reflect.ownKeys(secret), Object.values(secret)])],
  ['for…in', () => inspect(Object.entries(secret))],
  ['structuredClone', () => inspect(structuredClone({ secret }), { showHidden: true, depth: null })],
  ['a message', () => new Error(`bad value ${String(secret)}`).message],
  ['a message of ours', () => shown({ secret })],
  [
    'the stack and cause of an error',
    () => inspect(new AppError('USAGE', shown(secret), { remedy: '', cause: secret })),
  ],
  ['a URL', () => new URL(`https://host/?t=${String(secret)}`).href],
  ['a Map key', () => inspect(new Map([[secret, 1]]))],
  ['a frozen copy', () => inspect(Object.freeze(secret))],
];
for (const [name, print] of leaks) {
  test(`does not leak through ${name}`, () => expect(String(print())).not.toContain(hidden));
}

test('shows that something was hidden', () => {
  expect([String(secret), JSON.stringify(secret), inspect(secret)]).toEqual([redacted, `"${redacted}"`, redacted]);
});

test('shows two different secrets alike', () => {
  expect(inspect(new Secret('a'))).toBe(inspect(new Secret('bb')));
});

test('never leaks any text', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 11 }), text => {
      const value = new Secret(text);
      const printed = `${JSON.stringify([value])}${format('%s %o %j', value, value, value)}${inspect({ value })}`;
      expect(value.reveal()).toBe(text);
      expect(printed).not.toContain(text);
    }),
    { numRuns: 500 },
  );
});

const logins: [string, string, string][] = [
  ['hides user and password', 'http://user:pw@proxy:3128/x', 'http://<redacted>@proxy:3128/x'],
  ['hides a login without a scheme', 'user:pw@proxy:3128', '<redacted>@proxy:3128'],
  ['hides a password with an @ and a slash in it', 'https://u:p@w/x@proxy', 'https://<redacted>@proxy'],
  ['leaves an address without a login', 'http://proxy:3128', 'http://proxy:3128'],
  ['leaves a list of names', '.svc,localhost,10.0.0.0/8', '.svc,localhost,10.0.0.0/8'],
  ['leaves nothing', '', ''],
];
for (const [name, url, want] of logins) test(`withoutLogin ${name}`, () => expect(withoutLogin(url)).toBe(want));
