import { expect, test } from 'vitest';
import { parseInventory } from '#contract/inventory.ts';
import { agentName } from '#contract/names.ts';
import { file } from '#contract/paths.ts';
import type { HostConnection } from '#host/host.ts';
import { installedAgent } from '../../../../test/kit/installed-agent.ts';
import { codeOf, startHost, type TestHost } from '../../../../test/kit/simulated-host.ts';
import { findFault } from '../faults.ts';
import { defaultTraits } from '../traits.ts';

const patient = { interval: 10 };

/** A host on which the agent is, with a connection to it. */
async function withAgent(
  options?: Parameters<typeof startHost>[0],
): Promise<TestHost & { connection: HostConnection }> {
  const made = await startHost(options);
  await made.install(file.agent);
  return Object.assign(made, { connection: await made.connect() });
}

async function inventoryOf({ connection }: { connection: HostConnection }) {
  const { stdout, stderr } = await connection.exec(installedAgent.inventory());
  if (stdout === '') throw new Error(stderr);
  return parseInventory(stdout, 'win-1');
}

test('the real agent reports the host', async () => {
  await using made = await withAgent();
  expect(await inventoryOf(made)).toMatchObject({
    agentVersion: '11.0.0-1',
    hostName: 'win-1',
    fqdn: 'win-1',
    os: defaultTraits.os,
    containersFeature: 'enabled',
    pendingReboot: [],
    isAdministrator: true,
    adapters: [{ name: 'Ethernet', addresses: ['10.0.0.11/24'], hasDefaultRoute: true }],
    services: [],
    networks: [],
    freeBytes: expect.any(Number),
    problems: [],
  });
  expect(made.host.stats.verbs).toEqual(['inventory']);
});

test('an agent without a stamp has the version of the sandbox', async () => {
  await using made = await withAgent();
  await made.host.files.write(file.agent, 'MZ something else');
  expect((await inventoryOf(made)).agentVersion).toBe('unknown');
});

test('a wrong clock is visible in the inventory', async () => {
  await using made = await withAgent(findFault('clock-skew'));
  const aheadMs = Date.parse((await inventoryOf(made)).time) - Date.now();
  expect(Math.round(aheadMs / 60_000)).toBe(-120);
});

test('missing requirements are visible in the inventory', async () => {
  const traits = {
    ...findFault('old-windows').traits,
    ...findFault('full-disk').traits,
    ...findFault('pending-reboot').traits,
    ...findFault('busy-port').traits,
    ...findFault('foreign-containerd').traits,
  };
  await using made = await withAgent({ traits });
  expect(await inventoryOf(made)).toMatchObject({
    os: { build: '10.0.14393.7428' },
    freeBytes: expect.closeTo(10_000_000, -5),
    pendingReboot: ['Windows Update'],
    portsInUse: [10_250],
    services: [{ name: 'containerd', isManaged: false }],
  });
});

test('the agent reports a user who is not an administrator', async () => {
  await using made = await withAgent(findFault('no-admin'));
  const found = await inventoryOf(made);
  expect(found.isAdministrator).toBe(false);
  expect(found.problems).toEqual(expect.arrayContaining([expect.stringContaining('access denied')]));
  const { exitCode, stderr } = await made.connection.exec(installedAgent.enableContainers);
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining('WINDOWS_ACCESS_DENIED')]);
});

test('a host that cannot reach the API server reports it', async () => {
  await using made = await withAgent(findFault('no-api'));
  const { stdout } = await made.connection.exec(installedAgent.inventory({ apiServerUrl: 'https://127.0.0.1:6443' }));
  expect(parseInventory(stdout, 'x').probe).toMatchObject({ problem: expect.stringContaining('ECONNREFUSED') });
});

