import { expect, test } from 'vitest';
import { manualClock, settle } from '../../../test/kit/manual-clock.ts';
import { MemoryApi, refused } from '../../../test/kit/memory-api.ts';
import { recordedLog } from '../../../test/kit/recorded-log.ts';
import type { Leadership } from '../controller/manager.ts';
import type { OwnerReference } from '../resource.ts';
import { configMaps, type Pod, pods } from '../resources.ts';
import { afterLegacyLock, LegacyLock, type LegacyLockOptions } from './legacy-lock.ts';

const second = 1000;
const mark = 'example.com/lease';
const ownerPod = (name: string, uid = `uid-of-${name}`): OwnerReference => ({
  apiVersion: 'v1',
  kind: 'Pod',
  name,
  uid,
});
const pod = (name: string, status?: Pod['status'], uid = `uid-of-${name}`): Pod => ({
  metadata: { name, namespace: 'ns', uid },
  ...(status && { status }),
});

function bench(options: Partial<LegacyLockOptions> = {}) {
  const clock = manualClock();
  const api = new MemoryApi();
  const { log, lines, messages } = recordedLog();
  const own = { name: 'new', uid: 'uid-of-new' };
  const common = { client: api, namespace: 'ns', name: 'lock', mark, clock, random: () => 0, log };
  const lock = new LegacyLock({ ...common, pod: own, ...options });
  const current = () => api.peek(configMaps, 'lock', 'ns');
  const owners = () => current()?.metadata.ownerReferences?.map(owner => owner.name);
  const putLock = (ownerReferences?: OwnerReference[], annotations = {}) =>
    api.put(configMaps, {
      metadata: { name: 'lock', namespace: 'ns', annotations, ...(ownerReferences && { ownerReferences }) },
    });
  const stop = new AbortController();
  const state = { isTaken: false };
  const take = async () => {
    const taking = lock.take(stop.signal).then(() => (state.isTaken = true));
    taking.catch(() => undefined);
    await settle();
    return { taking };
  };
  return { clock, api, lock, lines, messages, current, owners, putLock, stop, state, take };
}

test('takes the lock where there is none, owned by our pod and marked as ours', async () => {
  const { current, state, take } = bench();
  await take();
  expect(state.isTaken).toBe(true);
  expect(current()).toMatchObject({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: 'lock',
      namespace: 'ns',
      annotations: { [mark]: 'new' },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'new', uid: 'uid-of-new' }],
    },
  });
});

const waiting: [string, OwnerReference[], Pod[]][] = [
  ['runs', [ownerPod('old')], [pod('old', { phase: 'Running' })]],
  ['is pending', [ownerPod('old')], [pod('old', { phase: 'Pending' })]],
  ['says nothing of its phase', [ownerPod('old')], [pod('old')]],
  ['cannot be reached', [ownerPod('old')], [pod('old', { phase: 'Unknown' })]],
  ['is one of two', [ownerPod('gone'), ownerPod('old')], [pod('old', { phase: 'Running' })]],
  ['is no pod', [{ ...ownerPod('old'), kind: 'Deployment' }], []],
];
for (const [name, owners, present] of waiting) {
  test(`waits while the owner ${name}`, async () => {
    const { clock, api, putLock, state, take, lines } = bench();
    putLock(owners);
    for (const each of present) api.put(pods, each);
    await take();
    await clock.advance(600 * second);
    expect(state.isTaken).toBe(false);
    expect(lines[0]).toMatchObject({
      level: 'info',
      fields: { lock: 'ConfigMap ns/lock', owner: owners.at(-1)?.name },
    });
  });
}

test('waits while the owner is being deleted, until it is gone', async () => {
  const { clock, api, putLock, state, owners, take } = bench();
  putLock([ownerPod('old')]);
  const leaving = pod('old', { phase: 'Running' });
  api.put(pods, { ...leaving, metadata: { ...leaving.metadata, deletionTimestamp: '2026-03-01T12:00:00Z' } });
  await take();
  await clock.advance(60 * second);
  expect(state.isTaken).toBe(false);
  api.remove(pods, 'old', 'ns');
  await clock.advance(16 * second);
  expect([state.isTaken, owners()]).toEqual([true, ['new']]);
});

