import { expect, test } from 'vitest';
import { windowsInstances } from '#cluster/windows-instance-resource.ts';
import { agentName, configMapName, nodeAnnotation, nodeLabel } from '#contract/names.ts';
import { dir, file } from '#contract/paths.ts';
import { printHostKey } from '#host/host-key.ts';
import { authorizedKey } from '#host/keys/public-key.ts';
import { configMaps, type Node, nodes } from '#kube/resources.ts';
import { configureSteps } from '#node/lifecycle/configure/steps.ts';
import { address, type JoinLab, namespace, startJoinLab, version } from '../../../test/kit/lifecycle/join-lab.ts';
import type { LabHost } from '../../../test/kit/lifecycle/lab-host.ts';
import { until } from '../../../test/kit/until.ts';

const phaseOf = async (lab: JoinLab, name?: string) => (await lab.instance(name)).status?.phase;
const isReady = (lab: JoinLab, name?: string) => until(async () => (await phaseOf(lab, name)) === 'Ready');
const marksOf = (node: Node | undefined) => node?.metadata.annotations ?? {};
const keyEntries = async (lab: JoinLab) =>
  (await lab.client.get(configMaps, configMapName.hostKeys, { namespace })).data ?? {};

/** A lab with one host that has joined. */
async function joinedLab(): Promise<{ lab: JoinLab; host: LabHost }> {
  const lab = await startJoinLab();
  const host = lab.host();
  lab.start();
  await lab.add();
  await isReady(lab);
  return { lab, host };
}

/** A lab with one host on its way, which stages and does not come to an end with it until it is told to. */
async function stagingLab(): Promise<{ lab: JoinLab; host: LabHost; goOn: () => void }> {
  const lab = await startJoinLab();
  const host = lab.host();
  const { promise, resolve } = Promise.withResolvers<undefined>();
  host.faults.exec = command => (command.includes(' stage ') ? promise : undefined);
  lab.start();
  await lab.add();
  await until(() => host.verbs().includes('stage'));
  return { lab, host, goOn: () => resolve(undefined) };
}

/** Takes the version away, and lets the agent confirm it again only when the journey waits for that. */
async function loseVersion(lab: JoinLab): Promise<void> {
  await lab.forgetVersion();
  await until(async () => (await lab.instance()).status?.step === 'wait for agent');
  lab.behavior.noVersion = false;
  lab.look();
  await isReady(lab);
}

test('a listed host becomes a schedulable Node with all labels and annotations, in few SSH sessions', async () => {
  const { lab, host } = await joinedLab();
  const node = await lab.node();
  expect(node?.metadata.labels).toMatchObject({ [nodeLabel.byoh]: 'true', [nodeLabel.worker]: '' });
  expect(marksOf(node)).toEqual({
    [nodeAnnotation.pubKeyHash]: 'hash-of-key',
    [nodeAnnotation.username]: 'sealed Administrator',
    [nodeAnnotation.sshHostKey]: printHostKey(host.hostKey),
    [nodeAnnotation.sshHostKeyType]: 'ssh-ed25519',
    [nodeAnnotation.desiredVersion]: version,
    [nodeAnnotation.desiredServices]: expect.stringContaining(version),
    [nodeAnnotation.version]: version,
  });
  expect(node?.spec?.unschedulable).toBeUndefined();
  await expect(keyEntries(lab)).rejects.toThrow('not found');
  expect(host.verbs()).toEqual(['inventory', 'secure', 'stage', 'stage', 'bootstrap', 'install']);
  expect(host.uploads).toHaveLength(3);
  expect([host.connectionCount, host.openConnections, host.boots]).toEqual([1, 0, 1]);
});

test('the status shows the steps, and each event is on the ConfigMap and on the instance, once', async () => {
  const { lab } = await joinedLab();
  const { status } = await lab.instance();
  const names = status?.timeline?.map(step => step.name) ?? [];
  expect(names).toEqual(configureSteps.map(step => step.name).filter(name => names.includes(name)));
  expect(status?.timeline?.every(step => step.finished !== undefined && step.attempts === 1)).toBe(true);
  expect(status).toMatchObject({ phase: 'Ready', node: 'win-5', ipv4: address, version, observedGeneration: 1 });
  expect(status).not.toHaveProperty('step');
  expect(status).not.toHaveProperty('progress');
  expect(status?.conditions?.map(({ type, status: is, reason }) => [type, is, reason])).toEqual([
    ['Configured', 'True', 'Joined'],
    ['Ready', 'True', 'Joined'],
    ['KubeletReachable', 'True', 'Reachable'],
  ]);
  await until(async () => (await lab.events()).length >= 2);
  expect((await lab.events()).toSorted()).toEqual([
    `ConfigMap windows-instances: InstanceSetup: Configured instance with address ${address} as a worker node`,
    `WindowsInstance win-5: InstanceSetup: Configured instance with address ${address} as a worker node`,
  ]);
});