test('a reboot takes the host down and up again with a new boot ID and pending changes', async () => {
  await using made = await withAgent(findFault('no-containers'));
  const before = await inventoryOf(made);
  expect(before.containersFeature).toBe('disabled');
  expect((await made.connection.exec(installedAgent.enableContainers)).exitCode).toBe(0);
  expect((await made.connection.exec(installedAgent.rename('node-7'))).exitCode).toBe(0);
  expect((await made.connection.exec(installedAgent.reboot(before.bootId, 1))).exitCode).toBe(0);
  await expect.poll(() => made.connection.ended.aborted, patient).toBe(true);
  await expect.poll(() => made.host.isOn, patient).toBe(true);
  await using connection = await made.connect();
  const after = await inventoryOf({ connection });
  expect(after).toMatchObject({ hostName: 'node-7', containersFeature: 'enabled', pendingReboot: [] });
  expect(after.bootId).not.toBe(before.bootId);
  expect(made.host.stats.reboots).toBe(1);
});

test('two reboot requests cause one reboot', async () => {
  await using made = await withAgent();
  const { bootId } = await inventoryOf(made);
  await Promise.all([
    made.connection.exec(installedAgent.reboot(bootId, 1)),
    made.connection.exec(installedAgent.reboot(bootId, 1)),
  ]);
  await expect.poll(() => made.host.stats.reboots, patient).toBe(1);
  await expect.poll(() => made.host.isOn, patient).toBe(true);
  await using connection = await made.connect();
  const { stdout } = await connection.exec(installedAgent.reboot(bootId, 1));
  expect(JSON.parse(stdout)).toMatchObject({ rebooting: false });
  expect(made.host.stats.reboots).toBe(1);
});

test('connections are refused during a boot, and the routes are updated', async () => {
  await using made = await withAgent({ times: { bootMs: 30_000 } });
  const before = made.changes();
  made.host.cutPower();
  expect(made.host.route()).toBe('refused');
  expect(await codeOf(() => made.connect())).toBe('HOST_UNREACHABLE');
  await expect.poll(() => made.host.isOn, patient).toBe(true);
  expect(made.changes()).toBe(before + 2);
});

test('a host that does not return from a reboot stays off', async () => {
  await using made = await withAgent(findFault('lost-in-reboot'));
  const { bootId } = await inventoryOf(made);
  await made.connection.exec(installedAgent.reboot(bootId, 0));
  await expect.poll(() => made.host.isOn, patient).toBe(false);
  await new Promise(resolve => setTimeout(resolve, 300));
  expect([made.host.isOn, made.host.stats.reboots]).toEqual([false, 0]);
  for (let press = 0; press < 2; press += 1) made.host.switchOn();
  await expect.poll(() => made.host.isOn, patient).toBe(true);
  expect([made.host.stats.reboots, made.host.state.boots]).toEqual([1, 2]);
});

test('a command that hangs continues when the mishap ends', async () => {
  await using made = await withAgent({ traits: { mishaps: [{ kind: 'hang', on: 'inventory', times: 1 }] } });
  const running = made.connection.exec(installedAgent.inventory());
  await expect.poll(() => made.host.stats.verbs, patient).toEqual(['inventory']);
  made.host.change({ mishaps: [] });
  expect((await running).exitCode).toBe(0);
});

test('a service that ignores its stop request ends with the fault', async () => {
  await using made = await withAgent(findFault('stubborn-service'));
  await made.install(file.csiProxy);
  const config = { command: file.csiProxy, description: '', dependencies: [], recovery: undefined } as const;
  await made.host.services.create('kube-proxy', { ...config, startType: 'manual' });
  await made.host.services.start('kube-proxy');
  const state = async () => (await made.host.services.query('kube-proxy'))?.state;
  await expect.poll(state, patient).toBe('running');
  await made.host.services.stop('kube-proxy');
  made.host.change({ stubbornServices: [] });
  await expect.poll(state, patient).toBe('stopped');
});

test('a booting host answers after its boot', async () => {
  await using made = await startHost({ start: 'booting', times: { bootMs: 20_000 } });
  expect([made.host.isOn, made.host.route()]).toEqual([false, 'refused']);
  await expect.poll(() => made.host.isOn, patient).toBe(true);
  await using _ = await made.connect();
  expect(made.host.stats.reboots).toBe(0);
});

test('two power cuts in a row count once', async () => {
  await using made = await startHost({ times: { bootMs: 20_000 } });
  made.host.cutPower();
  made.host.cutPower();
  await expect.poll(() => made.host.isOn, patient).toBe(true);
  expect(made.host.stats.reboots).toBe(1);
});

