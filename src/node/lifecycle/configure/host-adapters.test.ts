import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { InventoryAdapter } from '#contract/inventory.ts';
import { hnsNetwork } from '#contract/names.ts';
import { adaptersProblem } from './host-adapters.ts';

const adapter = (name: string, addresses: string[], over: Partial<InventoryAdapter> = {}): InventoryAdapter => ({
  name,
  mac: '00-15-5d-00-00-01',
  addresses,
  isUp: true,
  hasDefaultRoute: false,
  ...over,
});
const route = { hasDefaultRoute: true };
const main = adapter('Ethernet', ['10.0.0.5/24', 'fe80::1/64'], route);
const second = adapter('Ethernet 2', ['192.168.7.5/24']);
const overlay = { name: hnsNetwork.overlay, subnets: ['10.132.1.0/24'], managementIp: '10.0.0.5' };
const check = (adapters: InventoryAdapter[], networks = [] as (typeof overlay)[], dialed = '10.0.0.5') =>
  adaptersProblem('10.0.0.5', { adapters, networks }, dialed);

const fine: [about: string, adapters: InventoryAdapter[], networks?: (typeof overlay)[]][] = [
  ['one adapter', [main]],
  ['no adapter, as agents without that part of the inventory report', []],
  ['one adapter with several addresses', [adapter('Ethernet', ['10.0.0.5/24', '10.0.0.6/24'], route)]],
  ['a second adapter that is disconnected', [main, { ...second, isUp: false }]],
  ['a second adapter with a link-local address', [main, adapter('Ethernet 2', ['169.254.3.4/16'])]],
  ['a second adapter with IPv6 alone', [main, adapter('Ethernet 2', ['fd00::5/64'])]],
  ['a loopback adapter', [main, adapter('Loopback', ['127.0.0.2/8'])]],
  ['adapters of containers', [main, adapter('vEthernet (nat)', ['172.20.0.1/20'])]],
  [
    'a virtual switch bound to its network card',
    [adapter('Ethernet', []), adapter('vEthernet (Ethernet)', ['10.0.0.5/24'], route)],
  ],
  [
    'the networks of an earlier join',
    [
      adapter('Ethernet', []),
      adapter('vEthernet (Ethernet)', ['10.0.0.5/24'], route),
      adapter('vEthernet (VIPEndpoint)', ['10.132.1.7/24']),
      adapter('vEthernet (OVN)', ['10.132.1.2/24']),
    ],
    [overlay],
  ],
  ['two network cards and the networks of an earlier join', [main, second], [overlay]],
];
for (const [about, adapters, networks] of fine) {
  test(`accepts a host with ${about}`, () => expect(check(adapters, networks)).toBeUndefined());
}

const refused: [about: string, adapters: InventoryAdapter[], message: string, disable: string][] = [
  [
    'two network cards',
    [main, second],
    '2 network adapters are connected and have an IPv4 address: "Ethernet" (10.0.0.5), "Ethernet 2" (192.168.7.5)',
    "Disable-NetAdapter -Name 'Ethernet 2'",
  ],
  [
    'two default routes, of which one is dialed',
    [adapter('Ethernet 2', ['192.168.7.5/24'], route), main],
    '"Ethernet 2" (192.168.7.5), "Ethernet" (10.0.0.5)',
    "Disable-NetAdapter -Name 'Ethernet 2'",
  ],
  [
    'a virtual switch and a second network card',
    [adapter('Ethernet', []), adapter('vEthernet (Ethernet)', ['10.0.0.5/24'], route), second],
    '"vEthernet (Ethernet)" (10.0.0.5), "Ethernet 2" (192.168.7.5)',
    "Disable-NetAdapter -Name 'Ethernet 2'",
  ],
  [
    'a name that PowerShell would read otherwise',
    [main, adapter('a"; $(x)\'', ['192.168.7.5/24'])],
    '(192.168.7.5)',
    `Disable-NetAdapter -Name 'a"; $(x)'''`,
  ],
  [
    'a name with a typographic quote, which ends a text in PowerShell',
    [main, adapter('x\u2019; calc; \u2018', ['192.168.7.5/24'])],
    '(192.168.7.5)',
    "Disable-NetAdapter -Name 'x\u2019\u2019; calc; \u2018\u2018'",
  ],
];
for (const [about, adapters, message, disable] of refused) {
  test(`refuses a host with ${about}`, () => {
    const error = check(adapters);
    expect(error?.code).toBe('HOST_ADAPTERS_SEVERAL');
    expect(error?.message).toContain('10.0.0.5: ');
    expect(error?.message).toContain(message);
    expect(error?.remedy).toContain(disable);
  });
}

test('never has the adapter disabled that the operator is connected to, and stays short', () => {
  const any = fc.record({
    name: fc.string({ minLength: 1, maxLength: 300 }),
    hasDefaultRoute: fc.boolean(),
    isUp: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(any, { maxLength: 300 }), others => {
      const further = others.map((over, index) => adapter(over.name, [`10.1.${index % 250}.9/24`], over));
      const dialed = adapter('the dialed one', ['10.0.0.5/24'], route);
      const error = check([dialed, ...further]);
      expect(error?.remedy ?? '').not.toContain('the dialed one');
      expect((error?.message ?? '').length).toBeLessThan(4000);
    }),
  );
});