test('the host has every file, and the agent as a service of the exact command', async () => {
  const { host } = await joinedLab();
  const files = host.model.fileTexts;
  for (const path of [file.kubelet, file.containerd, file.agentKubeconfig, file.bootstrapKubeconfig, file.caBundle]) {
    expect(files.has(path), path).toBe(true);
  }
  expect(host.model.files.accessOf(file.agentKubeconfig)).toBe('secret');
  expect(files.keys().filter(path => path.startsWith(dir.incoming))).toEqual([]);
  const services = await host.model.services.list();
  expect(services.find(({ name }) => name === agentName)).toMatchObject({
    state: 'running',
    config: { description: `OpenShift managed ${agentName}`, startType: 'automatic' },
  });
});

test('a Machine gets no labels of the operator, and its events are on the Machine and on the instance', async () => {
  const lab = await startJoinLab();
  lab.host();
  lab.start();
  await lab.add({ source: { kind: 'Machine', name: 'machine-1' } });
  await isReady(lab);
  expect((await lab.node())?.metadata.labels).not.toHaveProperty(nodeLabel.byoh);
  await until(async () => (await lab.events()).length >= 2);
  expect((await lab.events()).toSorted()).toEqual([
    'Machine machine-1: MachineSetup: Machine machine-1 configured successfully',
    'WindowsInstance win-5: MachineSetup: Machine machine-1 configured successfully',
  ]);
});

test('supports an instance with a DNS name, a pinned key, labels, taints and another port', async () => {
  const lab = await startJoinLab();
  const host = lab.host();
  lab.hosts.set('win.example.com', host);
  const ports: (number | undefined)[] = [];
  lab.start({
    connect: (target, options) => {
      ports.push(target.port);
      return lab.connect(target, options);
    },
  });
  const taints = [{ key: 'gpu', value: 'yes', effect: 'NoSchedule' as const }];
  const { source: _source, ...spec } = (await lab.add({ address: 'none' }, 'other')).spec;
  await lab.client.create(windowsInstances, {
    metadata: { name: 'win-5', namespace },
    spec: {
      ...spec,
      address: 'win.example.com',
      port: 2222,
      hostKey: authorizedKey(host.hostKey),
      labels: { zone: 'a' },
      taints,
    },
  });
  await isReady(lab);
  const node = await lab.node();
  expect(node?.metadata.labels).toMatchObject({ zone: 'a', [nodeLabel.byoh]: 'true' });
  expect(node?.spec?.taints).toContainEqual(taints[0]);
  expect(marksOf(node)[nodeAnnotation.sshHostKey]).toBe(printHostKey(host.hostKey));
  expect((await lab.instance()).status?.ipv4).toBe(address);
  expect(ports).toContain(2222);
  await expect(keyEntries(lab)).rejects.toThrow('not found');
  await until(async () => (await lab.events()).some(line => line.startsWith('WindowsInstance win-5: InstanceSetup')));
});

test('a host without Containers and with another name is rebooted once for both', async () => {
  const lab = await startJoinLab();
  const host = lab.host();
  host.model.state.containersFeature = 'disabled';
  lab.start();
  await lab.add({ hostname: 'worker-7' });
  await isReady(lab);
  expect(host.boots).toBe(2);
  expect(await lab.node('worker-7')).toBeDefined();
  const { status } = await lab.instance();
  expect(status).toMatchObject({ node: 'worker-7' });
  expect(status).not.toHaveProperty('reboot');
  expect(host.verbs()).toEqual(
    expect.arrayContaining(['rename', 'enable-containers', 'reboot', 'stage', 'bootstrap', 'install']),
  );
  expect(host.verbs().length + 2).toBeLessThanOrEqual(15);
});

