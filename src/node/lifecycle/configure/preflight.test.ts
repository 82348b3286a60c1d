import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ErrorCode } from '#base/error-codes.ts';
import type { Inventory } from '#contract/inventory.ts';
import { healthyInventory as good } from '../../../../test/kit/inventories.ts';
import { errorOf } from '../../../../test/kit/outcome.ts';
import { preflight, type Preflight } from './preflight.ts';

const gigabyte = 1024 ** 3;
function check(inventory: Partial<Inventory> = {}, over: Partial<Preflight> = {}) {
  return errorOf(() =>
    preflight({
      address: '10.0.0.5',
      username: "O'Brien",
      inventory: { ...good, ...inventory },
      vxlanPort: '',
      missing: [{ bytes: gigabyte, packedBytes: gigabyte / 2 }],
      ...over,
    }),
  );
}
const os = (build: string, installationType = 'Server') => ({
  os: { product: 'Windows', build: `10.0.${build}`, installationType },
});
const service = (name: string, isManaged: boolean, state = 'running') => ({ name, state, command: '', isManaged });

const fine: [string, Partial<Inventory>, Partial<Preflight>?][] = [
  ['as it should be', {}],
  ['with Windows Server 2019', os('17763.1')],
  ['with Windows Server 2022 that has its update just so', os('20348.681')],
  ['with Windows Server 2025', os('26100.1', 'Server Core')],
  ['with Windows Server 2019 and the default VXLAN port', os('17763.1'), { vxlanPort: '4789' }],
  ['with Windows Server 2022 and another VXLAN port', {}, { vxlanPort: '9898' }],
  ['with Windows Server 2025 and another VXLAN port', os('26100.1'), { vxlanPort: '9898' }],
  ['with just enough room', { freeBytes: 4 * gigabyte }],
  ['with little room and nothing to send', { freeBytes: 1 }, { missing: [] }],
  ['five minutes ahead', { probe: { url: 'x', clockAheadMs: 300_000 } }],
  ['five minutes behind', { probe: { url: 'x', clockAheadMs: -300_000 } }],
  ['whose API server tells no time', { probe: { url: 'x' } }],
  ['with services of ours', { services: [service('kubelet', true), service('containerd', true, 'stopped')] }],
  ['with an agent that lacks our mark', { services: [service('windows-instance-config-daemon', false)] }],
  ['whose kubelet listens', { services: [service('kubelet', true)], portsInUse: [10_250] }],
  ['whose exporter listens', { services: [service('windows_exporter', true)], portsInUse: [9182] }],
];
for (const [name, inventory, over] of fine) {
  test(`lets pass a host ${name}`, () => expect(check(inventory, over)).toBeUndefined());
}

const refused: [string, ErrorCode, message: string, Partial<Inventory>][] = [
  ['a simple user', 'HOST_NOT_ADMINISTRATOR', 'not an administrator', { isAdministrator: false }],
  ['Windows Server 2016', 'HOST_SYSTEM_UNSUPPORTED', 'Windows 10.0.14393.1 (Server)', os('14393.1')],
  ['a build between two', 'HOST_SYSTEM_UNSUPPORTED', '25398', os('25398.1')],
  ['a build of which one is the beginning', 'HOST_SYSTEM_UNSUPPORTED', '203480', os('203480.999')],
  ['Windows 10', 'HOST_SYSTEM_UNSUPPORTED', '(Client)', os('20348.2700', 'Client')],
  ['Windows Server 2022 without its update', 'HOST_SYSTEM_UNSUPPORTED', '20348.680', os('20348.680')],
  [
    'a system that tells nothing',
    'HOST_SYSTEM_UNSUPPORTED',
    'not supported',
    { os: { product: '', build: '', installationType: '' } },
  ],
  ['a full disk', 'HOST_DISK_FULL', 'has 4.3 GB free and needs 4.3 GB', { freeBytes: 4 * gigabyte - 1 }],
  ['a clock ahead', 'HOST_CLOCK_WRONG', '6 min ahead of', { probe: { url: 'x', clockAheadMs: 360_000 } }],
  ['a clock behind', 'HOST_CLOCK_WRONG', '10 min behind', { probe: { url: 'x', clockAheadMs: -600_000 } }],
  [
    'a kubelet that WMCO did not install',
    'HOST_SERVICE_FOREIGN',
    'did not install: Kubelet',
    { services: [service('Kubelet', false)] },
  ],
  [
    'an exporter that WMCO did not install',
    'HOST_SERVICE_FOREIGN',
    'windows_exporter',
    { services: [service('windows_exporter', false, 'stopped')] },
  ],
  ['a port in use', 'HOST_PORT_TAKEN', '10250 (kubelet)', { portsInUse: [10_250] }],
  [
    'a port in use while our service does not run',
    'HOST_PORT_TAKEN',
    '9182 (windows_exporter)',
    { portsInUse: [9182], services: [service('windows_exporter', true, 'stopped')] },
  ],
  [
    'no way to the API server',
    'HOST_API_UNREACHABLE',
    'cannot reach https://api:6443: ETIMEDOUT',
    { probe: { url: 'https://api:6443', problem: 'ETIMEDOUT' } },
  ],
];
for (const [name, code, message, inventory] of refused) {
  test(`refuses ${name}`, () => {
    const error = check(inventory);
    expect(error?.code).toBe(code);
    expect(error?.message).toContain('10.0.0.5: ');
    expect(error?.message).toContain(message);
    expect(error?.remedy).toMatch(/\.$/);
  });
}

