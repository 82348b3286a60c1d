import { X509Certificate } from 'node:crypto';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { windowsTaint } from '../../src/contract/names.ts';
import { dir, file } from '../../src/contract/paths.ts';
import { findCondition } from '../../src/base/condition.ts';
import { certificateSigningRequests, clusterRoleBindings, leases, nodes } from '../../src/kube/resources.ts';
import { kubeletConfig } from '../../src/node/desired/kubelet-config.ts';
import { type Approver, startApprover } from '../kit/approve-requests.ts';
import { type LabCluster, startLabCluster } from '../kit/winhost/cluster.ts';
import type { WindowsHost } from '../kit/winhost/host.ts';
import { buildKubelet } from '../kit/winhost/kubelet/build.ts';
import { WindowsLab } from '../kit/winhost/lab.ts';

/** The kubelet double as an .exe; test/cluster/kubelet-double.test.ts has its full behavior. */

let lab: WindowsLab;
let world: LabCluster;
let approver: Approver;
let host: WindowsHost;

beforeAll(async () => {
  const kubelet = await buildKubelet();
  lab = await WindowsLab.start();
  world = await startLabCluster(lab, { admissionPlugins: ['NodeRestriction'] });
  approver = startApprover(world.client);
  await world.client.create(clusterRoleBindings, {
    metadata: { name: 'bootstrap' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'system:node-bootstrapper' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'bootstrapper' }],
  });
  host = await lab.createHost();
  await host.drive.copyIn(kubelet, file.kubelet);
  await host.drive.write(file.kubeletConfig, kubeletConfig('10.96.0.10'));
  await host.drive.write(file.bootstrapKubeconfig, world.kubeconfigFor('bootstrapper'));
  await host.drive.write(`${dir.kubeletLog}\\placeholder`, '');
  await host.install('kube-log-runner.exe', file.logRunner);
  await host.install('service.exe', file.containerd);
  await host.run(`sc create containerd binPath= "${file.containerd}"`);
  await host.run(`sc create kubelet binPath= "${kubeletCommand()}"`);
});

afterAll(async () => {
  await approver?.stop();
  await world?.stop();
  await lab?.stop();
});

/** The command in the services ConfigMap. */
function kubeletCommand(): string {
  return [
    `${file.logRunner} -log-file=${file.kubeletLog} ${file.kubelet} --config=${file.kubeletConfig}`,
    `--bootstrap-kubeconfig=${file.bootstrapKubeconfig} --kubeconfig=${file.kubeconfig} --cert-dir=${dir.kubeletPki}`,
    '--windows-service --node-labels=node.openshift.io/os_id=Windows',
    `--windows-priorityclass=ABOVE_NORMAL_PRIORITY_CLASS --v=2 --node-ip=${host.address}`,
  ].join(' ');
}

const certificatePath = `${dir.kubeletPki}kubelet-client-current.pem`;
const patient = { timeout: 60_000, interval: 250 };
const state = async () => /STATE\s+: \d\s+(\w+)/.exec(await host.run('sc query kubelet'))?.[1];
const logText = () => host.drive.read(file.kubeletLog) ?? '';
const ready = async () => findCondition((await world.client.get(nodes, host.name)).status?.conditions, 'Ready')?.status;

async function start(): Promise<void> {
  await host.run('sc start kubelet');
  await vi.waitFor(async () => expect(await state()).toBe('RUNNING'), patient);
}

async function stop(): Promise<void> {
  await host.run('sc stop kubelet');
  await vi.waitFor(async () => expect(await state()).toBe('STOPPED'), patient);
}

test('runs as a service behind kube-log-runner and registers a Node', async () => {
  await start();
  await vi.waitFor(async () => expect(await ready()).toBe('False'), patient);
  const node = await world.client.get(nodes, host.name);
  expect(node.metadata.labels).toMatchObject({
    'kubernetes.io/os': 'windows',
    'kubernetes.io/hostname': host.name,
    'node.openshift.io/os_id': 'Windows',
    'node.kubernetes.io/windows-build': '10.0.20348',
  });
  expect(node.spec?.taints).toContainEqual(windowsTaint);
  expect(node.status?.addresses).toEqual([
    { type: 'InternalIP', address: host.address },
    { type: 'Hostname', address: host.name },
  ]);
  expect(node.status?.nodeInfo?.['osImage']).toMatch(/Windows/);
  await vi.waitFor(() => world.client.get(leases, host.name, { namespace: 'kube-node-lease' }), patient);
});

test('is ready when containerd runs and the network is configured', async () => {
  await host.run('sc start containerd');
  await host.drive.write(file.cniConfig, '{}');
  await vi.waitFor(async () => expect(await ready()).toBe('True'), patient);
  await host.run('sc stop containerd');
  await vi.waitFor(async () => expect(await ready()).toBe('False'), patient);
  await host.run('sc start containerd');
  await vi.waitFor(async () => expect(await ready()).toBe('True'), patient);
});

test('has a serving certificate for its name and address', async () => {
  const path = `${dir.kubeletPki}kubelet-server-current.pem`;
  await vi.waitFor(() => expect(host.drive.read(path)).toContain('BEGIN CERTIFICATE'), patient);
  const { subjectAltName } = new X509Certificate(host.drive.read(path) ?? '');
  expect(subjectAltName).toBe(`DNS:${host.name}, IP Address:${host.address}`);
});

test('stops within seconds, and requests no certificate after a restart', async () => {
  const requests = async () => (await world.client.list(certificateSigningRequests)).items.length;
  const before = [await requests(), host.drive.read(certificatePath)];
  await stop();
  expect(logText()).toContain('"message":"Stopped"');
  expect(await host.run('tasklist')).not.toMatch(/kubelet\.exe|kube-log-runner/);
  await start();
  await vi.waitFor(() => expect(logText().match(/Successfully registered node/g)).toHaveLength(2), patient);
  expect([await requests(), host.drive.read(certificatePath)]).toEqual(before);
  expect(host.lab.serviceEvents('kubelet').map(({ event }) => event)).toEqual([
    'start',
    'running',
    'stopped',
    'start',
    'running',
  ]);
});

test('comes back from a reboot and a power cut with its certificate', async () => {
  const before = host.drive.read(certificatePath);
  // The reboot flushes the registry, which a power cut right after the installation would lose.
  await host.reboot();
  await host.run('sc start containerd');
  await start();
  await vi.waitFor(() => expect(logText().match(/Successfully registered node/g)).toHaveLength(3), patient);
  await host.cut();
  await host.start();
  expect(await state()).toBe('STOPPED');
  await host.run('sc start containerd');
  await start();
  await vi.waitFor(() => expect(logText().match(/Successfully registered node/g)).toHaveLength(4), patient);
  expect(host.drive.read(certificatePath)).toBe(before);
});

test('crashes on demand, and Windows reports it', async () => {
  await stop();
  await host.lab.setFault('kubelet', 'crash-after', 500);
  await host.run('sc start kubelet');
  await vi.waitFor(
    async () => expect(await host.run('sc query kubelet')).toMatch(/STOPPED[^]*WIN32_EXIT_CODE\s+: 1067/),
    patient,
  );
  expect(host.lab.serviceEvents('kubelet').at(-1)?.event).toBe('running');
  await host.lab.clearFaults();
});

test('logs an invalid command line', async () => {
  await host.exec(`${file.logRunner} -log-file=C:\\bad.log ${file.kubelet} --no-such-flag`);
  expect(host.drive.read('C:\\bad.log')).toContain('unknown flag: --no-such-flag');
});

test('no unexpected program was called', () => expect(host.lab.unexpected()).toEqual([]));
