import { expect, test } from 'vitest';
import { ApiError, type Status } from '../api-error.ts';
import { judge, judgeStreaming, StreamError } from './reflector-failure.ts';

const refused = (code: number, more: Status = {}) => new ApiError({ code, reason: 'R', ...more }, 'GET /api/v1/nodes');
const tooLarge = {
  details: { causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }] },
};
const wait = (retryAfterSeconds: number) => ({ details: { retryAfterSeconds } });

const verdicts: [name: string, error: unknown, relist: boolean, notBeforeMs: number][] = [
  ['a position that is too old', refused(410, { reason: 'Expired' }), true, 0],
  ['a position that is gone', refused(410, { reason: 'Gone' }), true, 0],
  ['a position the server has not reached, by cause', refused(504, tooLarge), true, 0],
  [
    'a position the server has not reached, by message',
    refused(504, { message: 'Too large resource version: 9' }),
    true,
    0,
  ],
  ['a server in time trouble', refused(504, { reason: 'Timeout' }), false, 0],
  ['an internal error', refused(500), false, 0],
  ['an error without code', refused(0), false, 0],
  ['a server that is not there yet', refused(503, wait(3)), false, 3000],
  ['a crowd', refused(429, wait(7)), false, 7000],
  ['a crowd without time', refused(429), false, 0],
  ['a crowd for hours', refused(429, wait(7200)), false, 60_000],
  ['a negative wait', refused(429, wait(-1)), false, 0],
  ['an expired token', refused(401), false, 0],
  ['a missing right', refused(403), false, 0],
  ['a request that took too long', refused(408), false, 0],
  ['a kind that is not there', refused(404), true, 0],
  ['a request that is not understood', refused(400), true, 0],
  ['an invalid request', refused(422), true, 0],
  ['a reset connection', new Error('ECONNRESET'), false, 0],
  ['a stream that ends at once', new StreamError('short'), false, 0],
  ['a thrown text', 'text', false, 0],
];
test.each(verdicts)('after %s', (_, error, relist, notBeforeMs) => {
  expect(judge(error)).toEqual({ relist, notBeforeMs });
});

const streaming: [name: string, error: unknown, want: string][] = [
  ['400: does not know the parameter', refused(400), 'never again'],
  ['405: does not watch', refused(405), 'never again'],
  ['406', refused(406), 'never again'],
  ['415', refused(415), 'never again'],
  ['422: forbids resourceVersionMatch for a watch', refused(422), 'never again'],
  ['sends nothing', new StreamError('overdue'), 'never again'],
  ['sends objects without marking their end', new StreamError('unmarked'), 'never again'],
  ['500 on the stream: etcd too old to ask how far it is', refused(500), 'list instead'],
  ['504', refused(504, tooLarge), 'list instead'],
  ['410', refused(410), 'list instead'],
  ['an error without code', refused(0), 'list instead'],
  ['401: a list would fail as well', refused(401), 'failure'],
  ['403', refused(403), 'failure'],
  ['404', refused(404), 'failure'],
  ['429', refused(429), 'failure'],
  ['503', refused(503), 'failure'],
  ['ends before all objects came', new StreamError('short'), 'failure'],
  ['a reset connection', new Error('ECONNRESET'), 'failure'],
];
test.each(streaming)('a server that answers a request for initial events so: %s', (_, error, want) => {
  expect(judgeStreaming(error)).toBe(want);
});

test.each(['overdue', 'short', 'unmarked'] as const)('the fault "%s" says what the server did', fault => {
  expect(new StreamError(fault)).toMatchObject({ name: 'StreamError', fault });
  expect(new StreamError(fault).message).toMatch(/^the server /);
});
