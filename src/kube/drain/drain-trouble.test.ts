import { expect, test } from 'vitest';
import { drainBench, namesOf, second, tooMany } from '../../../test/kit/drain-bench.ts';
import { settle } from '../../../test/kit/manual-clock.ts';
import { refused } from '../../../test/kit/memory-api.ts';
import { pods } from '../resources.ts';

test('a report without names of budgets is better than none', async () => {
  const { clock, api, drain, put, answers, messages } = drainBench({ timeoutMs: 2 * second });
  put('held');
  answers.set('held', tooMany);
  const before = api.before;
  api.before = (call, signal) => {
    if (call.resource === 'poddisruptionbudgets') throw refused(403, 'Forbidden');
    return before(call, signal);
  };
  const state = await drain();
  await clock.advance(2 * second);
  expect(state.result?.blocked).toMatchObject([{ budgets: [], message: 'web needs 2' }]);
  expect(messages('warn')).toEqual(['Reading PodDisruptionBudgets failed']);
});

test('ends at once when all remaining pods cannot be evicted', async () => {
  const { clock, drain, put, answers, api } = drainBench();
  for (const name of ['forbidden', 'free']) put(name);
  answers.set('forbidden', () => refused(403, 'Forbidden'));
  const state = await drain();
  await clock.advance(10 * second);
  expect(state.atMs).toBe(3 * second);
  expect(state.result?.blocked).toMatchObject([
    { pod: { name: 'forbidden' }, budgets: [], message: expect.stringContaining('Forbidden') },
  ]);
  expect(api.calls.filter(call => call.name === 'forbidden').length).toBe(1);
});

test('a pod that does not go is reported as such', async () => {
  const { clock, drain, put, world } = drainBench({ timeoutMs: 10 * second });
  world.graceMs = 3600 * second;
  put('stuck');
  const state = await drain();
  await clock.advance(10 * second);
  expect(state.result?.blocked).toMatchObject([
    { pod: { name: 'stuck' }, is: 'terminating', budgets: [], message: expect.stringContaining('kubelet') },
  ]);
});

test('another pod of the same name is another pod', async () => {
  const { clock, api, drain, put, evicted } = drainBench();
  put('web-0');
  const state = await drain();
  await clock.advance(1500);
  api.remove(pods, 'web-0', 'ns');
  put('web-0', { uid: 'second' });
  await clock.advance(2 * second);
  expect(evicted).toEqual(['web-0', 'web-0']);
  await clock.advance(5 * second);
  expect(state.result?.gone.map(each => each.name)).toEqual(['web-0', 'web-0']);
});

test('counts a pod that ends by itself as gone', async () => {
  const { clock, api, drain, put, answers } = drainBench();
  put('fast');
  answers.set('fast', () => {
    api.remove(pods, 'fast', 'ns');
    return refused(404, 'NotFound');
  });
  const state = await drain();
  await clock.advance(second);
  expect(state.result).toMatchObject({ gone: [{ name: 'fast' }], blocked: [] });
});

test('a pod that comes while it drains goes, too', async () => {
  const { clock, drain, put, evicted } = drainBench();
  put('a');
  const state = await drain();
  await clock.advance(second);
  put('late');
  await clock.advance(10 * second);
  expect([evicted, namesOf(state.result?.blocked)]).toEqual([['a', 'late'], []]);
});

test('asks for no more than ten evictions at once', async () => {
  const { clock, api, drain, put, evicted } = drainBench();
  for (let index = 0; index < 25; index += 1) put(`p${index}`);
  const before = api.before;
  let [busy, most] = [0, 0];
  api.before = async (call, signal) => {
    if (call.resource !== 'pods/eviction') return undefined;
    busy += 1;
    most = Math.max(most, busy);
    await clock.sleep(100);
    busy -= 1;
    return before(call, signal);
  };
  await drain();
  await clock.advance(second);
  expect([most, evicted.length]).toEqual([10, 25]);
});

test('the first and the last list bypass the cache', async () => {
  const { clock, api, drain, put } = drainBench();
  put('a');
  const versions: (string | undefined)[] = [];
  const list = api.list.bind(api);
  api.list = (resource, options) => {
    if (resource.plural === 'pods') versions.push(options?.resourceVersion);
    return list(resource, options);
  };
  await drain();
  await clock.advance(10 * second);
  expect(versions.length).toBe(5);
  expect([versions[0], versions.at(-1)]).toEqual([undefined, undefined]);
  expect(versions.slice(1, -1)).toEqual(['0', '0', '0']);
});

test('retries a failed list', async () => {
  const { clock, api, drain, put, messages } = drainBench();
  put('a');
  const before = api.before;
  let failures = 2;
  api.before = (call, signal) => {
    if (call.verb === 'list' && failures > 0) {
      failures -= 1;
      throw refused(504, 'Timeout');
    }
    return before(call, signal);
  };
  const state = await drain();
  await clock.advance(10 * second);
  expect([state.result?.blocked, messages('warn').length]).toEqual([[], 2]);
});

test('a stale cache does not end the drain', async () => {
  const { clock, api, drain, put, evicted } = drainBench();
  put('a');
  const list = api.list.bind(api);
  api.list = async (resource, options) => {
    const found = await list(resource, options);
    return options?.resourceVersion === '0' ? { ...found, items: [] } : found;
  };
  const state = await drain();
  await clock.advance(10 * second);
  expect(evicted).toEqual(['a']);
  expect(state.result).toMatchObject({ gone: [{ name: 'a' }], blocked: [] });
});

test('reports what it saw last when the server is silent at the end', async () => {
  const { clock, api, drain, put, answers } = drainBench({ timeoutMs: 5 * second });
  put('held');
  answers.set('held', tooMany);
  const state = await drain();
  api.before = () => Promise.reject(refused(503, 'ServiceUnavailable'));
  await clock.advance(5 * second);
  expect(state.result?.blocked).toMatchObject([{ pod: { name: 'held' }, message: 'web needs 2' }]);
});

test('fails when the pods can never be listed', async () => {
  const { clock, api, drain } = drainBench({ timeoutMs: 5 * second });
  api.before = ({ verb }) => {
    if (verb === 'list') throw refused(503, 'ServiceUnavailable');
  };
  const state = await drain();
  await clock.advance(5 * second);
  expect(state.error).toMatchObject({ code: 503 });
});

test('fails at once when the pods may not be listed', async () => {
  const { api, drain } = drainBench();
  api.before = ({ verb }) => {
    if (verb === 'list') throw refused(403, 'Forbidden');
  };
  expect((await drain()).error).toMatchObject({ code: 403 });
});

test('can be stopped, and leaves no timer', async () => {
  const { clock, drain, put, answers, lists } = drainBench();
  put('held');
  answers.set('held', tooMany);
  const stop = new AbortController();
  const state = await drain({ signal: stop.signal });
  await clock.advance(7 * second);
  stop.abort(new Error('over'));
  await settle();
  const before = lists().length;
  await clock.advance(60 * second);
  expect([state.error, clock.sleepers(), lists().length]).toEqual([new Error('over'), 0, before]);
});

test('logs what blocks, once, with the Node', async () => {
  const { clock, drain, put, answers, lines } = drainBench();
  put('held');
  answers.set('held', tooMany);
  await drain();
  await clock.advance(30 * second);
  expect(lines).toMatchObject([{ level: 'info', fields: { Node: 'win-1', Pod: 'ns/held', because: 'web needs 2' } }]);
});
