import { expect, test } from 'vitest';
import { AppError } from '#base/errors.ts';
import type { InstanceObject } from '#cluster/windows-instances.ts';
import { manualClock, settle } from '../../../test/kit/manual-clock.ts';
import { recordedLog } from '../../../test/kit/recorded-log.ts';
import { HostNames, type HostNamesLimits } from './host-names.ts';

const host = (name: string, address = `${name}.example.com`): InstanceObject => ({
  metadata: { name, uid: `uid-${name}` },
  spec: { address },
});
const unreachable = new AppError('HOST_UNREACHABLE', 'no route', { remedy: 'plug it in' });

/** Hosts that answer when they are told to. */
function bench(limits: Partial<HostNamesLimits> = {}) {
  const clock = manualClock();
  const { log, lines } = recordedLog();
  const asked: string[] = [];
  const open = new Map<string, { resolve: (name: string) => void; reject: (error: unknown) => void }>();
  const fed: string[] = [];
  const names = new HostNames({
    ask: ({ metadata: { name = '' } }, _node, signal) => {
      asked.push(name);
      return new Promise((resolve, reject) => {
        open.set(name, { resolve, reject });
        signal.addEventListener('abort', () => reject(signal.reason));
      });
    },
    waiting: () => [
      { namespace: '', name: 'csr-1' },
      { namespace: '', name: 'csr-2' },
    ],
    clock,
    limits,
  });
  const start = () => names.start(({ name }) => void fed.push(name), log);
  const answer = async (name: string, with_: string | Error) => {
    if (typeof with_ === 'string') open.get(name)?.resolve(with_);
    else open.get(name)?.reject(with_);
    await settle();
  };
  const wonder = async (...instances: InstanceObject[]) => {
    for (const instance of instances) names.wonder(instance, undefined);
    await settle();
  };
  return { clock, lines, asked, fed, names, start, answer, wonder };
}

test('asks a host once and calls all who wait when it answers', async () => {
  const { asked, fed, names, start, answer, wonder } = bench();
  start();
  await wonder(host('a'), host('a'));
  await wonder(host('a'));
  expect(asked).toEqual(['a']);
  expect(names.known(host('a'))).toBeUndefined();
  expect(fed).toEqual([]);
  await answer('a', 'a.corp.local');
  expect(names.known(host('a'))).toBe('a.corp.local');
  expect(fed).toEqual(['csr-1', 'csr-2']);
  await wonder(host('a'));
  expect(asked).toEqual(['a']);
});

test('asks again when the answer has grown old', async () => {
  const { clock, asked, names, start, answer, wonder } = bench({ goodMs: 1000 });
  start();
  await wonder(host('a'));
  await answer('a', 'old');
  await clock.advance(999);
  expect(names.known(host('a'))).toBe('old');
  await clock.advance(1);
  expect(names.known(host('a'))).toBeUndefined();
  await wonder(host('a'));
  expect(asked).toEqual(['a', 'a']);
  await answer('a', 'new');
  expect(names.known(host('a'))).toBe('new');
});

test('leaves a host that gives no answer alone for a while, each time for longer', async () => {
  const { clock, asked, fed, lines, names, start, answer, wonder } = bench({ failedMs: 100, maxFailedMs: 250 });
  start();
  const pauses = [100, 200, 250, 250];
  for (const [index, pauseMs] of pauses.entries()) {
    await wonder(host('a'));
    expect(asked).toHaveLength(index + 1);
    await answer('a', unreachable);
    await clock.advance(pauseMs - 1);
    await wonder(host('a'));
    expect(asked).toHaveLength(index + 1);
    await clock.advance(1);
  }
  expect(names.known(host('a'))).toBeUndefined();
  expect(fed).toEqual([]);
  expect(lines.filter(({ level }) => level === 'info')[0]).toMatchObject({
    message: 'Host did not tell its name',
    fields: { address: 'a.example.com', why: 'HOST_UNREACHABLE', pauseMs: 100 },
  });
});

test('forgets earlier failures with the first answer', async () => {
  const { clock, asked, start, answer, wonder } = bench({ failedMs: 100, goodMs: 10 });
  start();
  for (const [with_, pauseMs] of [
    [unreachable, 100],
    [unreachable, 200],
    ['a', 10],
    [unreachable, 100],
  ] as const) {
    await wonder(host('a'));
    await answer('a', with_);
    await clock.advance(pauseMs);
  }
  await wonder(host('a'));
  expect(asked).toHaveLength(5);
});

test('one dead host delays no other', async () => {
  const { asked, names, start, answer, wonder } = bench();
  start();
  await wonder(...['dead', 'b', 'c'].map(name => host(name)));
  expect(asked).toEqual(['dead', 'b', 'c']);
  await answer('c', 'c');
  expect(names.known(host('c'))).toBe('c');
});

test('asks only so many at once, the others in turn', async () => {
  const { asked, start, answer, wonder } = bench({ atOnce: 2 });
  start();
  await wonder(...['a', 'b', 'c', 'd'].map(name => host(name)));
  expect(asked).toEqual(['a', 'b']);
  await answer('b', 'b');
  expect(asked).toEqual(['a', 'b', 'c']);
  await answer('a', unreachable);
  expect(asked).toEqual(['a', 'b', 'c', 'd']);
});

test('an instance that was made anew, or moved, is another host', async () => {
  const { asked, names, start, answer, wonder } = bench();
  start();
  await wonder(host('a'));
  await answer('a', 'first');
  const moved = host('a', '10.0.0.9');
  const anew = { ...host('a'), metadata: { name: 'a', uid: 'other' } };
  const otherPort = { ...host('a'), spec: { address: 'a.example.com', port: 2222 } };
  for (const instance of [moved, anew, otherPort]) expect(names.known(instance)).toBeUndefined();
  await wonder(moved, anew, otherPort);
  expect(asked).toHaveLength(4);
});

test('asks nobody before it is started and after it has ended, and gives up what is under way', async () => {
  const { clock, asked, fed, names, start, wonder } = bench({ atOnce: 1 });
  await wonder(host('a'));
  expect(asked).toEqual([]);
  const end = start();
  await wonder(host('a'), host('b'));
  expect(asked).toEqual(['a']);
  end();
  await settle();
  await wonder(host('c'));
  expect(asked).toEqual(['a']);
  expect(fed).toEqual([]);
  expect(clock.sleepers()).toBe(0);
  // Nothing is left that would keep a later start from asking.
  start();
  await wonder(host('a'));
  expect(asked).toEqual(['a', 'a']);
  expect(names.relist()).toEqual([]);
});

test('takes what somebody else has heard', async () => {
  const { asked, fed, names, start, wonder } = bench();
  start();
  names.learn(host('a'), 'a.corp.local');
  expect(names.known(host('a'))).toBe('a.corp.local');
  expect(fed).toEqual(['csr-1', 'csr-2']);
  await wonder(host('a'));
  expect(asked).toEqual([]);
});
