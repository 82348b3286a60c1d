import { expect, test } from 'vitest';
import { leaseBench } from '../../../test/kit/lease-bench.ts';
import { settle } from '../../../test/kit/manual-clock.ts';
import { refused } from '../../../test/kit/memory-api.ts';
import { leases } from '../resources.ts';
import { LeaseLeadership, type LeaseOptions } from './lease.ts';

const second = 1000;
const held = (...candidates: { leadership: LeaseLeadership }[]) => candidates.map(each => each.leadership.isHeld());
const signal = new AbortController().signal;

test('makes the lease where there is none, as client-go would', async () => {
  const { lease, candidate } = leaseBench();
  const a = candidate('a');
  await settle();
  expect(held(a)).toEqual([true]);
  expect(lease()).toMatchObject({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: 'lock', namespace: 'ns' },
    spec: {
      holderIdentity: 'a',
      leaseDurationSeconds: 15,
      acquireTime: '2026-03-01T12:00:00.000000Z',
      renewTime: '2026-03-01T12:00:00.000000Z',
      leaseTransitions: 0,
    },
  });
  expect(a.leadership.transitions).toBe(0);
});

test('renews every two seconds, with one call each', async () => {
  const { clock, api, spec, candidate } = leaseBench();
  candidate('a');
  await settle();
  api.calls.length = 0;
  const times: (string | undefined)[] = [];
  for (let turn = 0; turn < 3; turn += 1) {
    await clock.advance(2 * second);
    times.push(spec().renewTime);
  }
  expect(times).toEqual(['02', '04', '06'].map(text => `2026-03-01T12:00:${text}.000000Z`));
  expect(spec()).toMatchObject({ acquireTime: '2026-03-01T12:00:00.000000Z', leaseTransitions: 0 });
  expect(api.calls.map(call => call.verb)).toEqual(['replace', 'replace', 'replace']);
});

test('keeps what others wrote into the lease', async () => {
  const { clock, api, lease, candidate } = leaseBench();
  candidate('a');
  await settle();
  const current = lease();
  if (current !== undefined) api.put(leases, { ...current, metadata: { ...current.metadata, labels: { x: 'y' } } });
  await clock.advance(4 * second);
  expect(lease()?.metadata.labels).toEqual({ x: 'y' });
});

test('a second candidate waits as long as the first renews', async () => {
  const { clock, candidate } = leaseBench();
  const a = candidate('a');
  await settle();
  const b = candidate('b');
  await clock.advance(3600 * second);
  expect([held(a, b), a.losses, b.losses]).toEqual([[true, false], [], []]);
});

test('two candidates at the same moment: one leads', async () => {
  const { candidate } = leaseBench();
  const both = [candidate('a'), candidate('b')];
  await settle();
  expect(held(...both).filter(Boolean).length).toBe(1);
});

test('takes over when the holder is silent for the whole lease, not before', async () => {
  const { clock, api, spec, candidate } = leaseBench();
  api.put(leases, {
    metadata: { name: 'lock', namespace: 'ns' },
    spec: { holderIdentity: 'dead', leaseDurationSeconds: 15, renewTime: '1970-01-01T00:00:00Z', leaseTransitions: 7 },
  });
  const b = candidate('b');
  await clock.advance(15 * second - 1);
  expect(held(b)).toEqual([false]);
  await clock.advance(1);
  expect([held(b), b.leadership.transitions]).toEqual([[true], 8]);
  expect(spec()).toMatchObject({
    holderIdentity: 'b',
    leaseTransitions: 8,
    acquireTime: '2026-03-01T12:00:15.000000Z',
  });
  expect(b.log.lines).toMatchObject([{ level: 'info', fields: { lease: 'Lease ns/lock', holder: 'dead' } }]);
});

test('takes over within the lease and one retry after the holder died', async () => {
  const { clock, candidate } = leaseBench();
  const a = candidate('a');
  await settle();
  const b = candidate('b', { random: () => 1 });
  await clock.advance(61 * second);
  a.stop.abort();
  await a.leadership.release('let expire', signal);
  await clock.advance(17.4 * second);
  expect(held(a, b)).toEqual([false, true]);
});

test('believes the lease about its length', async () => {
  const { clock, candidate } = leaseBench();
  const a = candidate('a', { leaseDurationMs: 60 * second, renewDeadlineMs: 40 * second });
  await settle();
  const b = candidate('b');
  await a.leadership.release('let expire', signal);
  await clock.advance(59 * second);
  expect(held(b)).toEqual([false]);
  await clock.advance(second);
  expect(held(b)).toEqual([true]);
});

for (const [what, jumpMs] of [['forward', 86_400_000] as const, ['back', -86_400_000] as const]) {
  test(`a jump of the wall clock ${what} changes nothing`, async () => {
    const { clock, candidate } = leaseBench();
    const a = candidate('a');
    await settle();
    const b = candidate('b');
    await clock.advance(5 * second);
    clock.jump(jumpMs);
    await clock.advance(60 * second);
    expect([held(a, b), a.losses]).toEqual([[true, false], []]);
  });
}

test('a holder that was freed is followed at the next retry', async () => {
  const { clock, spec, candidate } = leaseBench();
  const a = candidate('a');
  await settle();
  const b = candidate('b');
  await clock.advance(10 * second);
  await a.leadership.release('free', signal);
  expect(spec()).toEqual({
    holderIdentity: '',
    leaseDurationSeconds: 1,
    acquireTime: '2026-03-01T12:00:10.000000Z',
    renewTime: '2026-03-01T12:00:10.000000Z',
    leaseTransitions: 0,
  });
  expect(held(a, b)).toEqual([false, false]);
  await clock.advance(2 * second);
  expect([held(a, b), spec().leaseTransitions, a.losses]).toEqual([[false, true], 1, []]);
});

