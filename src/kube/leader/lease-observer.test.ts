import { expect, test } from 'vitest';
import { manualClock } from '../../../test/kit/manual-clock.ts';
import type { Lease } from '../resources.ts';
import { LeaseObserver } from './lease-observer.ts';

const lease = (spec: Lease['spec'], metadata = {}): Lease => ({ metadata, ...(spec && { spec }) });
const held = { holderIdentity: 'a', leaseDurationSeconds: 15, renewTime: '1' };

function bench() {
  const clock = manualClock();
  return { clock, observer: new LeaseObserver(clock, 20_000) };
}

const first: [string, Lease | undefined, number][] = [
  ['no lease', undefined, 0],
  ['a lease without a spec', lease(undefined), 0],
  ['a lease nobody holds', lease({ holderIdentity: '', leaseDurationSeconds: 1 }), 0],
  ['a lease without a holder', lease({ leaseDurationSeconds: 15 }), 0],
  ['a lease that is held', lease(held), 15_000],
  ['a lease of another length', lease({ ...held, leaseDurationSeconds: 60 }), 60_000],
  ['a lease that says no length', lease({ holderIdentity: 'a' }), 20_000],
  ['a lease of no length', lease({ holderIdentity: 'a', leaseDurationSeconds: 0 }), 20_000],
  ['a lease of negative length', lease({ holderIdentity: 'a', leaseDurationSeconds: -5 }), 20_000],
  ['a lease renewed long ago by its own words', lease({ ...held, renewTime: '1970-01-01T00:00:00Z' }), 15_000],
  ['a lease renewed in the future by its own words', lease({ ...held, renewTime: '2970-01-01T00:00:00Z' }), 15_000],
];
for (const [name, seen, leftMs] of first) {
  test(`${name}, seen for the first time, is left for ${leftMs} ms`, () => {
    const { observer } = bench();
    observer.note(seen);
    expect(observer.leftMs()).toBe(leftMs);
  });
}

test('a lease that was never observed is free', () => {
  const { observer } = bench();
  expect([observer.leftMs(), observer.holder]).toEqual([0, '']);
});

test('runs out while it does not change', async () => {
  const { clock, observer } = bench();
  observer.note(lease(held));
  await clock.advance(14_999);
  observer.note(lease(held));
  expect(observer.leftMs()).toBe(1);
  await clock.advance(1);
  expect(observer.leftMs()).toBe(0);
});

test('each change begins its time again', async () => {
  const { clock, observer } = bench();
  observer.note(lease(held));
  await clock.advance(14_000);
  observer.note(lease({ ...held, renewTime: '2' }));
  expect(observer.leftMs()).toBe(15_000);
});

test('a changed label is not a renewal', async () => {
  const { clock, observer } = bench();
  observer.note(lease(held));
  await clock.advance(10_000);
  observer.note(lease(held, { resourceVersion: '9', labels: { x: 'y' } }));
  expect(observer.leftMs()).toBe(5000);
});

test('a deleted lease still runs for its holder', async () => {
  const { clock, observer } = bench();
  observer.note(lease(held));
  await clock.advance(5000);
  observer.note(undefined);
  expect([observer.leftMs(), observer.holder]).toEqual([10_000, 'a']);
});

test('knows the holder, and that there is none any more', () => {
  const { observer } = bench();
  const holders = [held, { ...held, holderIdentity: 'b' }, { ...held, holderIdentity: '' }].map(spec => {
    observer.note(lease(spec));
    return observer.holder;
  });
  expect(holders).toEqual(['a', 'b', '']);
});

test('a jump of the wall clock does not matter', async () => {
  const { clock, observer } = bench();
  observer.note(lease(held));
  clock.jump(86_400_000);
  expect(observer.leftMs()).toBe(15_000);
  clock.jump(-172_800_000);
  await clock.advance(1000);
  expect(observer.leftMs()).toBe(14_000);
});
