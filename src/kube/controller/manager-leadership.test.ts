import { expect, test } from 'vitest';
import { leadershipIn, managerBench, part } from '../../../test/kit/manager-bench.ts';
import { settle } from '../../../test/kit/manual-clock.ts';
import type { Leadership } from './manager.ts';

const boom = new Error('boom');

test('a standby does not run leader-only parts', async () => {
  const story: string[] = [];
  const { stop, over } = managerBench({
    others: [part('events', story).runnable],
    leaderOnly: [part('controller', story).runnable],
    leadership: leadershipIn(story, 'never').leadership,
  });
  await settle();
  expect(story).toEqual(['events starts', 'events is ready', 'lease wanted']);
  stop.abort();
  await expect(over).resolves.toBeUndefined();
  expect(story.slice(3)).toEqual(['events is told', 'events ends']);
});

test('fails when leadership cannot be had at all', async () => {
  const story: string[] = [];
  const leadership: Leadership = { acquire: () => Promise.reject(boom), release: () => Promise.resolve() };
  const { over } = managerBench({ leadership, leaderOnly: [part('controller', story).runnable] });
  await expect(over).rejects.toBe(boom);
  expect(story).toEqual([]);
});

test('a lost leadership stops everything and does not free the lease', async () => {
  const story: string[] = [];
  const { leadership, lose } = leadershipIn(story);
  const { over } = managerBench({
    servers: [part('server', story).runnable],
    leaderOnly: [part('controller', story).runnable],
    leadership,
  });
  await settle();
  lose(boom);
  await expect(over).rejects.toBe(boom);
  expect(story.slice(-5)).toEqual([
    'controller is told',
    'controller ends',
    'server is told',
    'server ends',
    'lease: let expire',
  ]);
});

test('after the loss there is less time to stop', async () => {
  const story: string[] = [];
  const { leadership, lose } = leadershipIn(story);
  const stuck = part('stuck', story, { stopsAtOnce: false });
  const { clock, over } = managerBench({ leaderOnly: [stuck.runnable], leadership, lossTimeoutMs: 3000 });
  await settle();
  lose(boom);
  await clock.advance(3000);
  await expect(over).rejects.toBe(boom);
});

test('the lease is not freed while a part that leads still runs', async () => {
  const story: string[] = [];
  const { leadership } = leadershipIn(story);
  const stuck = part('stuck', story, { stopsAtOnce: false });
  const { clock, stop, over } = managerBench({ leaderOnly: [stuck.runnable], leadership, stopTimeoutMs: 1000 });
  await settle();
  stop.abort();
  await clock.advance(1000);
  await expect(over).rejects.toMatchObject({ code: 'STOP_TIMEOUT' });
  expect(story.at(-1)).toBe('lease: let expire');
});

test('the lease is freed although another part still runs', async () => {
  const story: string[] = [];
  const stuck = part('stuck', story, { stopsAtOnce: false });
  const { clock, stop, over } = managerBench({ servers: [stuck.runnable], leadership: leadershipIn(story).leadership });
  await settle();
  stop.abort();
  await clock.advance(30_000);
  await expect(over).rejects.toMatchObject({ code: 'STOP_TIMEOUT' });
  expect(story.at(-1)).toBe('lease: free');
});

test('a lease that cannot be released is reported and does not hold up the end', async () => {
  const failing: Leadership = { acquire: async () => undefined, release: () => Promise.reject(boom) };
  const first = managerBench({ leadership: failing });
  await settle();
  first.stop.abort();
  await expect(first.over).resolves.toBeUndefined();
  expect(first.messages('warn')).toEqual(['Releasing the lease failed; it expires by itself']);
  const hanging: Leadership = { acquire: async () => undefined, release: () => new Promise(() => undefined) };
  const second = managerBench({ leadership: hanging, stopTimeoutMs: 2000 });
  await settle();
  second.stop.abort();
  await second.clock.advance(2000);
  await expect(second.over).resolves.toBeUndefined();
});
