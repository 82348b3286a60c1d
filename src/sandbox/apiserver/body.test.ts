import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { refusal } from '../../../test/kit/sandbox.ts';
import { readJson, readObject, tooLarge } from './body.ts';

const body = (contentType: string, text: string) => ({ contentType, bytes: Buffer.from(text) });

const good: [string, string][] = [
  ['application/json', '{"a":1}'],
  ['application/json; charset=utf-8', '{"a":1}'],
  ['Application/JSON', '{"a":1}'],
  ['', '{"a":1}'],
  ['*/*', '{"a":1}'],
];
test.each(good)('reads %j', (type, text) => expect(readObject(body(type, text))).toEqual({ a: 1 }));

const unknown = ['text/plain', 'application/x-www-form-urlencoded', 'application/vnd.kubernetes.protobuf', 'json'];
test.each(unknown)('does not read %s', type => {
  expect(refusal(() => readObject(body(type, '{"a":1}')))).toEqual([
    415,
    'the body of the request was in an unknown format - accepted media types include: application/json, application/vnd.kubernetes.protobuf',
  ]);
});

const broken: [string, string][] = [
  ['application/json', '{bad'],
  ['application/json', ''],
  ['application/json', '{"a":1} x'],
];
test.each(broken)('rejects broken %s %j', (type, text) => {
  expect(refusal(() => readObject(body(type, text)))).toEqual([
    400,
    expect.stringMatching(/^the object provided is unrecognized: couldn't get version\/kind; json parse error: /),
  ]);
});

test('reads a patch in JSON', () => expect(readJson(Buffer.from('[1]'))).toEqual([1]));

test('reports the size limit', () => {
  expect(tooLarge().status).toEqual({
    code: 413,
    reason: 'RequestEntityTooLarge',
    message: 'Request entity too large: limit is 3145728',
  });
});

test('rejects any malformed bytes with 400', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), fc.constantFrom('', 'application/json'), (bytes, contentType) => {
      const code = refusal(() => readObject({ contentType, bytes: Buffer.from(bytes) }))?.[0];
      expect(code ?? 400).toBe(400);
    }),
    { numRuns: 2000 },
  );
});
