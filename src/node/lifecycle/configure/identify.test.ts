import { expect, test } from 'vitest';
import type { InventoryAdapter } from '#contract/inventory.ts';
import { nodeAnnotation, nodeLabel } from '#contract/names.ts';
import { type BenchOptions, JourneyBench } from '../../../../test/kit/lifecycle/journey-bench.ts';
import { rejectionOf } from '../../../../test/kit/outcome.ts';
import { uploadAgent, takeInventory } from './agent-program.ts';
import { connect } from './connect.ts';
import { prepareFiles } from './prepare-files.ts';
import { claimName, recordHost, routeAddresses } from './identify.ts';

const begin = [connect, prepareFiles, uploadAgent, takeInventory];

/** A journey up to the inventory, which tells these names. */
async function benchWith(
  names: { hostName?: string; nodeName?: string },
  options: BenchOptions = {},
): Promise<JourneyBench> {
  const bench = new JourneyBench(options);
  await bench.take(...begin);
  bench.journey.inventory = { ...bench.journey.inventory, ...names };
  return bench;
}

const names: [string, hostName: string, nodeName: string, hostname: string | undefined, want: string][] = [
  ['the name that the host tells', 'WIN-5', 'win-5', undefined, 'win-5'],
  ['the full name that the host tells', 'WIN-5', 'win-5.corp.example.com', undefined, 'win-5.corp.example.com'],
  ['the name that it will be given', 'TEMPLATE', 'template', 'Worker-7', 'worker-7'],
  ['the name that it will be given, in its domain', 'TEMPLATE', 'template.corp', 'worker-7', 'worker-7.corp'],
  [
    'the name of the cloud, which a rename does not change',
    'TEMPLATE',
    'ip-10-0-0-5.internal',
    'worker-7',
    'ip-10-0-0-5.internal',
  ],
];
for (const [name, hostName, nodeName, hostname, want] of names) {
  test(`claims ${name}`, async () => {
    // Only a cloud that names its machines itself may call a host otherwise than the spec.
    const inputs = { platform: nodeName.startsWith('ip-') ? 'AWS' : 'None' };
    const spec = hostname === undefined ? {} : { spec: { hostname } };
    const bench = await benchWith({ hostName, nodeName }, { inputs, ...spec });
    await bench.take(claimName);
    expect(bench.journey.nodeName).toBe(want);
  });
}

test('claims a name without recording it: that comes after the last reboot', async () => {
  const bench = await benchWith({});
  const before = bench.records.length;
  await bench.take(claimName);
  expect(bench.records).toHaveLength(before);
});

test('records the name that the host tells now, the addresses and the tokens', async () => {
  const bench = await benchWith({}, { spec: { address: 'win.example.com' } });
  await bench.take(claimName);
  bench.journey.inventory = { ...bench.journey.inventory, nodeName: 'renamed' };
  await bench.take(recordHost);
  expect(bench.records.at(-1)).toEqual({
    host: { name: 'renamed', addresses: ['10.0.0.5'] },
    tokens: [{ id: 'JTI=one', use: 'kubelet', expires: '2999-01-01T00:00:00Z' }],
  });
  expect(bench.journey.nodeName).toBe('renamed');
});

test('reports why a host does not know its name, and records nothing', async () => {
  const bench = await benchWith({ nodeName: '' });
  bench.journey.inventory = { ...bench.journey.inventory, problems: ['node name: no answer'] };
  const before = bench.records.length;
  for (const step of [claimName, recordHost]) {
    expect(await rejectionOf(bench.take(step))).toMatchObject({
      code: 'HOST_VALUE_UNKNOWN',
      message: '10.0.0.5: the node name of the host is unknown: node name: no answer',
    });
  }
  expect(bench.records).toHaveLength(before);
});

const finished = {
  metadata: {
    name: 'win-5',
    labels: { [nodeLabel.os]: 'windows' },
    annotations: { [nodeAnnotation.version]: 'v1' },
  },
};
const agent = { keyHash: 'a', installed: '' };
const adoptions: [string, version: string, record: BenchOptions['record'], isAdopted: boolean][] = [
  ['a Node of another version without a record', 'v1', {}, true],
  ['a Node of another version whose agent is ours', 'v1', { agent }, false],
  ['a Node of this version without a record', 'v2', {}, true],
  ['a Node whose host is recorded', 'v2', { host: { name: 'win-5', addresses: [] } }, false],
];
for (const [name, version, record = {}, isAdopted] of adoptions) {
  test(`${isAdopted ? 'adopts' : 'does not adopt'} ${name}`, async () => {
    const bench = new JourneyBench({ record });
    bench.putNode({
      metadata: { ...finished.metadata, annotations: { [nodeAnnotation.version]: version } },
    });
    await bench.take(...begin, claimName);
    expect(bench.journey.adoption !== undefined).toBe(isAdopted);
    const hosts = bench.records.flatMap(({ host }) => host ?? []);
    expect(hosts).toEqual(isAdopted ? [{ name: 'win-5', addresses: ['10.0.0.5'] }] : []);
    expect(bench.records.flatMap(({ tokens }) => tokens ?? [])).toEqual([]);
  });
}

const adapter = (addresses: string[], over: Partial<InventoryAdapter> = {}): InventoryAdapter => ({
  name: 'Ethernet',
  mac: '',
  addresses,
  isUp: true,
  hasDefaultRoute: true,
  ...over,
});
const adapters: [string, InventoryAdapter[], string[]][] = [
  ['IPv4 addresses of the default route', [adapter(['10.0.0.5/24', 'fe80::5/64'])], ['10.0.0.5']],
  ['none of an adapter that is down', [adapter(['10.0.0.5/24'], { isUp: false })], []],
  ['none of another network', [adapter(['10.0.0.5/24'], { hasDefaultRoute: false })], []],
  ['those of all default routes', [adapter(['10.0.0.5/24']), adapter(['10.1.0.5/16'])], ['10.0.0.5', '10.1.0.5']],
  ['none that is no address', [adapter(['kubernetes/24', '10.0.0/24', ''])], []],
  [
    'four at most, whatever the host tells',
    [adapter(['10.0.0.1/8', '10.0.0.2/8', '10.0.0.3/8', '10.0.0.4/8', '10.0.0.5/8'])],
    ['10.0.0.1', '10.0.0.2', '10.0.0.3', '10.0.0.4'],
  ],
];
for (const [name, given, want] of adapters) {
  test(`addresses: ${name}`, () => expect(routeAddresses({ adapters: given })).toEqual(want));
}
