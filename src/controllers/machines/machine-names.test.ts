import { expect, test } from 'vitest';
import { machineLabel, namespaceName } from '#contract/names.ts';
import { type Machine, machines } from '#kube/resources-openshift.ts';
import { manualClock } from '../../../test/kit/manual-clock.ts';
import { WatchedApi } from '../../../test/kit/watched-api.ts';
import { machineNames } from './observe.ts';

const machine = (status: unknown): Machine =>
  ({
    metadata: { name: 'm-1', namespace: namespaceName.machineApi, labels: { [machineLabel.osId]: 'Windows' } },
    status,
  }) as Machine;

const cases: [string, unknown, string[]][] = [
  [
    'the names that the cloud reports, without addresses',
    {
      addresses: [
        { type: 'InternalIP', address: '10.0.0.5' },
        { type: 'InternalDNS', address: 'm-1.internal' },
        { type: 'ExternalDNS', address: 'm-1.example.com' },
        { type: 'Hostname', address: 'M-1' },
      ],
    },
    ['m-1.internal', 'M-1'],
  ],
  ['none before the cloud reports any', undefined, []],
  ['none where it reports addresses only', { addresses: [{ type: 'InternalIP', address: '10.0.0.5' }] }, []],
  ['none of a status that cannot be read', { addresses: 'none' }, []],
];
for (const [name, status, want] of cases) {
  test(`names of a Machine: ${name}`, () => {
    const api = new WatchedApi(manualClock());
    const names = machineNames(api.informers);
    api.put(machines, machine(status));
    expect(names.of('m-1')).toEqual(want);
    expect(names.withName('m-1')).toEqual(want.includes('M-1') ? ['m-1'] : []);
  });
}

test('a Machine that is gone has no names', () => {
  expect(machineNames(new WatchedApi(manualClock()).informers).of('m-1')).toEqual([]);
});
