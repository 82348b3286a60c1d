import { expect, test } from 'vitest';
import { problems, row } from '../../../../test/kit/kind-checks.ts';
import { lease } from './small.ts';

const leases: [string, Record<string, unknown>, string[]][] = [
  ['nothing', {}, []],
  ['a holder', { holderIdentity: 'x', leaseDurationSeconds: 15, leaseTransitions: 0 }, []],
  ['no time', { leaseDurationSeconds: 0 }, ['spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0']],
  [
    'less than no time',
    { leaseDurationSeconds: -5 },
    ['spec.leaseDurationSeconds: Invalid value: -5: must be greater than 0'],
  ],
  [
    'fewer than no holders',
    { leaseTransitions: -1 },
    ['spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0'],
  ],
];
test.each(leases)('judges a Lease with %s', (_, spec, wanted) => expect(problems(lease, { spec })).toEqual(wanted));

test('shows who holds a Lease', () => {
  expect(row(lease, { spec: { holderIdentity: 'x' } })).toEqual({ Name: 'a', Holder: 'x', Age: '60s' });
  expect(row(lease, {})).toMatchObject({ Holder: '' });
});

test('PUT can create a Lease but needs a resourceVersion to replace one', () => {
  expect(lease).toMatchObject({ createsOnUpdate: true, updatesUnconditionally: false });
});
