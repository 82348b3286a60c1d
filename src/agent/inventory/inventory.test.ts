import { createPublicKey } from 'node:crypto';
import { expect, test } from 'vitest';
import { sha256 } from '#base/sha256.ts';
import { parseInventory } from '#contract/inventory.ts';
import { agentName } from '#contract/names.ts';
import { agentProgram, bundlePath, file } from '#contract/paths.ts';
import { writeSet } from '../stage/record.ts';
import { stageTexts } from '../../../test/kit/bundles.ts';
import { TestCa } from '../../../test/kit/certificates.ts';
import { adapter, ModelHost, overlayNetwork } from '../../../test/kit/model-host.ts';
import { createKey } from '../identity/key.ts';
import { inventory, type InventoryOptions } from './inventory.ts';

const never = new AbortController().signal;
const take = (host: ModelHost, signal = never, more: Partial<InventoryOptions> = {}) =>
  inventory(host, { agentVersion: '11.0.0-1', program: file.agent, clock: host.clock, signal, ...more });

test('reports a fresh host', async () => {
  const host = new ModelHost();
  host.clock.ms = Date.UTC(2026, 2, 1, 12, 0, 0, 7);
  expect(await take(host)).toEqual({
    agentVersion: '11.0.0-1',
    hostName: 'win-1',
    fqdn: 'win-1',
    nodeName: 'win-1',
    os: { product: 'Windows Server 2022 Datacenter', build: '10.0.20348.2700', installationType: 'Server Core' },
    bootId: 'boot-1',
    pendingReboot: [],
    containersFeature: 'enabled',
    adapters: [
      {
        name: 'Ethernet',
        mac: '00-15-5d-aa-bb-cc',
        addresses: ['10.0.0.5/24', 'fe80::5/64'],
        isUp: true,
        hasDefaultRoute: true,
      },
    ],
    isAdministrator: true,
    portsInUse: [],
    services: [],
    files: {},
    stagedVersion: '',
    sets: {},
    copies: [],
    bundles: {},
    networks: [],
    time: '2026-03-01T12:00:00.007Z',
    freeBytes: 50e9,
    problems: [],
  });
});

test('reports what has changed on the host', async () => {
  const host = new ModelHost();
  host.state.dnsSuffix = 'example.com';
  host.state.pendingReboot = ['Windows Update'];
  host.state.containersFeature = 'disabled';
  host.state.adapters.push({ ...adapter('second', []), isUp: false });
  host.state.networks = [overlayNetwork()];
  const seen = await take(host);
  expect(seen).toMatchObject({ fqdn: 'win-1.example.com', pendingReboot: ['Windows Update'] });
  expect(seen.containersFeature).toBe('disabled');
  expect(seen.adapters[1]).toMatchObject({ isUp: false, hasDefaultRoute: false });
  expect(seen.networks).toEqual([
    { name: 'OVNKubernetesHybridOverlayNetwork', subnets: ['10.132.1.0/24'], managementIp: '10.0.0.5' },
  ]);
});

test('reports rights and ports that the services need', async () => {
  const host = new ModelHost();
  host.isAdministrator = false;
  host.listeningPorts = [22, 445, 9182, 10250];
  expect(await take(host)).toMatchObject({ isAdministrator: false, portsInUse: [9182, 10250] });
});

test('reports complete bundles and the staged version', async () => {
  const host = new ModelHost();
  await stageTexts(host, { [file.kubelet]: 'program' }, { version: '11.0.0-1' });
  host.fileTexts.set(bundlePath('ab'.repeat(32)), 'whole');
  host.fileTexts.set(`${bundlePath('cd'.repeat(32))}.part`, 'half');
  expect(await take(host)).toMatchObject({ stagedVersion: '11.0.0-1', bundles: { ['ab'.repeat(32)]: 5 } });
});

test('reports the sets of files, and of which files the host has copies', async () => {
  const host = new ModelHost();
  const { files } = host;
  await stageTexts(host, { [file.kubelet]: 'program' }, { version: 'v1', agent: 'a1' });
  await writeSet(file.nextSet, { version: 'v2', bundle: 'b2', agent: 'a2', files: [] }, files);
  await writeSet(file.previousSet, { version: 'v0', bundle: 'b0', agent: 'a0', files: [] }, files);
  const sets = {
    current: { version: 'v1', bundle: expect.stringMatching(/./), agent: 'a1' },
    next: { version: 'v2', bundle: 'b2', agent: 'a2' },
  };
  // Nothing could put the previous set back without its agent.
  expect(await take(host)).toMatchObject({ sets, copies: [sha256('program')] });
  expect((await take(host)).sets).not.toHaveProperty('previous');
  host.fileTexts.set(agentProgram('a0'), 'MZ');
  expect((await take(host)).sets.previous).toEqual({ version: 'v0', bundle: 'b0', agent: 'a0' });
});

