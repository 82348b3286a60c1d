import { expect, test } from 'vitest';
import { ApiError, isAlreadyExists, isConflict, isExpired, isNotFound } from '../api-error.ts';
import { errorFrom, errorOfEvent, parseAnswer } from './answer.ts';

const status = (more: object) => JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', ...more });

const refusals: [string, number, string, Partial<ApiError>][] = [
  [
    'a Status',
    404,
    status({ code: 404, reason: 'NotFound', message: 'nodes "a" not found', details: { name: 'a', kind: 'nodes' } }),
    { code: 404, reason: 'NotFound', message: 'GET /x: nodes "a" not found', details: { name: 'a', kind: 'nodes' } },
  ],
  ['a Status without a reason', 409, status({ message: 'm' }), { code: 409, reason: 'Conflict', message: 'GET /x: m' }],
  ['a Status of another code', 503, status({ code: 500 }), { code: 503, reason: 'ServiceUnavailable' }],
  ['plain text', 401, 'Unauthorized\n', { code: 401, reason: 'Unauthorized', message: 'GET /x: Unauthorized' }],
  ['nothing', 500, '', { code: 500, reason: 'InternalError', message: 'GET /x: the server answered 500' }],
  ['a page of a proxy', 502, '<html>\n<body>', { code: 502, reason: 'Unknown', message: 'GET /x: <html>' }],
  ['JSON that is no Status', 400, '{"a":1}', { code: 400, reason: 'BadRequest', message: 'GET /x: {"a":1}' }],
  ['JSON that is cut off', 400, '{"kind":"Status",', { reason: 'BadRequest' }],
  ['a long text', 413, 'x'.repeat(500), { reason: 'RequestEntityTooLarge', message: `GET /x: ${'x'.repeat(200)}` }],
];
for (const [name, code, text, want] of refusals) {
  test(`makes an error of ${name}`, () => {
    const error = errorFrom(code, text, undefined, 'GET /x');
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ request: 'GET /x', ...want });
  });
}

const reasons: [number, string, (error: unknown) => boolean][] = [
  [404, 'NotFound', isNotFound],
  [409, 'Conflict', isConflict],
  [410, 'Gone', isExpired],
];
for (const [code, reason, is] of reasons) {
  test(`knows the reason of a bare ${code}`, () => {
    const error = errorFrom(code, '', undefined, 'GET /x');
    expect(error.reason).toBe(reason);
    expect(is(error)).toBe(true);
  });
}

test('reports a name that is taken from a conflict, which has the same code', () => {
  const error = errorFrom(409, status({ reason: 'AlreadyExists' }), undefined, 'POST /x');
  expect([isAlreadyExists(error), isConflict(error)]).toEqual([true, false]);
});

test('uses Retry-After of the header unless the Status has one', () => {
  const of = (text: string) => errorFrom(429, text, 7, 'GET /x').details.retryAfterSeconds;
  expect(of('busy')).toBe(7);
  expect(of(status({}))).toBe(7);
  expect(of(status({ details: { retryAfterSeconds: 2 } }))).toBe(2);
  expect(errorFrom(429, 'busy', undefined, 'GET /x').details.retryAfterSeconds).toBeUndefined();
});

const events: [string, unknown, Partial<ApiError>][] = [
  [
    'an expired version',
    { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' },
    { code: 410, reason: 'Expired' },
  ],
  ['a code only', { code: 410 }, { code: 410, reason: 'Gone' }],
  ['nothing that is known', { a: 1 }, { code: 0, reason: 'Unknown' }],
  ['no object', null, { code: 0, reason: 'Unknown' }],
];
for (const [name, object, want] of events) {
  test(`makes an error of an event with ${name}`, () => {
    expect(errorOfEvent(object, 'WATCH /x')).toMatchObject({ request: 'WATCH /x', ...want });
  });
}

test('parses JSON and refuses anything else', () => {
  expect(parseAnswer('{"a":[1]}', 'GET /x')).toEqual({ a: [1] });
  for (const text of ['', 'ok', '{"a":']) {
    expect(() => parseAnswer(text, 'GET /x')).toThrow(
      expect.objectContaining({ code: 'API_ANSWER_INVALID', message: 'GET /x: the response is not JSON' }),
    );
  }
});