test('a hanging command ends when its client disconnects', async () => {
  await using made = await withAgent({ traits: { mishaps: [{ kind: 'hang', on: 'inventory', times: 1 }] } });
  expect(await codeOf(() => made.connection.exec(installedAgent.inventory(), { timeoutMs: 200 }))).toBe(
    'HOST_COMMAND_TIMEOUT',
  );
  expect((await inventoryOf(made)).hostName).toBe('win-1');
  expect(made.host.stats.verbs).toEqual(['inventory', 'inventory']);
  await using again = await made.connect();
  await again.upload(file.agent, Buffer.from('new agent'));
});

test('a connection that breaks at a command breaks once', async () => {
  await using made = await withAgent({ traits: { mishaps: [{ kind: 'drop', on: 'version', times: 1 }] } });
  expect(await codeOf(() => made.connection.exec(installedAgent.version))).toBe('HOST_CONNECTION_LOST');
  await using again = await made.connect();
  expect((await again.exec(installedAgent.version)).exitCode).toBe(0);
  expect(made.host.stats.reboots).toBe(0);
});

test('a power cut during a command reboots the host', async () => {
  await using made = await withAgent({ traits: { mishaps: [{ kind: 'power cut', on: 'version', times: 1 }] } });
  expect(await codeOf(() => made.connection.exec(installedAgent.version))).toBe('HOST_CONNECTION_LOST');
  await expect.poll(() => made.host.isOn, patient).toBe(true);
  expect([made.host.stats.reboots, made.host.files.has(file.agent)]).toEqual([1, true]);
});

test('files survive a power cut, and automatic services start again', async () => {
  await using made = await startHost();
  await made.install(file.csiProxy);
  const config = { command: file.csiProxy, description: '', dependencies: [], recovery: undefined };
  await made.host.services.create('csi-proxy', { ...config, startType: 'automatic' });
  await made.host.services.create('manual', { ...config, startType: 'manual' });
  for (const name of ['csi-proxy', 'manual']) await made.host.services.start(name);
  made.host.cutPower();
  expect((await made.host.services.query('csi-proxy'))?.state).toBe('stopped');
  await expect.poll(async () => (await made.host.services.query('csi-proxy'))?.state, patient).toBe('running');
  expect((await made.host.services.query('manual'))?.state).toBe('stopped');
});

test('services of Windows run from the beginning', async () => {
  await using made = await startHost();
  await expect.poll(async () => (await made.host.services.query('sshd'))?.state, patient).toBe('running');
});

test('the agent as a Windows service starts in the host, keeps its log there and is not for users', async () => {
  await using made = await withAgent();
  const asUser = `${file.agent} controller --windows-service --kubeconfig C:\\k\\none --namespace x --node win-1`;
  const { exitCode, stderr } = await made.connection.exec(asUser);
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining('WINDOWS_NOT_A_SERVICE')]);
  const command = `${file.agent} controller --windows-service --log-dir C:\\l --kubeconfig C:\\k\\none --namespace x --node win-1`;
  const config = { command, description: '', dependencies: [], startType: 'manual', recovery: undefined } as const;
  await made.host.services.create(agentName, config);
  await made.host.services.start(agentName);
  await expect.poll(() => made.host.logLines.join('\n'), patient).toMatch(/Starting.*11\.0\.0-1/);
  expect((await made.host.services.query(agentName))?.state).toBe('start-pending');
});

test('a service in failingServices fails', async () => {
  await using made = await startHost({ traits: { failingServices: ['csi-proxy'] } });
  await made.install(file.csiProxy);
  const config = { command: file.csiProxy, description: '', dependencies: [], recovery: undefined } as const;
  await made.host.services.create('csi-proxy', { ...config, startType: 'manual' });
  await made.host.services.start('csi-proxy');
  await expect.poll(async () => (await made.host.services.query('csi-proxy'))?.state, patient).toBe('stopped');
});