test('drains the Node before a reboot for variables or certificates', async () => {
  const lab = await startJoinLab();
  const host = lab.host();
  lab.behavior.settingsReboot = true;
  lab.start();
  await lab.add();
  await isReady(lab);
  expect(host.boots).toBe(2);
  const node = await lab.node();
  expect(marksOf(node)).not.toHaveProperty(nodeAnnotation.rebootRequired);
  expect(marksOf(node)).not.toHaveProperty(nodeAnnotation.cordoned);
  expect(node?.spec?.unschedulable).toBeUndefined();
  const names = (await lab.instance()).status?.timeline?.map(step => step.name);
  expect(names).toEqual(expect.arrayContaining(['wait for agent', 'reboot for settings']));
  expect(host.openConnections).toBe(0);
});

test('a Node that an administrator has cordoned stays cordoned', async () => {
  const { lab } = await joinedLab();
  await lab.patchNode({ spec: { unschedulable: true } });
  await loseVersion(lab);
  const node = await lab.node();
  expect(node?.spec?.unschedulable).toBe(true);
  expect(marksOf(node)).not.toHaveProperty(nodeAnnotation.cordoned);
});

test('restores a lost version annotation without an upload, a stopped service or a reboot', async () => {
  const { lab, host } = await joinedLab();
  const [sent, calls] = [host.uploads.length, host.model.services.calls.length];
  await loseVersion(lab);
  // Fresh tokens are all that travels.
  expect(host.uploads.slice(sent)).toHaveLength(1);
  expect(host.model.services.calls.slice(calls)).toEqual([]);
  expect(host.verbs().slice(6)).toEqual(['inventory', 'secure', 'stage', 'install']);
  expect(host.boots).toBe(1);
});

test('cleans a host whose Node was deleted so that its kubelet registers again', async () => {
  const { lab, host } = await joinedLab();
  const before = host.commands.length;
  await lab.client.delete(nodes, 'win-5');
  await until(async () => marksOf(await lab.node())[nodeAnnotation.version] === version);
  await isReady(lab);
  expect(host.verbs().slice(before)).toEqual(['inventory', 'secure', 'cleanup', 'stage', 'bootstrap', 'install']);
  expect(host.commands[before + 2]).toContain('--keep-settings');
});

test('a recreated Node is configured only when the agent has reported the version for it', async () => {
  const { lab, host } = await joinedLab();
  lab.behavior.noVersion = true;
  await lab.client.delete(nodes, 'win-5');
  // The report still names the version.
  lab.restartKubelet(host);
  await lab.statusWhen(({ step }) => step === 'wait for agent');
  const node = await lab.node();
  expect(marksOf(node)).not.toHaveProperty(nodeAnnotation.version);
  expect([node?.spec?.unschedulable, (await lab.instance()).status?.nodeUID]).toEqual([true, node?.metadata.uid]);
  lab.behavior.noVersion = false;
  lab.look(host);
  await isReady(lab);
});

test('removes services of another configuration before it installs new ones', async () => {
  const lab = await startJoinLab();
  const host = lab.host();
  host.model.services
    .install('kubelet', { command: 'old.exe', description: 'OpenShift managed kubelet' })
    .install('old-service', { description: 'OpenShift managed old-service' });
  // A kubelet of that configuration has no certificate of this cluster.
  lab.behavior.noNode = true;
  host.faults.exec = command => {
    if (command.includes(' bootstrap ')) lab.behavior = {};
    return undefined;
  };
  lab.start();
  await lab.add();
  await isReady(lab);
  const verbs = host.verbs();
  expect(verbs.indexOf('cleanup')).toBeLessThan(verbs.indexOf('stage'));
  expect((await host.model.services.list()).map(({ name }) => name)).not.toContain('old-service');
});

test('removes outdated files, and only from directories of the operator', async () => {
  const { lab, host } = await joinedLab();
  const old = `${dir.registries}\\quay.io\\hosts.toml`;
  host.model.fileTexts.set(`${dir.k}\\mine.txt`, 'of somebody else');
  lab.inputs = usual => {
    const files = usual.files.files.filter(one => one.path !== old);
    return { ...usual, files: { ...usual.files, files } };
  };
  await loseVersion(lab);
  expect([host.model.fileTexts.has(old), host.model.fileTexts.has(`${dir.k}\\mine.txt`)]).toEqual([false, true]);
});

test('does nothing to a paused host until it is resumed', async () => {
  const lab = await startJoinLab();
  const host = lab.host();
  lab.start();
  await lab.add({ paused: true });
  await until(async () => (await phaseOf(lab)) === 'Paused');
  expect(host.connectionCount).toBe(0);
  await lab.client.patch(
    windowsInstances,
    'win-5',
    { type: 'merge', body: { spec: { paused: false } } },
    { namespace },
  );
  await isReady(lab);
});

