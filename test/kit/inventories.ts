import type { Inventory } from '../../src/contract/inventory.ts';

/** Of a host that passes every check before a join. */
export const healthyInventory: Inventory = {
  agentVersion: '11.0.0-1',
  hostName: 'WIN-5',
  nodeName: 'win-1',
  fqdn: 'WIN-5.example.com',
  os: { product: 'Windows Server 2022 Datacenter', build: '10.0.20348.2700', installationType: 'Server Core' },
  bootId: 'b',
  pendingReboot: [],
  containersFeature: 'enabled',
  adapters: [],
  isAdministrator: true,
  portsInUse: [],
  services: [],
  files: {},
  stagedVersion: '',
  sets: {},
  copies: [],
  bundles: {},
  networks: [],
  time: '2026-03-01T12:00:00.000Z',
  freeBytes: 50 * 1024 ** 3,
  probe: { url: 'https://api:6443', clockAheadMs: 0 },
  problems: [],
};