test('a service that does not stop has to be killed', async () => {
  await using made = await startHost(findFault('stubborn-service'));
  await made.install(file.kubeProxy);
  await made.install(file.logRunner);
  const command = `${file.logRunner} -log-file=C:\\l ${file.kubeProxy} --config C:\\k\\kube-proxy.conf`;
  const config = { command, description: '', dependencies: [], startType: 'manual', recovery: undefined } as const;
  await made.host.services.create('kube-proxy', config);
  await made.host.services.start('kube-proxy');
  await expect.poll(async () => (await made.host.services.query('kube-proxy'))?.state, patient).toBe('running');
  await made.host.services.stop('kube-proxy');
  await new Promise(resolve => setTimeout(resolve, 100));
  expect((await made.host.services.query('kube-proxy'))?.state).toBe('stop-pending');
});

test('other programs on the disk just succeed', async () => {
  await using made = await startHost();
  await made.install(file.containerd);
  await using connection = await made.connect();
  expect(await connection.exec(`${file.containerd} --version`)).toEqual({ exitCode: 0, stdout: '', stderr: '' });
  expect((await connection.exec(file.containerd.replace('.exe', ''))).exitCode).toBe(0);
});

test('staging a bundle that is none fails in the words of the agent', async () => {
  await using made = await withAgent();
  await made.connection.upload('C:\\k\\bundle', Buffer.from('no bundle at all'));
  const { exitCode, stderr } = await made.connection.exec(installedAgent.stage('C:\\k\\bundle', 'ab'.repeat(32)));
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining('BUNDLE_MALFORMED')]);
});

test('stops in the middle of anything, and leaves neither port nor file', async () => {
  const made = await withAgent({ traits: { mishaps: [{ kind: 'hang', on: 'inventory', times: 1 }] } });
  const hanging = codeOf(() => made.connection.exec(installedAgent.inventory()));
  await expect.poll(() => made.host.stats.verbs.length, patient).toBe(1);
  const startMs = performance.now();
  await made[Symbol.asyncDispose]();
  expect(await hanging).toBe('HOST_CONNECTION_LOST');
  expect(performance.now() - startMs).toBeLessThan(10_000);
  expect([made.host.openConnections, made.store.size]).toEqual([0, 0]);
});

test('traits of a host can be changed at run time', async () => {
  await using made = await withAgent({
    traits: { isAdministrator: false, busyPorts: [10_250], diskBytes: 10_000_000 },
  });
  expect(await inventoryOf(made)).toMatchObject({ isAdministrator: false, portsInUse: [10_250] });
  made.host.change({ isAdministrator: true, busyPorts: [], diskBytes: 50e9, clockOffsetMs: 3_600_000 });
  const seen = await inventoryOf(made);
  expect(seen).toMatchObject({ isAdministrator: true, portsInUse: [] });
  expect(seen.freeBytes).toBeGreaterThan(40e9);
  expect(Date.parse(seen.time) - Date.now()).toBeGreaterThan(3_000_000);
});

test('a host that rejects the key accepts it after a change', async () => {
  await using made = await startHost({ traits: { acceptsKey: false } });
  expect(await codeOf(() => made.connect())).toBe('HOST_REFUSED_KEY');
  made.host.change({ acceptsKey: true });
  await (await made.connect()).close();
});

test('a host lost in a reboot can be powered on with a new boot ID', async () => {
  await using made = await withAgent({ traits: { returnsFromReboot: false } });
  const { bootId } = await inventoryOf(made);
  await made.connection.exec(installedAgent.reboot(bootId, 0));
  await expect.poll(() => made.host.isOn, patient).toBe(false);
  made.host.switchOn();
  await expect.poll(() => made.host.isOn, patient).toBe(true);
  made.host.switchOn();
  expect(made.host.stats.reboots).toBe(1);
  await using connection = await made.connect();
  expect((await inventoryOf({ connection })).bootId).not.toBe(bootId);
});

test('a host that is switched off stays off until it is switched on', async () => {
  await using made = await startHost();
  for (let press = 0; press < 2; press += 1) made.host.switchOff();
  expect([made.host.isOn, made.host.route()]).toEqual([false, 'refused']);
  made.host.switchOn();
  await expect.poll(() => made.host.isOn, patient).toBe(true);
});
