import { expect, test } from 'vitest';
import { apiWith, follow, reset } from '../../../test/kit/following.ts';
import { settle } from '../../../test/kit/manual-clock.ts';
import { endOfInitialEvents, refusal, type ScriptedApi, type Thing } from '../../../test/kit/scripted-api.ts';

test('begins with a stream of all objects where the server offers it, without any list', async () => {
  const api = apiWith('a', 'b');
  api.streaming = 'offered';
  const { clock, values, calls, stop, reflector } = await follow(api);
  expect(values()).toEqual({ a: 0, b: 0 });
  api.put('c', 1);
  await settle();
  api.endStreams(reset());
  api.put('d', 2);
  await clock.advance(800);
  expect(values()).toEqual({ a: 0, b: 0, c: 1, d: 2 });
  expect(calls()).toEqual(['watch+initial@', 'watch@103']);
  expect(reflector.counts.lists).toBe(0);
  await stop();
});

test('streams again after a 410, and finds what was deleted meanwhile', async () => {
  const api = apiWith('a', 'b');
  api.streaming = 'offered';
  const { clock, values, calls, stop } = await follow(api);
  api.endStreams(refusal(410, 'Expired'));
  api.remove('b');
  await clock.advance(800);
  expect(values()).toEqual({ a: 0 });
  expect(calls()).toEqual(['watch+initial@', 'watch+initial@']);
  await stop();
});

const refusals: [name: string, streaming: ScriptedApi['streaming'], waitMs: number, again: boolean][] = [
  ['400', refusal(400, 'BadRequest'), 0, false],
  ['422', refusal(422, 'Invalid'), 0, false],
  ['an error on the stream, as with an old etcd', refusal(500, 'InternalError'), 0, true],
  ['silence', 'silent', 10_000, false],
  ['objects without a mark at their end', 'ignored', 10_000, false],
  ['an end before the mark', 'ends early', 800, true],
];
for (const [name, streaming, waitMs, again] of refusals) {
  test(`lists instead when the server answers a request for all objects with ${name}`, async () => {
    const api = apiWith('a', 'b');
    api.streaming = streaming;
    const { clock, values, calls, stop } = await follow(api);
    await clock.advance(waitMs);
    expect(values()).toEqual({ a: 0, b: 0 });
    expect(calls()).toEqual(['watch+initial@', 'list@0', 'watch@102']);
    api.endStreams(refusal(410, 'Expired'));
    await clock.advance(1600);
    expect(calls()[3]).toBe(again ? 'watch+initial@' : 'list@');
    await stop();
  });
}

test('does not go back in time when it has to list after it had streamed', async () => {
  const api = apiWith('a');
  api.streaming = 'offered';
  const { clock, calls, stop } = await follow(api);
  api.streaming = refusal(500, 'InternalError');
  api.endStreams(refusal(410, 'Expired'));
  await clock.advance(800);
  expect(calls()).toEqual(['watch+initial@', 'watch+initial@', 'list@', 'watch@101']);
  await stop();
});

test('knows by an ordinary bookmark that the server ignored the request for all objects', async () => {
  const api = apiWith('a');
  api.streaming = 'ignored';
  const { calls, stop } = await follow(api);
  api.bookmark();
  await settle();
  expect(calls()).toEqual(['watch+initial@', 'list@0', 'watch@102']);
  await stop();
});

test('waits for the stream of all objects as long as something comes', async () => {
  const api = apiWith('a');
  api.streaming = 'ignored';
  const { clock, calls, stop } = await follow(api);
  for (let part = 0; part < 5; part += 1) {
    await clock.advance(9000);
    api.put(`part ${part}`);
    await settle();
  }
  expect(calls()).toEqual(['watch+initial@']);
  api.send(endOfInitialEvents('200'));
  await settle();
  await clock.advance(60_000);
  expect(calls()).toEqual(['watch+initial@']);
  await stop();
});

test('takes changes among the initial objects into account', async () => {
  const api = apiWith('a', 'b');
  api.streaming = 'ignored';
  const { values, stop, seen } = await follow(api);
  api.put('a', 1);
  api.remove('b');
  api.send({ type: 'ADDED', object: { metadata: {} } as Thing });
  await settle();
  expect(seen.size).toBe(0);
  api.send(endOfInitialEvents('200'));
  await settle();
  expect(values()).toEqual({ a: 1 });
  await stop();
});

const ordinary: [name: string, error: Error][] = [
  ['401', refusal(401)],
  ['403', refusal(403)],
  ['404', refusal(404)],
  ['429', refusal(429)],
  ['503', refusal(503)],
  ['a reset', reset()],
];
test.each(ordinary)(
  'does not list at once when the stream of all objects fails with %s, which a list would meet as well',
  async (_, error) => {
    const api = apiWith('a');
    api.fail('watch', error);
    const { clock, calls, stop } = await follow(api);
    expect(calls()).toEqual(['watch+initial@']);
    await clock.advance(800);
    expect(calls()).toEqual(['watch+initial@', 'list@0', 'watch@101']);
    await stop();
  },
);