const free: [string, OwnerReference[] | undefined, Pod[], Record<string, string>][] = [
  ['whose owner is gone', [ownerPod('old')], [], {}],
  ['whose owner came back as another pod', [ownerPod('old')], [pod('old', { phase: 'Running' }, 'other-uid')], {}],
  ['whose owner was evicted', [ownerPod('old')], [pod('old', { phase: 'Failed', reason: 'Evicted' })], {}],
  ['whose owner has finished', [ownerPod('old')], [pod('old', { phase: 'Succeeded' })], {}],
  ['without owners', undefined, [], {}],
  ['with an empty list of owners', [], [], {}],
  ['that our own pod left behind', [ownerPod('new')], [pod('new', { phase: 'Running' })], {}],
  [
    'of another pod of our generation, which lives',
    [ownerPod('twin')],
    [pod('twin', { phase: 'Running' })],
    { [mark]: 'twin' },
  ],
];
for (const [name, owners, present, annotations] of free) {
  test(`takes a lock ${name}`, async () => {
    const { api, putLock, state, owners: after, take } = bench();
    putLock(owners, annotations);
    for (const each of present) api.put(pods, each);
    await take();
    expect([state.isTaken, after()]).toEqual([true, ['new']]);
  });
}

test('makes a lock again instead of taking it over, since it may be about to be collected', async () => {
  const { putLock, current, take } = bench();
  const before = putLock([ownerPod('old')]);
  await take();
  expect(current()?.metadata.uid).not.toBe(before.metadata.uid);
});

test('keeps the lock that our own pod has already', async () => {
  const { putLock, current, take } = bench();
  const before = putLock([ownerPod('new')]);
  await take();
  expect(current()?.metadata.uid).toBe(before.metadata.uid);
});

test('retries after 1, 2, 4, 8, 16 and then every 16 seconds', async () => {
  const { clock, api, putLock, take } = bench();
  putLock([ownerPod('old')]);
  api.put(pods, pod('old'));
  const looks: number[] = [];
  api.before = call => {
    if (call.resource === 'configmaps') looks.push(clock.monotonicMs() / second);
  };
  await take();
  await clock.advance(64 * second);
  expect(looks).toEqual([0, 1, 3, 7, 15, 31, 47, 63]);
});

test('waits a fifth longer at most, at random', async () => {
  const { clock, api, putLock, take } = bench({ random: () => 1 });
  putLock([ownerPod('old')]);
  api.put(pods, pod('old'));
  await take();
  api.calls.length = 0;
  await clock.advance(1199);
  expect(api.calls).toEqual([]);
  await clock.advance(1);
  expect(api.calls.length).toBe(2);
});

test('a user who is faster is waited for', async () => {
  const { clock, api, putLock, owners, state, take, messages } = bench();
  api.put(pods, pod('fast', { phase: 'Running' }));
  api.before = call => {
    if (call.verb === 'create') putLock([ownerPod('fast')]);
  };
  await take();
  api.before = () => undefined;
  await clock.advance(30 * second);
  expect([state.isTaken, owners(), messages('warn')]).toEqual([false, ['fast'], []]);
});

const quiet: [string, number, string][] = [
  ['gone when it is deleted', 404, 'NotFound'],
  ['changed when it is deleted', 409, 'Conflict'],
];
for (const [name, code, reason] of quiet) {
  test(`a lock that is ${name} is looked at again`, async () => {
    const { clock, api, putLock, state, owners, take, messages } = bench();
    putLock([ownerPod('old')]);
    api.before = call => {
      if (call.verb === 'delete') throw refused(code, reason);
    };
    await take();
    expect(state.isTaken).toBe(false);
    api.before = () => undefined;
    await clock.advance(2 * second);
    expect([state.isTaken, owners(), messages('warn')]).toEqual([true, ['new'], []]);
  });
}

const troubles: [string, string][] = [
  ['the lock cannot be read', 'configmaps'],
  ['the owner cannot be read', 'pods'],
];
for (const [name, resource] of troubles) {
  test(`does not lead while ${name},`, async () => {
    const { clock, api, putLock, state, take, lines } = bench();
    putLock([ownerPod('old')]);
    api.before = call => {
      if (call.resource === resource) throw refused(403, 'Forbidden');
    };
    await take();
    await clock.advance(5 * second);
    expect(state.isTaken).toBe(false);
    expect(lines[0]).toMatchObject({ level: 'warn', fields: { lock: 'ConfigMap ns/lock', error: { code: 403 } } });
    api.before = () => undefined;
    await clock.advance(16 * second);
    expect(state.isTaken).toBe(true);
  });
}

test('can be stopped while it waits, and leaves no timer', async () => {
  const { clock, api, putLock, stop, take } = bench();
  putLock([ownerPod('old')]);
  api.put(pods, pod('old'));
  const { taking } = await take();
  stop.abort(new Error('the operator ends'));
  await expect(taking).rejects.toThrow('the operator ends');
  expect(clock.sleepers()).toBe(0);
});

