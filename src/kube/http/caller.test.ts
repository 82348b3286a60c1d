import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { Secret } from '#base/secret.ts';
import { fastClock } from '../../../test/kit/fast-clock.ts';
import { clientTo, nodes, pods } from '../../../test/kit/scripted-client.ts';
import { type Handler, json } from '../../../test/kit/tls-server.ts';
import type { ClientOptions } from '../http-client.ts';
import type { Identity } from '../transport/connection.ts';

/** A second is ten milliseconds; nothing else may end before its time on a busy machine. */
const clock = fastClock(100);
const patient = { clock, timeoutMs: 1_000_000, connectTimeoutMs: 1_000_000, pingIntervalMs: 1_000_000 };
const pod = { metadata: { name: 'p', namespace: 'ns' } };
const echo: Handler = (_, answer) => json(answer, 200, {});

/** Refuses the first requests, then answers. */
function busy(times: number, status: number, headers: Record<string, string> = {}, body: unknown = 'busy'): Handler {
  return (_, answer, turn) =>
    turn <= times ? json(answer, status, body, headers) : json(answer, 200, { metadata: { name: String(turn) } });
}

const soon = { 'retry-after': '1' };
const retries: [string, Handler, ClientOptions, number, number][] = [
  ['429 with a time', busy(2, 429, soon), {}, 200, 3],
  ['503 with a time', busy(1, 503, soon), {}, 200, 2],
  ['a Status with a time', busy(1, 429, {}, { kind: 'Status', details: { retryAfterSeconds: 1 } }), {}, 200, 2],
  ['429 for ever: no more than five times', busy(99, 429, soon), {}, 429, 6],
  ['429 no more often than told', busy(99, 429, soon), { maxRetries: 2 }, 429, 3],
  ['429 not at all when told so', busy(99, 429, soon), { maxRetries: 0 }, 429, 1],
  ['429 without a time: not at all', busy(99, 429), {}, 429, 1],
  ['503 without a time: not at all', busy(99, 503), {}, 503, 1],
  ['429 with no time at all: not at all', busy(99, 429, { 'retry-after': '0' }), {}, 429, 1],
  ['429 with a date: not at all', busy(99, 429, { 'retry-after': 'Wed, 21 Oct 2026 07:28:00 GMT' }), {}, 429, 1],
  ['500 with a time: not at all, it may have been done', busy(99, 500, soon), {}, 500, 1],
  ['409 with a time: not at all', busy(99, 409, soon), {}, 409, 1],
];
for (const [name, handler, options, status, requests] of retries) {
  test(`repeats ${name}`, async () => {
    const { client, seen } = await clientTo(handler, { ...patient, ...options });
    const result = client.create(pods, pod).then(
      () => 200,
      (error: { code: number }) => error.code,
    );
    expect(await result).toBe(status);
    expect(seen).toHaveLength(requests);
    expect(new Set(seen.map(({ body }) => body)).size).toBe(1);
  });
}

test('a call may be repeated less often than the client does', async () => {
  const { client, seen } = await clientTo(busy(99, 429, soon), patient);
  await expect(client.create(pods, pod, { maxRetries: 1 })).rejects.toMatchObject({
    code: 429,
    details: { retryAfterSeconds: 1 },
  });
  expect(seen).toHaveLength(2);
});

test('fails with the error of the server when Retry-After is beyond the deadline', async () => {
  const { client, seen } = await clientTo(busy(99, 429, { 'retry-after': '6000' }), patient);
  const start = performance.now();
  await expect(client.get(nodes, 'n')).rejects.toMatchObject({ code: 429 });
  expect(performance.now() - start).toBeLessThan(10_000);
  expect(seen).toHaveLength(1);
});

test('stops waiting for a busy server when the caller gives up', async () => {
  const { client } = await clientTo(busy(99, 429, { 'retry-after': '20' }));
  const caller = new AbortController();
  setTimeout(() => caller.abort(new Error('enough')), 30);
  await expect(client.get(nodes, 'n', { signal: caller.signal })).rejects.toThrow('enough');
});

/** Tokens that are valid one after the other. */
function rotating(...tokens: string[]): Identity & { renewals: number } {
  const identity = {
    renewals: 0,
    current: () => Promise.resolve({ authorization: new Secret(`Bearer ${tokens[0]}`) }),
    renew: () => {
      identity.renewals += 1;
      return Promise.resolve(tokens.length > 1 && tokens.shift() !== undefined);
    },
  };
  return identity;
}

const onlyFor =
  (good: string): Handler =>
  (request, answer) =>
    request.headers.authorization === `Bearer ${good}`
      ? json(answer, 200, {})
      : json(answer, 401, { kind: 'Status', message: 'Unauthorized' });

test('a refused token is renewed and the request sent again, once', async () => {
  const identity = rotating('old', 'new');
  const { client, seen } = await clientTo(onlyFor('new'), { identity });
  await client.create(pods, pod);
  expect(seen.map(request => request.headers.authorization)).toEqual(['Bearer old', 'Bearer new']);
  expect(identity.renewals).toBe(1);
});

test('a refused token without another is reported', async () => {
  const { client, seen } = await clientTo(onlyFor('new'), { identity: rotating('old') });
  await expect(client.get(nodes, 'n')).rejects.toMatchObject({ code: 401, reason: 'Unauthorized' });
  expect(seen).toHaveLength(1);
});

test('a second refusal is reported, however many tokens there are', async () => {
  const identity = rotating('a', 'b', 'c', 'd');
  const { client, seen } = await clientTo(onlyFor('none'), { identity });
  await expect(client.get(nodes, 'n')).rejects.toMatchObject({ code: 401 });
  expect([seen.length, identity.renewals]).toEqual([2, 1]);
});

const silent: [string, Handler][] = [
  ['no answer', () => undefined],
  ['a body that does not end', (_, answer) => void answer.writeHead(200).write('{"a":')],
  ['a refusal that does not end', (_, answer) => void answer.writeHead(500).write('{"a":')],
];
for (const [name, handler] of silent) {
  test(`a call with ${name} ends at its deadline`, async () => {
    const { client } = await clientTo(handler, { timeoutMs: 60_000 });
    await expect(client.get(nodes, 'n', { timeoutMs: 50 })).rejects.toMatchObject({
      code: 'API_DEADLINE',
      message: 'GET /api/v1/nodes/n: no response within 0.05 s',
    });
  });

  test(`a call with ${name} ends when the caller gives up`, async () => {
    const { client } = await clientTo(handler);
    const caller = new AbortController();
    setTimeout(() => caller.abort(new Error('enough')), 30);
    await expect(client.get(nodes, 'n', { signal: caller.signal })).rejects.toThrow('enough');
  });
}

test('leaves no listener on the signal of a caller that makes many calls', async () => {
  const { client } = await clientTo(echo);
  const caller = new AbortController();
  for (let turn = 0; turn < 20; turn += 1) await client.get(nodes, 'n', { signal: caller.signal });
  expect(getEventListeners(caller.signal, 'abort')).toEqual([]);
});
