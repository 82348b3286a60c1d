import { afterAll, beforeAll, expect, test } from 'vitest';
import { isAppError } from '../../src/base/errors.ts';
import { agentName, nodeAnnotation } from '../../src/contract/names.ts';
import { findCondition } from '../../src/base/condition.ts';
import type { FaultName } from '../../src/sandbox/machines/faults.ts';
import type { SimulatedHost } from '../../src/sandbox/machines/host/host.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { ManualSandboxOperator } from '../kit/manual-sandbox-operator.ts';
import { installedAgent } from '../kit/installed-agent.ts';

/** Hosts with faults, joined by hand with the commands of the operator. */

let sandbox: Sandbox;
let operator: ManualSandboxOperator;
let count = 0;

beforeAll(async () => {
  sandbox = await startSandbox({ speed: 20 });
  operator = await ManualSandboxOperator.start(sandbox);
});
afterAll(async () => {
  await operator?.[Symbol.asyncDispose]();
  await sandbox?.stop();
});

function hostWith(...faults: FaultName[]): Promise<SimulatedHost> {
  count += 1;
  return sandbox.addHost({ name: `host-${count}`, faults });
}

const join = (host: SimulatedHost) => operator.join(host.spec.address);
const patient = { interval: 50 };

/** The error code; that of the agent is on its standard error. */
async function codeOf(act: () => Promise<unknown>): Promise<string> {
  try {
    await act();
    return 'fine';
  } catch (error) {
    if (isAppError(error)) return error.code;
    return /(?:^|: )error: ([A-Z_]+): /m.exec(String(error))?.[1] ?? String(error);
  }
}

const met: [FaultName, string][] = [
  ['unreachable', 'HOST_UNREACHABLE'],
  ['refused', 'HOST_UNREACHABLE'],
  ['no-ssh', 'HOST_NOT_SSH'],
  ['wrong-key', 'HOST_REFUSED_KEY'],
  ['password-only', 'HOST_WANTS_PASSWORD'],
  ['key-and-password', 'HOST_WANTS_PASSWORD'],
  ['no-sftp', 'HOST_SFTP_MISSING'],
  ['no-admin', 'WINDOWS_ACCESS_DENIED'],
];
for (const [fault, code] of met) {
  test(`${fault} fails a join with ${code}`, async () => {
    const host = await hostWith(fault);
    expect(await codeOf(() => join(host))).toBe(code);
  });
}

const fine: FaultName[] = ['powershell', 'german', 'french', 'slow-start', 'pending-reboot', 'slow-disk'];
for (const fault of fine) {
  test(`${fault} does not keep a host from joining`, async () => {
    const host = await hostWith(fault);
    expect(await join(host)).toBe(host.spec.name);
  });
}

test('a connection, command or power failure does not affect the second attempt', async () => {
  const faults: [FaultName, string][] = [
    ['dropped-connection', 'HOST_CONNECTION_LOST'],
    ['power-cut', 'HOST_CONNECTION_LOST'],
  ];
  await Promise.all(
    faults.map(async ([fault, code]) => {
      const host = await hostWith(fault);
      expect([fault, await codeOf(() => join(host))]).toEqual([fault, code]);
      await expect.poll(() => host.isOn, patient).toBe(true);
      expect(await join(host)).toBe(host.spec.name);
    }),
  );
});

test('a hanging bootstrap times out, and the next one succeeds', async () => {
  const host = await hostWith('hung-command');
  await using connection = await operator.connect(host.spec.address);
  await operator.uploadAgent(connection);
  await operator.stage(connection, host.spec.name);
  const { version } = operator;
  const command = installedAgent.bootstrap({ version, namespace: sandbox.namespace, node: host.spec.name });
  expect(await codeOf(() => connection.exec(command, { timeoutMs: 300 }))).toBe('HOST_COMMAND_TIMEOUT');
  expect(await operator.run(connection, command)).toContain('kubelet');
});

test('a full disk fails the upload or its staging', async () => {
  const host = await hostWith('full-disk');
  await using connection = await operator.connect(host.spec.address);
  expect(await codeOf(() => connection.upload('C:\\k\\big', Buffer.alloc(12_000_000)))).toBe('HOST_DISK_FULL');
  await connection.upload('C:\\k\\big', Buffer.alloc(9_700_000));
  await operator.uploadAgent(connection);
  expect(await codeOf(() => operator.stage(connection, host.spec.name))).toMatch(/^HOST_(DISK_FULL|FILE_UNUSABLE)$/);
});

test('bootstrap names a service that cannot run', async () => {
  const host = await hostWith('failing-service');
  const error = await join(host).catch((thrown: unknown) => String(thrown));
  expect(error).toMatch(/containerd/);
  expect(error).toMatch(/SERVICES_INCOMPLETE|SERVICE_NOT_SETTLED/);
});

test('the inventory shows a service that WMCO did not install', async () => {
  const host = await hostWith('foreign-containerd');
  await using connection = await operator.connect(host.spec.address);
  await operator.uploadAgent(connection);
  const { services } = await operator.inventory(connection);
  expect(services).toMatchObject([{ name: 'containerd', isManaged: false, state: expect.any(String) }]);
});

