import { expect, test } from 'vitest';
import { manualClock, settle } from '../../test/kit/manual-clock.ts';
import type { Connect, HostConnection } from './host.ts';
import { paceConnects } from './pace-connects.ts';

const target = (address: string) => ({ address, username: 'u', privateKeys: [], pinnedKey: undefined });

/** Connections that take as long as the test wants, and who has begun one. */
function bench(everyMs = 10) {
  const clock = manualClock();
  const begun: string[] = [];
  const seen: unknown[] = [];
  const connect: Connect = async (to, options) => {
    begun.push(to.address);
    seen.push(options);
    if (to.address === 'dead') return new Promise(() => undefined);
    if (to.address === 'refused') throw new Error('refused');
    return { facts: { address: to.address } } as unknown as HostConnection;
  };
  return { clock, begun, seen, connect: paceConnects(connect, everyMs, clock) };
}

test('the first connection starts at once, the others at intervals', async () => {
  const { clock, begun, connect } = bench();
  const all = Promise.all(['a', 'b', 'c'].map(address => connect(target(address))));
  await settle();
  expect(begun).toEqual(['a']);
  await clock.advance(9);
  expect(begun).toEqual(['a']);
  await clock.advance(1);
  expect(begun).toEqual(['a', 'b']);
  await clock.advance(10);
  expect(begun).toEqual(['a', 'b', 'c']);
  expect((await all).map(({ facts }) => facts.address)).toEqual(['a', 'b', 'c']);
});

test('a host that fails or does not answer delays no other', async () => {
  const { clock, begun, connect } = bench();
  void connect(target('dead'));
  const refused = connect(target('refused'));
  const good = connect(target('good'));
  refused.catch(() => undefined);
  await clock.advance(20);
  expect(begun).toEqual(['dead', 'refused', 'good']);
  await expect(refused).rejects.toThrow('refused');
  expect((await good).facts.address).toBe('good');
});

test('a connection after a pause starts at once', async () => {
  const { clock, begun, connect } = bench();
  await connect(target('a'));
  await clock.advance(1000);
  expect(clock.sleepers()).toBe(0);
  await connect(target('b'));
  expect(begun).toEqual(['a', 'b']);
});

test('an aborted connection does not start, and the next one does', async () => {
  const { clock, begun, connect } = bench();
  const stop = new AbortController();
  await connect(target('a'));
  const given = connect(target('b'), { signal: stop.signal });
  given.catch(() => undefined);
  const next = connect(target('c'));
  stop.abort(new Error('enough'));
  await clock.advance(20);
  await expect(given).rejects.toThrow('enough');
  await next;
  expect(begun).toEqual(['a', 'c']);
});

test('passes on target and options', async () => {
  const { seen, connect } = bench();
  await connect(target('a'), { dialTimeoutMs: 5 });
  expect(seen).toEqual([{ dialTimeoutMs: 5 }]);
});

test('two hundred connections start in order', async () => {
  const { clock, begun, connect } = bench(5);
  const names = Array.from({ length: 200 }, (_, index) => `win-${index}`);
  const all = Promise.all(names.map(name => connect(target(name))));
  await clock.advance(199 * 5);
  await all;
  expect(begun).toEqual(names);
});