test('release with `let expire` does not change the lease', async () => {
  const { clock, spec, candidate } = leaseBench();
  const a = candidate('a');
  await settle();
  const before = spec();
  await a.leadership.release('let expire', signal);
  await clock.advance(60 * second);
  expect([spec(), held(a), a.losses, clock.sleepers()]).toEqual([before, [false], [], 0]);
});

test('frees a lease whose label a user changed', async () => {
  const { api, lease, spec, candidate } = leaseBench();
  const a = candidate('a');
  await settle();
  api.put(leases, { ...lease(), metadata: { name: 'lock', namespace: 'ns', labels: { x: 'y' } } });
  await a.leadership.release('free', signal);
  expect(spec().holderIdentity).toBe('');
});

test('release does not free the lease of another process', async () => {
  const { api, lease, spec, candidate } = leaseBench();
  const a = candidate('a');
  await settle();
  api.put(leases, {
    ...lease(),
    metadata: { name: 'lock', namespace: 'ns' },
    spec: { holderIdentity: 'b', leaseTransitions: 1 },
  });
  await a.leadership.release('free', signal);
  expect(spec().holderIdentity).toBe('b');
  api.remove(leases, 'lock', 'ns');
  const c = candidate('c');
  await settle();
  api.remove(leases, 'lock', 'ns');
  await c.leadership.release('free', signal);
  expect(lease()).toBeUndefined();
});

test('release fails with the error of the server', async () => {
  const { candidate } = leaseBench();
  const a = candidate('a');
  await settle();
  a.road.before = () => Promise.reject(refused(500, 'InternalError'));
  await expect(a.leadership.release('free', signal)).rejects.toMatchObject({ code: 500 });
});

test('release without a lease has no effect', async () => {
  const { api, candidate } = leaseBench();
  const a = candidate('a');
  await settle();
  await a.leadership.release('free', signal);
  api.calls.length = 0;
  await a.leadership.release('free', signal);
  expect(api.calls).toEqual([]);
});

test('can lead again after it has released', async () => {
  const { clock, candidate } = leaseBench();
  const a = candidate('a');
  await settle();
  await a.leadership.release('free', signal);
  const again = a.leadership.acquire(() => undefined, signal);
  await clock.advance(2 * second);
  await again;
  expect([held(a), a.leadership.transitions]).toEqual([[true], 1]);
});

test('can be stopped while it waits, and leaves no timer', async () => {
  const { clock, candidate } = leaseBench();
  candidate('a');
  await settle();
  const b = candidate('b');
  await clock.advance(3 * second);
  const before = clock.sleepers();
  b.stop.abort(new Error('the operator ends'));
  await expect(b.acquired).rejects.toThrow('the operator ends');
  expect(clock.sleepers()).toBe(before - 1);
});

test('sends no request when the signal is aborted already', async () => {
  const { api, candidate } = leaseBench();
  const a = candidate('a').leadership;
  await settle();
  api.calls.length = 0;
  await expect(a.acquire(() => undefined, AbortSignal.abort(new Error('over')))).rejects.toThrow('over');
  expect(api.calls).toEqual([]);
});

test('acquire retries while the server fails', async () => {
  const { clock, candidate } = leaseBench();
  const a = candidate('a');
  a.road.before = () => Promise.reject(refused(403, 'Forbidden'));
  await clock.advance(7 * second);
  expect(a.log.messages('warn').length).toBe(4);
  a.road.before = () => undefined;
  await clock.advance(2 * second);
  expect(held(a)).toEqual([true]);
});

test('a candidate that is a moment too late does not complain', async () => {
  const { clock, api, candidate } = leaseBench();
  const a = candidate('a');
  a.road.before = ({ verb }) => {
    const spec = { holderIdentity: 'fast', leaseDurationSeconds: 15 };
    if (verb === 'create') api.put(leases, { metadata: { name: 'lock', namespace: 'ns' }, spec });
  };
  await clock.advance(5 * second);
  expect([held(a), a.log.messages('warn')]).toEqual([[false], []]);
});

test('a lease with our own name that we did not take is the lease of another', async () => {
  const { clock, api, candidate } = leaseBench();
  const spec = { holderIdentity: 'a', leaseDurationSeconds: 15, leaseTransitions: 3 };
  api.put(leases, { metadata: { name: 'lock', namespace: 'ns' }, spec });
  const a = candidate('a');
  await clock.advance(14 * second);
  expect(held(a)).toEqual([false]);
  await clock.advance(second);
  expect([held(a), a.leadership.transitions]).toEqual([[true], 4]);
});

const badTimes: [string, Partial<LeaseOptions>][] = [
  ['a lease as long as the deadline', { leaseDurationMs: 10_000 }],
  ['a deadline of one retry', { renewDeadlineMs: 2000 }],
  ['a deadline hardly above the retry', { renewDeadlineMs: 2400 }],
  ['no retry at all', { retryPeriodMs: 0 }],
  ['a time that is no number', { leaseDurationMs: Number.NaN }],
];
for (const [name, options] of badTimes) {
  test(`rejects ${name}`, () => {
    const { api } = leaseBench();
    const make = () => new LeaseLeadership({ client: api, namespace: 'ns', name: 'lock', identity: 'a', ...options });
    expect(make).toThrow(
      expect.objectContaining({ code: 'SETTING_INVALID', message: expect.stringContaining('ns/lock') }),
    );
  });
}
