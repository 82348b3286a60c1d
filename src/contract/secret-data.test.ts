import { inspect } from 'node:util';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { attempt } from '#base/errors.ts';
import { readObject } from './object.ts';
import { secretData } from './secret-data.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');
const secret = (members: object) =>
  readObject({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'cloud-private-key', namespace: 'wmco' },
    ...members,
  });
const revealed = (members: object) =>
  Object.fromEntries(Object.entries(secretData(secret(members))).map(([key, value]) => [key, value.reveal()]));

const good: [string, object, Record<string, string>][] = [
  ['no data', {}, {}],
  ['data that is null', { data: null, stringData: null }, {}],
  ['encoded data', { data: { a: base64('one'), b: base64('two') } }, { a: 'one', b: 'two' }],
  ['plain data', { stringData: { a: 'one' } }, { a: 'one' }],
  [
    'plain data over encoded data',
    { data: { a: base64('old'), b: '' }, stringData: { a: 'new' } },
    { a: 'new', b: '' },
  ],
  ['a value that is null', { data: { a: null }, stringData: { b: null } }, { a: '', b: '' }],
  ['text beyond ASCII', { data: { a: base64('Grüße €') } }, { a: 'Grüße €' }],
  ['a byte order mark, which stays', { data: { a: base64('\ufeffx') } }, { a: '\ufeffx' }],
  ['base64 with line breaks', { data: { a: 'b25l\nb25l\n' } }, { a: 'oneone' }],
];
for (const [name, members, want] of good) test(`reads ${name}`, () => expect(revealed(members)).toEqual(want));

const hidden = 'hunter2-hunter2';
const bad: [string, object, string][] = [
  [
    'a value that is not base64',
    { data: { token: hidden } },
    'Secret wmco/cloud-private-key: data["token"] is not base64',
  ],
  ['bytes that are no text', { data: { token: '/////w==' } }, 'data["token"] is not base64 of UTF-8 text'],
  ['data that is a text', { data: hidden }, 'Secret wmco/cloud-private-key: data is not a map'],
  ['data that is a list', { data: [hidden] }, 'data is not a map'],
  ['plain data that is a text', { stringData: hidden }, 'stringData is not a map'],
  ['a number', { stringData: { password: 4711 } }, 'stringData["password"] is not a string'],
  ['an object', { data: { token: { value: hidden } } }, 'data["token"] is not a string'],
  ['a list', { stringData: { token: [hidden] } }, 'stringData["token"] is not a string'],
];
for (const [name, members, message] of bad) {
  test(`rejects ${name}, naming Secret and key but never the value`, () => {
    const result = attempt(() => secretData(secret(members)));
    expect(result).toMatchObject({ ok: false, error: { code: 'FIELD_INVALID', remedy: expect.stringMatching(/\.$/) } });
    const { message: text = '', remedy = '' } = result.ok ? {} : result.error;
    expect(text).toContain(message);
    expect(`${text}${remedy}`).not.toMatch(/hunter2|4711/);
  });
}

test('the values read do not show in logs', () => {
  const data = secretData(secret({ data: { token: base64(hidden) }, stringData: { other: hidden } }));
  expect(`${inspect(data)}${JSON.stringify(data)}`).not.toContain(hidden);
});

test('reads every text, under every key', () => {
  const key = fc.oneof(fc.string({ minLength: 1 }), fc.constantFrom('__proto__', 'constructor', '.dockerconfigjson'));
  fc.assert(
    fc.property(key, fc.string({ unit: 'grapheme' }), (name, text) => {
      const data = Object.fromEntries([[name, base64(text)]]);
      const value = Object.entries(secretData(secret({ data }))).map(([one, it]) => [one, it.reveal()]);
      expect(value).toEqual([[name, text.toWellFormed()]]);
    }),
    { numRuns: 500 },
  );
});