const seen: [FaultName, object][] = [
  ['old-windows', { os: { build: '10.0.14393.7428' } }],
  ['client-windows', { os: { installationType: 'Client' } }],
  ['bad-name', { hostName: 'WIN_HOST' }],
  ['no-containers', { containersFeature: 'disabled' }],
  ['no-admin', { isAdministrator: false }],
  ['busy-port', { portsInUse: [10_250] }],
  ['no-api', { probe: { problem: expect.any(String) } }],
  ['clock-skew', { probe: { clockAheadMs: expect.closeTo(-7_200_000, -5) } }],
  ['pending-reboot', { pendingReboot: ['Windows Update'] }],
];
for (const [fault, want] of seen) {
  test(`${fault} shows in the inventory`, async () => {
    const host = await hostWith(fault);
    await using connection = await operator.connect(host.spec.address);
    await operator.uploadAgent(connection);
    expect(await operator.inventory(connection)).toMatchObject(want);
  });
}

test('a host without the Containers feature joins after one reboot', async () => {
  const host = await hostWith('no-containers');
  {
    await using connection = await operator.connect(host.spec.address);
    await operator.uploadAgent(connection);
    const { bootId } = await operator.inventory(connection);
    await operator.run(connection, installedAgent.enableContainers);
    await operator.run(connection, installedAgent.reboot(bootId, 1));
  }
  await expect.poll(() => host.stats.reboots, patient).toBe(1);
  await expect.poll(() => host.isOn, patient).toBe(true);
  expect(await join(host)).toBe(host.spec.name);
  expect(host.state.containersFeature).toBe('enabled');
});

test('a host that does not come back from a reboot is unreachable', async () => {
  const host = await hostWith('lost-in-reboot');
  await using connection = await operator.connect(host.spec.address);
  await operator.uploadAgent(connection);
  const { bootId } = await operator.inventory(connection);
  await operator.run(connection, installedAgent.reboot(bootId, 0));
  await expect.poll(() => host.isOn, patient).toBe(false);
  await new Promise(resolve => setTimeout(resolve, 800));
  expect(await codeOf(() => operator.connect(host.spec.address))).toBe('HOST_UNREACHABLE');
});

/** Everything except the wait for the version. */
async function bringUp(host: SimulatedHost): Promise<void> {
  await using connection = await operator.connect(host.spec.address);
  await operator.uploadAgent(connection);
  await operator.stage(connection, host.spec.name);
  await operator.bootstrap(connection, host.spec.name);
  if (host.spec.traits.kubelet === 'never registers') return;
  await operator.desire(await operator.findNode(host.spec.address));
  await operator.installAgent(connection, host.spec.name);
}

test('a kubelet that never registers leaves no Node', async () => {
  const host = await hostWith('no-node');
  await bringUp(host);
  await expect.poll(() => host.files.has('C:\\k\\kubeconfig'), patient).toBe(true);
  await expect(operator.node(host.spec.name)).rejects.toMatchObject({ code: 404 });
});

test('a Node that does not become ready gets no version', async () => {
  const host = await hostWith('never-ready');
  await bringUp(host);
  await expect.poll(async () => (await host.services.query('kube-proxy'))?.state, patient).toBe('running');
  const { metadata, status } = await operator.node(host.spec.name);
  expect(findCondition(status?.conditions, 'Ready')?.status).toBe('False');
  expect(metadata.annotations).not.toHaveProperty(nodeAnnotation.version);
  expect((await operator.report(host.spec.name)).version).toBe('');
});

test('without a subnet there is no network, and the agent reports it', async () => {
  const host = await hostWith('no-subnet');
  await bringUp(host);
  const events = async () => (await operator.report(host.spec.name)).events.map(({ message }) => message);
  await expect
    .poll(async () => (await events()).join('\n'), patient)
    .toMatch(/kube-proxy is waiting for OVN-Kubernetes to assign a pod subnet to node/);
  expect(host.state.networks).toEqual([]);
});

test('the agent reports a clock that is two hours late and gets no certificate', async () => {
  const host = await hostWith('clock-skew');
  await bringUp(host);
  await expect.poll(() => host.logLines.join('\n'), patient).toMatch(/clock|not valid before|AGENT_CLOCK_WRONG/i);
  expect((await host.services.query(agentName))?.state).not.toBe('stopped');
});

test('one bad host does not delay the others', async () => {
  const bad = await Promise.all([hostWith('unreachable'), hostWith('hung-command'), hostWith('wrong-key')]);
  const good = await hostWith();
  const outcomes = bad.map(host => codeOf(() => join(host)));
  const startMs = performance.now();
  expect(await join(good)).toBe(good.spec.name);
  expect(performance.now() - startMs).toBeLessThan(20_000);
  for (const host of bad) host.cutConnections();
  expect(await Promise.all(outcomes)).toEqual(['HOST_UNREACHABLE', 'HOST_CONNECTION_LOST', 'HOST_REFUSED_KEY']);
});
