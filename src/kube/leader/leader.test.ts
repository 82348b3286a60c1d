import { expect, test } from 'vitest';
import { leaseBench } from '../../../test/kit/lease-bench.ts';
import { settle } from '../../../test/kit/manual-clock.ts';
import { refused } from '../../../test/kit/memory-api.ts';
import { leases } from '../resources.ts';

const { signal } = new AbortController();

test('a term is the UID of the Lease and its count, and stays that of the last leadership', async () => {
  const { clock, lease, candidate } = leaseBench();
  const a = candidate('a');
  expect(a.leadership.term()).toBeUndefined();
  await settle();
  const uid = lease()?.metadata.uid ?? 'missing';
  expect([a.leadership.term(), await a.leadership.isCurrent(signal)]).toEqual([`${uid}.0`, true]);
  await a.leadership.release('free', signal);
  const b = candidate('b');
  await clock.advance(2000);
  expect([a.leadership.term(), b.leadership.term()]).toEqual([`${uid}.0`, `${uid}.1`]);
  expect([await a.leadership.isCurrent(signal), await b.leadership.isCurrent(signal)]).toEqual([false, true]);
});

test('one that was replaced without a notice finds out when it asks', async () => {
  const { api, spec, lease, candidate } = leaseBench();
  const a = candidate('a');
  await settle();
  api.put(leases, {
    ...lease(),
    metadata: { name: 'lock', namespace: 'ns' },
    spec: { ...spec(), holderIdentity: 'b' },
  });
  expect([a.leadership.isHeld(), await a.leadership.isCurrent(signal)]).toEqual([true, false]);
});

test('one that cannot read the Lease does not claim to lead', async () => {
  const { candidate } = leaseBench();
  const a = candidate('a');
  await settle();
  a.road.before = () => {
    throw refused(503, 'Unavailable');
  };
  expect(await a.leadership.isCurrent(signal)).toBe(false);
});

test('a Lease that is created again counts as another one', async () => {
  const { clock, api, lease, candidate } = leaseBench();
  const a = candidate('a');
  await settle();
  const before = a.leadership.term();
  api.remove(leases, 'lock', 'ns');
  await clock.advance(2000);
  expect(a.leadership.term()).toBe(`${lease()?.metadata.uid}.0`);
  expect(a.leadership.term()).not.toBe(before);
});