test('reports only services with the managed tag or a known name', async () => {
  const host = new ModelHost();
  host.services
    .install('kubelet', { command: 'kubelet.exe', description: 'OpenShift managed kubelet' })
    .install('Containerd', { command: 'C:\\Program Files\\containerd.exe' }, 'stopped')
    .install(agentName, { command: 'agent.exe' })
    .install('left-over', { description: 'An OpenShift managed service' }, 'paused')
    .install('W32Time', { command: 'svchost.exe' });
  expect((await take(host)).services).toEqual([
    { name: 'kubelet', state: 'running', command: 'kubelet.exe', isManaged: true },
    { name: 'Containerd', state: 'stopped', command: 'C:\\Program Files\\containerd.exe', isManaged: false },
    { name: agentName, state: 'running', command: 'agent.exe', isManaged: false },
    { name: 'left-over', state: 'paused', command: '', isManaged: true },
  ]);
});

test('reports hashes of known and staged files, but not of logs', async () => {
  const host = new ModelHost();
  const hosts = 'C:\\k\\containerd\\registries\\quay.io\\hosts.toml';
  await stageTexts(host, { [file.kubelet]: 'program', [hosts]: 'server' });
  host.fileTexts.set(file.kubeletConfig, 'config');
  host.fileTexts.set(file.kubeletLog, 'log');
  host.fileTexts.set('C:\\k\\unknown', 'x');
  expect((await take(host)).files).toEqual({
    [file.kubelet]: sha256('program'),
    [hosts]: sha256('server'),
    [file.kubeletConfig]: sha256('config'),
  });
});

test('does not list a staged file that is gone', async () => {
  const host = new ModelHost();
  await stageTexts(host, { [file.kubelet]: 'program', 'C:\\k\\x': 'x' });
  host.fileTexts.delete(file.kubelet);
  expect(Object.keys((await take(host)).files)).toEqual(['C:\\k\\x']);
});

test('reports only the expiry of the client certificate', async () => {
  const host = new ModelHost();
  const notAfter = Date.UTC(2027, 0, 2, 3, 4, 5);
  const { cert, key } = new TestCa('ca').issue({ commonName: 'system:wicd-node:win-1', notAfter });
  host.fileTexts.set(file.agentCertificate, `${key}${cert}`);
  const seen = await take(host);
  expect(seen.certificateExpires).toBe('2027-01-02T03:04:05.000Z');
  expect(JSON.stringify(seen)).not.toMatch(/BEGIN|KEY/);
});

