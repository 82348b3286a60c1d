import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { leadershipIn, managerBench, part } from '../../../test/kit/manager-bench.ts';
import { settle } from '../../../test/kit/manual-clock.ts';
import { type Runnable, runManager } from './manager.ts';

const boom = new Error('boom');

test('starts group after group, and stops the other way round, the lease last', async () => {
  const story: string[] = [];
  const parts = (...names: string[]) => names.map(name => part(name, story).runnable);
  const { clock, stop, over } = managerBench({
    leaderOnly: parts('controller'),
    others: parts('events'),
    caches: parts('informers'),
    servers: parts('health', 'metrics'),
    leadership: leadershipIn(story).leadership,
  });
  await settle();
  const started = ['health', 'metrics', 'informers', 'events'].flatMap(name => [`${name} starts`, `${name} is ready`]);
  expect(story.splice(0)).toEqual([
    ...started,
    'lease wanted',
    'lease held',
    'controller starts',
    'controller is ready',
  ]);
  stop.abort();
  await over;
  expect(story).toEqual([
    'controller is told',
    'controller ends',
    'events is told',
    'events ends',
    'informers is told',
    'informers ends',
    'health is told',
    'metrics is told',
    'health ends',
    'metrics ends',
    'lease: free',
  ]);
  expect(clock.sleepers()).toBe(0);
});

test('a group waits until everything in the one before is ready', async () => {
  const story: string[] = [];
  const [one, other] = [part('one', story, { isReadyAtOnce: false }), part('other', story, { isReadyAtOnce: false })];
  managerBench({ caches: [one.runnable, other.runnable], others: [part('next', story).runnable] });
  await settle();
  one.ready();
  await settle();
  expect(story).not.toContain('next starts');
  other.ready();
  await settle();
  expect(story).toContain('next starts');
});

test('a group waits until everything in the one after has ended', async () => {
  const story: string[] = [];
  const slow = part('slow', story, { stopsAtOnce: false });
  const { stop, over } = managerBench({ caches: [part('cache', story).runnable], others: [slow.runnable] });
  await settle();
  stop.abort();
  await settle();
  expect(story).not.toContain('cache is told');
  slow.end();
  await over;
  expect(story.slice(-3)).toEqual(['slow ends', 'cache is told', 'cache ends']);
});

test('a runnable that ends by itself is ready and has not failed', async () => {
  const story: string[] = [];
  const once: Runnable = { name: 'once', run: async () => void story.push('once') };
  const { stop, over } = managerBench({ caches: [once], others: [part('next', story).runnable] });
  await settle();
  expect(story).toContain('next is ready');
  stop.abort();
  await expect(over).resolves.toBeUndefined();
});

test('empty groups and no leadership are fine', async () => {
  const { stop, over } = managerBench({});
  await settle();
  stop.abort();
  await expect(over).resolves.toBeUndefined();
});

test('starts no runnable when the signal is aborted already', async () => {
  const story: string[] = [];
  const leadership = leadershipIn(story).leadership;
  await runManager({ servers: [part('a', story).runnable], leadership }, AbortSignal.abort());
  expect(story).toEqual([]);
});

const groups = ['servers', 'caches', 'others', 'leaderOnly'] as const;
for (const group of groups) {
  test(`a failure in ${group} stops everything, and is what the manager ends with`, async () => {
    const story: string[] = [];
    const all = Object.fromEntries(groups.map(name => [name, part(name, story)]));
    const runnables = Object.fromEntries(groups.map(name => [name, [all[name]?.runnable as Runnable]]));
    const { over, messages, clock } = managerBench({ ...runnables, leadership: leadershipIn(story).leadership });
    await settle();
    all[group]?.fail(boom);
    await expect(over).rejects.toBe(boom);
    const others = groups.filter(name => name !== group);
    expect(story.filter(line => line.endsWith(' ends')).sort()).toEqual(others.map(name => `${name} ends`).sort());
    expect(story.at(-1)).toBe('lease: free');
    expect(messages('error')).toEqual(['Failed; stopping everything']);
    expect(clock.sleepers()).toBe(0);
  });
}

test('a failure before readiness stops all started runnables and starts no more', async () => {
  const story: string[] = [];
  const bad = part('bad', story, { isReadyAtOnce: false });
  const { over } = managerBench({
    servers: [part('server', story).runnable],
    caches: [bad.runnable],
    others: [part('next', story).runnable],
    leadership: leadershipIn(story).leadership,
  });
  await settle();
  bad.fail(boom);
  await expect(over).rejects.toBe(boom);
  expect(story).toEqual([
    'server starts',
    'server is ready',
    'bad starts',
    'bad is told',
    'server is told',
    'server ends',
  ]);
});