test('without a pod it waits and does not take the lock', async () => {
  const { clock, api, putLock, owners, state, take, lock } = bench({ pod: undefined as never });
  putLock([ownerPod('old')]);
  api.put(pods, pod('old'));
  await take();
  await clock.advance(5 * second);
  expect(state.isTaken).toBe(false);
  api.remove(pods, 'old', 'ns');
  await clock.advance(16 * second);
  await lock.release(new AbortController().signal);
  expect([state.isTaken, owners()]).toEqual([true, ['old']]);
  expect(new Set(api.calls.map(call => call.verb))).toEqual(new Set(['get']));
});

test('gives the lock back', async () => {
  const { current, take, lock } = bench();
  await take();
  await lock.release(new AbortController().signal);
  expect(current()).toBeUndefined();
});

test('does not release a lock of another process', async () => {
  const { putLock, owners, take, lock } = bench();
  await take();
  putLock([ownerPod('old')]);
  await lock.release(new AbortController().signal);
  expect(owners()).toEqual(['old']);
});

test('gives back what it holds, once', async () => {
  const { api, take, lock } = bench();
  await lock.release(new AbortController().signal);
  expect(api.calls).toEqual([]);
  await take();
  await lock.release(new AbortController().signal);
  api.calls.length = 0;
  await lock.release(new AbortController().signal);
  expect(api.calls).toEqual([]);
});

test('a lock that cannot be given back is an error', async () => {
  const { api, take, lock } = bench();
  await take();
  api.before = () => Promise.reject(refused(500, 'InternalError'));
  await expect(lock.release(new AbortController().signal)).rejects.toMatchObject({ code: 500 });
});

/** A lease that is had at once, and tells what is done to it. */
function leaseIn(story: string[]) {
  let lose: (why: Error) => void = () => undefined;
  const leadership: Leadership = {
    acquire: async onLost => {
      story.push('lease');
      lose = onLost;
    },
    release: async how => void story.push(how),
  };
  return { leadership, lose: (why: Error) => lose(why) };
}

test('both together: first the lease, then the lock; given back the other way round', async () => {
  const story: string[] = [];
  const { api, lock, current } = bench();
  api.before = call => void story.push(call.verb);
  const both = afterLegacyLock(leaseIn(story).leadership, lock);
  await both.acquire(() => undefined, new AbortController().signal);
  expect(current()).toBeDefined();
  await both.release('free', new AbortController().signal);
  expect([story, current()]).toEqual([['lease', 'get', 'create', 'delete', 'free'], undefined]);
});

test('both together: a lease that expires leaves the lock where it is', async () => {
  const story: string[] = [];
  const { lock, current } = bench();
  const both = afterLegacyLock(leaseIn(story).leadership, lock);
  await both.acquire(() => undefined, new AbortController().signal);
  await both.release('let expire', new AbortController().signal);
  expect([story.at(-1), current() !== undefined]).toEqual(['let expire', true]);
});

test('both together: the lease is released although the lock cannot be', async () => {
  const story: string[] = [];
  const { api, lock } = bench();
  const both = afterLegacyLock(leaseIn(story).leadership, lock);
  await both.acquire(() => undefined, new AbortController().signal);
  api.before = () => Promise.reject(refused(500, 'InternalError'));
  await expect(both.release('free', new AbortController().signal)).rejects.toMatchObject({ code: 500 });
  expect(story.at(-1)).toBe('free');
});

const ends: [string, (stop: AbortController, lose: (why: Error) => void) => void][] = [
  ['the stop', stop => stop.abort(new Error('over'))],
  ['the loss of the lease', (_, lose) => lose(new Error('over'))],
];
for (const [name, end] of ends) {
  test(`both together: ${name} ends the wait for the lock, and frees the lease`, async () => {
    const [story, losses] = [[] as string[], [] as Error[]];
    const { clock, api, lock, putLock, stop } = bench();
    putLock([ownerPod('old')]);
    api.put(pods, pod('old'));
    const { leadership, lose } = leaseIn(story);
    const acquiring = afterLegacyLock(leadership, lock).acquire(why => losses.push(why), stop.signal);
    acquiring.catch(() => undefined);
    await settle();
    end(stop, lose);
    await expect(acquiring).rejects.toThrow('over');
    expect([story, clock.sleepers()]).toEqual([['lease', 'free'], 0]);
    expect(losses.length).toBe(name === 'the stop' ? 0 : 1);
  });
}
