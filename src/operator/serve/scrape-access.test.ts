import { expect, test } from 'vitest';
import { manualClock } from '../../../test/kit/manual-clock.ts';
import { MemoryApi, refused } from '../../../test/kit/memory-api.ts';
import { ScrapeAccess } from './scrape-access.ts';

const users: Record<string, { username: string; allowed: boolean }> = {
  good: { username: 'prometheus', allowed: true },
  other: { username: 'somebody', allowed: false },
};

/** An API server that knows the tokens above. */
function bench() {
  const api = new MemoryApi();
  const clock = manualClock();
  const questions: unknown[] = [];
  api.before = ({ resource, body }) => {
    const { spec } = body as { spec: { token?: string; user?: string; nonResourceAttributes?: object } };
    const known = users[spec.token ?? ''];
    if (resource === 'tokenreviews') {
      const user = known && { username: known.username, groups: ['g'], uid: 'u' };
      return { status: { authenticated: user !== undefined, ...(user && { user }) } };
    }
    questions.push(spec);
    return { status: { allowed: Object.values(users).some(each => each.allowed && each.username === spec.user) } };
  };
  return { api, clock, questions, access: new ScrapeAccess(api, clock) };
}

const verdicts: [authorization: string, want: string][] = [
  ['Bearer good', 'allowed'],
  ['bearer good', 'allowed'],
  ['Bearer   good', 'allowed'],
  ['Bearer other', 'forbidden'],
  ['Bearer nobody', 'unknown'],
  ['', 'unknown'],
  ['good', 'unknown'],
  ['Basic good', 'unknown'],
  ['Bearer', 'unknown'],
  ['Bearer a b', 'unknown'],
  ['Bearer a\nb', 'unknown'],
];
for (const [authorization, want] of verdicts) {
  test(`a request with ${JSON.stringify(authorization)} is ${want}`, async () => {
    expect(await bench().access.check(authorization)).toBe(want);
  });
}

test('does not trouble the server with what is no token', async () => {
  const { access, api } = bench();
  await access.check('Basic x');
  expect(api.calls).toEqual([]);
});

test('asks whether this user may get /metrics', async () => {
  const { access, questions } = bench();
  await access.check('Bearer good');
  expect(questions).toEqual([
    { user: 'prometheus', groups: ['g'], uid: 'u', nonResourceAttributes: { path: '/metrics', verb: 'get' } },
  ]);
});

test('remembers an answer for a minute, good or bad', async () => {
  const { access, api, clock } = bench();
  for (let times = 0; times < 3; times += 1) {
    await access.check('Bearer good');
    await access.check('Bearer nobody');
  }
  expect(api.calls).toHaveLength(3);
  await clock.advance(60_000);
  await access.check('Bearer good');
  expect(api.calls).toHaveLength(5);
});

test('does not remember that the server did not answer', async () => {
  const { access, api } = bench();
  const { before } = api;
  api.before = () => {
    throw refused(503, 'ServiceUnavailable');
  };
  await expect(access.check('Bearer good')).rejects.toMatchObject({ code: 503 });
  api.before = before;
  expect(await access.check('Bearer good')).toBe('allowed');
});

test('remembers a bounded number of tokens, the newest ones', async () => {
  const { access, api } = bench();
  await access.check('Bearer good');
  for (let index = 0; index < 256; index += 1) await access.check(`Bearer t${index}`);
  const before = api.calls.length;
  await access.check('Bearer t255');
  expect(api.calls).toHaveLength(before);
  await access.check('Bearer good');
  expect(api.calls).toHaveLength(before + 2);
});
