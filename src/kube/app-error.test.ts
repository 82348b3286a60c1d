import { expect, test } from 'vitest';
import { AppError } from '#base/errors.ts';
import { refused } from '../../test/kit/memory-api.ts';
import { appErrorOf } from './app-error.ts';

const remedies = { refused: 'Ask for the right.', bug: 'Report it.' };

test('an error that has a remedy stays as it is', () => {
  const error = new AppError('HOST_UNREACHABLE', 'm', { remedy: 'r' });
  expect(appErrorOf(error, remedies)).toBe(error);
});

const [api, busy] = [refused(403, 'Forbidden'), refused(429, 'TooManyRequests')];
const cases: [what: string, thrown: unknown, want: object][] = [
  ['a refusal of the API server', api, { code: 'API_REFUSED', message: api.message, remedy: remedies.refused }],
  ['a server that is busy', busy, { code: 'API_BUSY', message: busy.message }],
  ['any other error', new TypeError('oops'), { code: 'INTERNAL_ERROR', message: 'oops', remedy: remedies.bug }],
  ['a text', 'oops', { code: 'INTERNAL_ERROR', message: 'thrown: "oops"', remedy: remedies.bug }],
  ['nothing', undefined, { code: 'INTERNAL_ERROR', remedy: remedies.bug }],
];
for (const [what, thrown, want] of cases) {
  test(`${what} gets a code and a remedy, and is kept as the cause`, () => {
    const error = appErrorOf(thrown, remedies);
    expect(error).toMatchObject(want);
    expect(error.cause).toBe(thrown);
  });
}