const certificates: [string, string][] = [
  ['no PEM', 'hello'],
  ['only a key', '-----BEGIN EC PRIVATE KEY-----\nAAAA\n-----END EC PRIVATE KEY-----\n'],
  ['a certificate that is none', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'],
];
for (const [name, text] of certificates) {
  test(`reports that the certificate cannot be read when there is ${name}`, async () => {
    const host = new ModelHost();
    host.fileTexts.set(file.agentCertificate, text);
    const seen = await take(host);
    expect(seen).not.toHaveProperty('certificateExpires');
    expect(seen.problems).toEqual([expect.stringMatching(/^client certificate: /)]);
  });
}

const refuse = () => Promise.reject(new Error('access denied'));
const parts: [string, (host: ModelHost) => unknown, object][] = [
  ['host name', host => (host.system.hostName = refuse), { hostName: '', fqdn: 'win-1' }],
  ['full host name', host => (host.system.fqdn = refuse), { fqdn: '', hostName: 'win-1' }],
  [
    'operating system',
    host => (host.system.operatingSystem = refuse),
    { os: { product: '', build: '', installationType: '' } },
  ],
  ['boot id', host => (host.system.bootId = refuse), { bootId: '' }],
  ['pending reboot', host => (host.system.pendingReboot = refuse), { pendingReboot: [] }],
  ['Containers feature', host => (host.system.containersFeature = refuse), { containersFeature: 'unknown' }],
  ['adapters', host => (host.system.adapters = refuse), { adapters: [] }],
  ['services', host => (host.services.list = refuse), { services: [] }],
  ['networks', host => (host.network.networks = refuse), { networks: [] }],
  ['free disk', host => (host.system.freeBytes = refuse), { freeBytes: 0 }],
];
for (const [name, spoil, want] of parts) {
  test(`reports everything else when a part fails: ${name}`, async () => {
    const host = new ModelHost();
    spoil(host);
    const seen = await take(host);
    expect(seen).toMatchObject(want);
    // The name of the Node is made of these.
    const parts = ['host name', 'services'].includes(name) ? [name, 'node name'] : [name];
    expect(seen.problems.toSorted()).toEqual(parts.map(part => `${part}: access denied`).toSorted());
  });
}

test('reports every other file when one cannot be read', async () => {
  const host = new ModelHost();
  host.fileTexts.set(file.kubelet, 'program');
  host.before = call => {
    if (call === `hash ${file.containerd}`) throw new Error('access denied');
  };
  const seen = await take(host);
  expect(seen.files).toEqual({ [file.kubelet]: sha256('program') });
  expect(seen.problems).toEqual([`file ${file.containerd}: access denied`]);
});

test('does not wait forever for a part', async () => {
  const host = new ModelHost();
  host.network.networks = () => new Promise(() => undefined);
  host.system.containersFeature = () => new Promise(() => undefined);
  const { problems } = await take(host);
  expect(problems.toSorted()).toEqual(['Containers feature: no result within 60 s', 'networks: no result within 60 s']);
  expect(host.clock.ms).toBe(60_000);
});

test('stops when aborted', async () => {
  await expect(take(new ModelHost(), AbortSignal.abort(new Error('stopping')))).rejects.toThrow('stopping');
});

test('is understood by the operator', async () => {
  const host = new ModelHost();
  host.services.install('kubelet', { description: 'OpenShift managed kubelet' });
  host.state.networks = [overlayNetwork()];
  host.system.hostName = refuse;
  await stageTexts(host, { [file.kubelet]: 'program' });
  const seen = await take(host);
  expect(parseInventory(JSON.stringify(seen), 'win-1')).toEqual(seen);
});

test('reports the name under which the kubelet will register, and why it is unknown', async () => {
  const host = new ModelHost();
  host.hostValues = { fqdn: 'WIN-1.Example.com' };
  expect(await take(host, never, { nameSource: 'fqdn' })).toMatchObject({
    nodeName: 'win-1.example.com',
    problems: [],
  });
  expect(await take(host, never, { nameSource: 'awsLocalHostname' })).toMatchObject({
    nodeName: '',
    problems: ['node name: awsLocalHostname is out of reach'],
  });
});

test('reports keys and certificates of the agent by hash and expiry, never the private key', async () => {
  const host = new ModelHost();
  const ca = new TestCa('signer');
  const [agent, cloudNode] = [createKey(), createKey()];
  const certificate = ca.certify(
    { commonName: 'x' },
    createPublicKey(agent.key).export({ type: 'spki', format: 'der' }),
  );
  host.fileTexts.set(file.agentKey, agent.pem.reveal());
  expect((await take(host)).identities).toEqual({ agent: { keyHash: agent.hash } });
  host.fileTexts.set(file.agentCertificate, `${certificate}${agent.pem.reveal()}`);
  host.fileTexts.set(file.cloudNodeKey, cloudNode.pem.reveal());
  host.fileTexts.set(file.cloudNodeCertificate, certificate);
  const seen = await take(host);
  expect(seen.identities).toEqual({
    agent: { keyHash: agent.hash, certificateEnds: seen.certificateExpires },
    cloudNode: { keyHash: cloudNode.hash },
  });
  expect(parseInventory(JSON.stringify(seen), 'win-1')).toEqual(seen);
  expect(JSON.stringify(seen)).not.toContain('PRIVATE');
});

test.each(['', 'junk', '-----BEGIN EC PRIVATE KEY-----\nAAAA\n-----END EC PRIVATE KEY-----\n'])(
  'reports no identity for a key file with %j',
  async text => {
    const host = new ModelHost();
    host.fileTexts.set(file.agentKey, text);
    expect(await take(host)).not.toHaveProperty('identities');
  },
);
