import { expect, test } from 'vitest';
import { ApiError } from '#kube/api-error.ts';
import { apiRefused } from './api-refused.ts';

const cases: [code: number, remedy: RegExp][] = [
  [403, /^Request permission to change ConfigMaps and WindowsInstances in namespace wmco\.$/],
  [422, /^Correct what the message names/],
  [500, /^Run the command again/],
];
test.each(cases)('a request that is answered with %i has a remedy', (code, remedy) => {
  const error = apiRefused(new ApiError({ code, message: 'no' }, 'PATCH /x'), { namespace: 'wmco' });
  expect(error).toMatchObject({ code: 'API_REFUSED', message: 'PATCH /x: no', remedy: expect.stringMatching(remedy) });
});

test('another error stays as it is', () => {
  const error = new Error('no');
  expect(apiRefused(error, {})).toBe(error);
});