test('stops the journey of a deleted instance at once and closes its connection', async () => {
  const { lab, host, goOn } = await stagingLab();
  await lab.client.delete(windowsInstances, 'win-5', { namespace });
  await until(() => host.openConnections === 0);
  goOn();
  const { length } = host.commands;
  await new Promise(wait => setTimeout(wait, 100));
  expect(host.commands).toHaveLength(length);
  expect(await lab.events()).toEqual([]);
});

test('a spec that changes during a journey starts a new one', async () => {
  const { lab, host, goOn } = await stagingLab();
  const body = { spec: { labels: { zone: 'b' } } };
  await lab.client.patch(windowsInstances, 'win-5', { type: 'merge', body }, { namespace });
  await until(() => host.openConnections === 0 || host.connectionCount === 2);
  goOn();
  await isReady(lab);
  expect((await lab.node())?.metadata.labels).toMatchObject({ zone: 'b' });
  expect((await lab.instance()).status?.observedGeneration).toBe(2);
});

test('a Node of another version is left alone and reported while the roll-out is paused', async () => {
  const { lab, host } = await joinedLab();
  await lab.pauseRollout();
  lab.behavior.noVersion = true;
  await lab.report({ version: '10.0.0-old' });
  const conditions = async () => (await lab.instance()).status?.conditions;
  await until(async () => (await conditions())?.[0]?.reason === 'OtherVersion');
  expect((await lab.instance()).status?.phase).toBe('Ready');
  expect(host.connectionCount).toBe(1);
});

const readyOf = async (lab: JoinLab) => (await lab.instance()).status?.conditions?.find(({ type }) => type === 'Ready');
async function reportNode(lab: JoinLab, status: string): Promise<void> {
  const body = { status: { conditions: [{ type: 'Ready', status }] } };
  await lab.client.patch(nodes, 'win-5', { type: 'merge', body }, { subresource: 'status' });
}

test('the condition follows the readiness of the Node', async () => {
  const { lab, host } = await joinedLab();
  await reportNode(lab, 'False');
  await until(async () => (await readyOf(lab))?.reason === 'NodeNotReady');
  expect((await lab.instance()).status?.conditions?.[0]).toMatchObject({ type: 'Configured', status: 'True' });
  await reportNode(lab, 'True');
  await until(async () => (await readyOf(lab))?.status === 'True');
  expect(host.connectionCount).toBe(1);
});

test('uncordons a Node that an interrupted journey left cordoned', async () => {
  const { lab, host } = await joinedLab();
  await lab.patchNode({ spec: { unschedulable: true }, metadata: { annotations: { [nodeAnnotation.cordoned]: '' } } });
  await until(async () => (await lab.node())?.spec?.unschedulable === undefined);
  expect(marksOf(await lab.node())).not.toHaveProperty(nodeAnnotation.cordoned);
  expect(host.connectionCount).toBe(1);
});

test('heartbeats of Nodes cause no reconcile pass, and an idle host no request', async () => {
  const { lab } = await joinedLab();
  await new Promise(wait => setTimeout(wait, 50));
  const passes = () => lab.logged.lines.length;
  const before = passes();
  for (let beat = 0; beat < 5; beat += 1) {
    const conditions = [{ type: 'Ready', status: 'True', lastHeartbeatTime: `2026-01-01T00:00:0${beat}Z` }];
    await lab.client.patch(
      nodes,
      'win-5',
      { type: 'merge', body: { status: { conditions } } },
      { subresource: 'status' },
    );
  }
  await new Promise(wait => setTimeout(wait, 100));
  expect(passes()).toBe(before);
  const { resourceVersion } = (await lab.instance()).metadata;
  await new Promise(wait => setTimeout(wait, 100));
  expect((await lab.instance()).metadata.resourceVersion).toBe(resourceVersion);
});

test('keeps conditions of other controllers', async () => {
  const lab = await startJoinLab();
  lab.host();
  const instance = await lab.add();
  const other = {
    type: 'Resolved',
    status: 'True',
    reason: 'x',
    message: '',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  };
  await lab.client.patch(
    windowsInstances,
    'win-5',
    { type: 'merge', body: { status: { conditions: [other] } } },
    { namespace, subresource: 'status' },
  );
  expect(instance.status).toBeUndefined();
  lab.start();
  await isReady(lab);
  expect((await lab.instance()).status?.conditions).toContainEqual(other);
});