test('refuses Windows Server 2019 where the cluster has another VXLAN port', () => {
  expect(check(os('17763.1'), { vxlanPort: '9898' })).toMatchObject({
    code: 'HOST_VXLAN_PORT_UNSUPPORTED',
    message: '10.0.0.5: Windows 10.0.17763.1 cannot use the VXLAN port 9898 of the cluster',
  });
});

test('refuses two connected network cards', () => {
  const adapter = { mac: '', isUp: true, hasDefaultRoute: true };
  const adapters = ['10.0.0.5/24', '10.9.0.5/24'].map(each => ({ ...adapter, name: each, addresses: [each] }));
  expect(check({ adapters }, { ipv4: '10.0.0.5' })).toMatchObject({
    code: 'HOST_ADAPTERS_SEVERAL',
    remedy: expect.stringContaining("'10.9.0.5/24'"),
  });
});

test('reports which update is missing, and which systems there are', () => {
  expect(check(os('20348.1'))?.remedy).toContain('build 20348.681 is the minimum');
  expect(check(os('14393.1'))?.remedy).toContain('Windows Server 2019 or Windows Server 2022 or Windows Server 2025');
});

test('reports all that is wrong, with the code of the first and the host named once', () => {
  const error = check({ ...os('14393.1'), isAdministrator: false, freeBytes: 0 });
  expect(error?.code).toBe('HOST_NOT_ADMINISTRATOR');
  expect(error?.message.match(/10\.0\.0\.5: /g)).toHaveLength(1);
  expect(error?.message.split('; ')).toHaveLength(3);
  for (const words of ['Add-LocalGroupMember', 'Windows Server 2022', 'Free 4.3 GB']) {
    expect(error?.remedy).toContain(words);
  }
});

const commands: [name: string, Partial<Inventory>, command: string][] = [
  ['a simple user', { isAdministrator: false }, "Add-LocalGroupMember -SID S-1-5-32-544 -Member 'O''Brien'`"],
  ['a clock two hours behind', { probe: { url: 'x', clockAheadMs: -7_200_000 } }, "([TimeSpan]'0.02:00:00')"],
  ['a clock days ahead', { probe: { url: 'x', clockAheadMs: 180_061_000 } }, "([TimeSpan]'-2.02:01:01')"],
  [
    'two services that WMCO did not install',
    { services: [service('containerd', false), service('kubelet', false)] },
    '`Stop-Service -Force containerd; sc.exe delete containerd; Stop-Service -Force kubelet; sc.exe delete kubelet`',
  ],
  ['two ports in use', { portsInUse: [10_250, 9182] }, 'Get-NetTCPConnection -LocalPort 10250,9182 -State Listen'],
  ['no API server', { probe: { url: 'https://api:6443', problem: 'x' } }, '`Test-NetConnection api -Port 6443`'],
  ['a hostile URL', { probe: { url: 'https://a;calc:1', problem: 'x' } }, '`Test-NetConnection API-SERVER -Port 443`'],
];
for (const [name, inventory, command] of commands) {
  test(`the remedy for ${name} is a command`, () => expect(check(inventory)?.remedy).toContain(command));
}

test('does not report the port of a service that is reported already', () => {
  const error = check({ services: [service('kubelet', false)], portsInUse: [10_250] });
  expect(error?.message).not.toContain('listens');
});

test('throws only AppErrors, whatever a host reports', () => {
  const text = fc.string();
  const inventory = fc.record({
    isAdministrator: fc.boolean(),
    os: fc.record({ product: text, build: text, installationType: text }),
    portsInUse: fc.array(fc.integer()),
    services: fc.array(fc.record({ name: text, state: text, command: text, isManaged: fc.boolean() })),
    freeBytes: fc.double(),
    probe: fc.record({ url: text, clockAheadMs: fc.double({ noNaN: true }) }),
  });
  fc.assert(
    fc.property(inventory, found => void check(found)),
    { numRuns: 2000 },
  );
});