const thrown: [string, Runnable['run'], string][] = [
  [
    'an error thrown at once',
    () => {
      throw boom;
    },
    'boom',
  ],
  ['a text', () => Promise.reject('boom'), 'thrown: "boom"'],
  ['nothing', () => Promise.reject(), 'thrown: missing'],
];
for (const [name, run, message] of thrown) {
  test(`${name} is a failure like any other`, async () => {
    const { over } = managerBench({ others: [{ name: 'bad', run }] });
    await expect(over).rejects.toThrow(message);
  });
}

test('the first of several failures is the one that counts', async () => {
  const story: string[] = [];
  const [one, other] = [part('one', story), part('other', story, { stopsAtOnce: false })];
  const { over, messages } = managerBench({ others: [one.runnable, other.runnable] });
  await settle();
  one.fail(boom);
  await settle();
  other.fail(new Error('too'));
  await expect(over).rejects.toBe(boom);
  expect(messages('error')).toEqual(['Failed; stopping everything', 'Failed while stopping']);
});

test('rejecting with the reason of the stop is not a failure', async () => {
  const obey = (name: string, error: (signal: AbortSignal) => unknown): Runnable => ({
    name,
    run: (signal, ready) => {
      ready();
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(error(signal))));
    },
  });
  const aborted = () => new DOMException('aborted', 'AbortError');
  const { stop, over, messages } = managerBench({ others: [obey('a', signal => signal.reason), obey('b', aborted)] });
  await settle();
  stop.abort(new Error('SIGTERM'));
  await expect(over).resolves.toBeUndefined();
  expect(messages('error')).toEqual([]);
});

test('fails when a part is not ready in time, and names it', async () => {
  const story: string[] = [];
  const { clock, over } = managerBench({
    servers: [part('server', story).runnable],
    caches: [part('fast', story).runnable, part('slow', story, { isReadyAtOnce: false }).runnable],
    startTimeoutMs: 5000,
  });
  await clock.advance(5000);
  await expect(over).rejects.toMatchObject({
    code: 'START_TIMEOUT',
    message: 'slow not ready within 5 s',
    remedy: expect.stringContaining('log'),
  });
  expect(story.filter(line => line.endsWith(' ends')).length).toBe(3);
});

test('can be stopped while it starts', async () => {
  const story: string[] = [];
  const { clock, stop, over } = managerBench({
    caches: [part('slow', story, { isReadyAtOnce: false }).runnable],
    others: [part('next', story).runnable],
  });
  await settle();
  stop.abort();
  await expect(over).resolves.toBeUndefined();
  expect([story, clock.sleepers()]).toEqual([['slow starts', 'slow is told', 'slow ends'], 0]);
});

test('one deadline holds for the whole stop; then it goes on, and names what still runs', async () => {
  const story: string[] = [];
  const stuck = (name: string) => part(name, story, { stopsAtOnce: false });
  const [cache, other] = [stuck('cache'), stuck('other')];
  const { clock, stop, over, messages } = managerBench({
    servers: [part('server', story).runnable],
    caches: [cache.runnable],
    others: [other.runnable],
    stopTimeoutMs: 10_000,
  });
  await settle();
  stop.abort();
  await clock.advance(4000);
  other.end();
  await clock.advance(5999);
  expect(story).not.toContain('server is told');
  await clock.advance(1);
  await expect(over).rejects.toMatchObject({
    code: 'STOP_TIMEOUT',
    message: 'cache still running 10 s after the request to stop',
  });
  expect([story.at(-1), messages('error'), clock.sleepers()]).toEqual(['server ends', ['Did not stop in time'], 0]);
});

test('a failure is not hidden by a part that does not stop', async () => {
  const story: string[] = [];
  const bad = part('bad', story);
  const { clock, over } = managerBench({
    others: [part('stuck', story, { stopsAtOnce: false }).runnable, bad.runnable],
  });
  await settle();
  bad.fail(boom);
  await clock.advance(30_000);
  await expect(over).rejects.toBe(boom);
});

test('leaves no listener on the signal it was given', async () => {
  const stop = new AbortController();
  const over = runManager({ others: [{ name: 'bad', run: () => Promise.reject(boom) }] }, stop.signal);
  await expect(over).rejects.toBe(boom);
  expect(getEventListeners(stop.signal, 'abort')).toEqual([]);
});

test('logs what it starts and stops', async () => {
  const story: string[] = [];
  const { stop, over, lines } = managerBench({ caches: [part('informers', story).runnable] });
  await settle();
  stop.abort();
  await over;
  expect(lines).toMatchObject([
    { level: 'info', message: 'Starting', fields: { group: 'caches', names: ['informers'] } },
    { level: 'info', message: 'Stopping', fields: { group: 'caches' } },
    { level: 'info', message: 'Ended', fields: { name: 'informers' } },
  ]);
});
