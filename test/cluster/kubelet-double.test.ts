import { X509Certificate } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { subjectOf } from '../../src/base/certificate-read.ts';
import { type Clock, systemClock } from '../../src/base/clock.ts';
import { defaultNamespace, identity, signer, windowsTaint } from '../../src/contract/names.ts';
import { payloadKubeletVersion } from '../../src/contract/version.ts';
import type { Client } from '../../src/kube/client.ts';
import { type Condition, findCondition } from '../../src/base/condition.ts';
import { createClient } from '../../src/kube/http-client.ts';
import { certificateSigningRequests, clusterRoleBindings, leases, type Node, nodes } from '../../src/kube/resources.ts';
import { kubeletConfig } from '../../src/node/desired/kubelet-config.ts';
import { loadKubeconfig } from '../../src/kube/config/load-kubeconfig.ts';
import { parseFlags } from '../../src/sandbox/machines/kubelet/flags.ts';
import type { KubeletHost } from '../../src/sandbox/machines/kubelet/kubelet-host.ts';
import { runKubelet } from '../../src/sandbox/machines/kubelet/run.ts';
import { type RecordsApprover, startApprover, startRecordsApprover } from '../kit/approve-requests.ts';
import { type Cluster, startCluster } from '../kit/cluster/cluster.ts';
import { recordedLog } from '../kit/recorded-log.ts';
import { readFaults } from '../kit/winhost/kubelet/faults.ts';

/** The kubelet double against a real API server; test/windows runs it as an .exe. */

let cluster: Cluster;
let admin: Client;
let folder = '';
let bootstrapKubeconfig = '';

beforeAll(async () => {
  cluster = await startCluster({ admissionPlugins: ['NodeRestriction'] });
  admin = createClient(cluster.adminConfig);
  folder = await mkdtemp(join(tmpdir(), 'wmco-kubelet-'));
  await admin.create(clusterRoleBindings, {
    metadata: { name: 'bootstrap' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'system:node-bootstrapper' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: identity.nodeBootstrapper }],
  });
  bootstrapKubeconfig = cluster.kubeconfigFor(identity.nodeBootstrapper, ['system:serviceaccounts']);
});

afterAll(async () => {
  await admin?.close();
  await cluster?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** A Windows host as a folder; its state can change while the kubelet runs. */
class FolderHost {
  readonly root: string;
  readonly name: string;
  isContainerdRunning = true;
  crashes = 0;

  constructor(name: string) {
    this.name = name;
    this.root = join(folder, name);
  }

  path(name: string): string {
    return join(this.root, name);
  }

  async put(name: string, text: string): Promise<void> {
    await mkdir(dirname(this.path(name)), { recursive: true });
    await writeFile(this.path(name), text);
  }

  read(name: string): Promise<string | undefined> {
    return readFile(this.path(name), 'utf8').catch(() => undefined);
  }

  port(): KubeletHost {
    return {
      hostName: () => this.name.toUpperCase(),
      osBuild: () => '10.0.20348',
      osImage: () => 'Windows Server 2022 Datacenter',
      bootId: () => 'boot-1',
      cpus: () => 4,
      memoryBytes: () => 8 * 1024 ** 3,
      read: path => readFile(path, 'utf8').catch(() => undefined),
      async write(path, text) {
        await mkdir(dirname(path), { recursive: true });
        await writeFile(path, text);
      },
      isServiceRunning: async name => name === 'containerd' && this.isContainerdRunning,
      connect: async path => createClient(loadKubeconfig(await readFile(path, 'utf8'), { folder: dirname(path) })),
      crash: () => void (this.crashes += 1),
    };
  }
}

async function freshHost(name: string): Promise<FolderHost> {
  const host = new FolderHost(name);
  await host.put('kubelet.conf', kubeletConfig('10.96.0.10'));
  await host.put('bootstrap-kubeconfig', bootstrapKubeconfig);
  await host.put('cni.conf', '{}');
  return host;
}

const addressOf = (name: string) => `10.1.0.${10 + Number(name.replaceAll(/\D/g, ''))}`;

/** Starts the kubelet of a host until the end of the scope. */
function startKubelet(host: FolderHost, { words = [] as string[], aheadMs = 0 } = {}) {
  const stop = new AbortController();
  const { log, lines } = recordedLog();
  const clock: Clock = { ...systemClock, now: () => systemClock.now() + aheadMs };
  const flags = parseFlags([
    `--config=${host.path('kubelet.conf')}`,
    `--bootstrap-kubeconfig=${host.path('bootstrap-kubeconfig')}`,
    `--kubeconfig=${host.path('kubeconfig')}`,
    `--cert-dir=${host.path('pki')}/`,
    '--windows-service',
    '--node-labels=node.openshift.io/os_id=Windows',
    '--v=2',
    `--node-ip=${addressOf(host.name)}`,
    ...words,
  ]);
  const port = host.port();
  const running = { flags, host: port, cniConfig: host.path('cni.conf'), clock, log, signal: stop.signal };
  const ended = readFaults(port, host.path('faults')).then(faults => runKubelet({ ...running, faults }));
  ended.catch(() => undefined);
  return {
    ended,
    messages: () => lines.map(({ message }) => message),
    stop: () => stop.abort(new Error('the service stops')),
    async [Symbol.asyncDispose]() {
      stop.abort(new Error('the test is over'));
      await ended.catch(() => undefined);
    },
  };
}

function approving(...names: string[]): RecordsApprover {
  const hosts = Object.fromEntries(names.map(name => [addressOf(name), name]));
  return startRecordsApprover(admin, { operatorNamespace: defaultNamespace, hosts });
}

const patient = { timeout: 60_000, interval: 100 };
const nodeNow = (name: string): Promise<Node | undefined> => admin.get(nodes, name).catch(() => undefined);
const readyOf = async (name: string): Promise<Condition | undefined> =>
  findCondition((await nodeNow(name))?.status?.conditions, 'Ready');
const requestsOf = async (name: string) =>
  (await admin.list(certificateSigningRequests)).items.filter(({ spec, status }) => {
    const certificate = Buffer.from(status?.certificate ?? '', 'base64').toString();
    return spec.username?.endsWith(`:${name}`) || (certificate !== '' && userOf(certificate).endsWith(`:${name}`));
  });
const userOf = (pem: string) => String(subjectOf(new X509Certificate(pem))['CN']);

test('joins like a real kubelet: certificate, Node, serving certificate, lease', async () => {
  const host = await freshHost('win1');
  await using approver = approving('win1');
  await using kubelet = startKubelet(host);
  await vi.waitFor(async () => expect(await readyOf('win1')).toMatchObject({ status: 'True' }), patient);
  const node = await nodeNow('win1');
  expect(node?.metadata.labels).toMatchObject({
    'kubernetes.io/os': 'windows',
    'kubernetes.io/arch': 'amd64',
    'kubernetes.io/hostname': 'win1',
    'node.openshift.io/os_id': 'Windows',
    'node.kubernetes.io/windows-build': '10.0.20348',
  });
  expect(node?.spec?.taints).toContainEqual(windowsTaint);
  expect(node?.status).toMatchObject({
    addresses: [
      { type: 'InternalIP', address: '10.1.0.11' },
      { type: 'Hostname', address: 'win1' },
    ],
    allocatable: { pods: '250', cpu: '4', memory: '8Gi' },
    nodeInfo: {
      operatingSystem: 'windows',
      kubeletVersion: payloadKubeletVersion,
      osImage: expect.stringMatching(/2022/),
    },
  });
  await vi.waitFor(
    async () => expect(await host.read('pki/kubelet-server-current.pem')).toMatch(/BEGIN CERT/),
    patient,
  );
  const serving = new X509Certificate((await host.read('pki/kubelet-server-current.pem')) ?? '');
  expect(serving.subjectAltName).toBe('DNS:win1, IP Address:10.1.0.11');
  await vi.waitFor(() => admin.get(leases, 'win1', { namespace: 'kube-node-lease' }), patient);
  const lease = await admin.get(leases, 'win1', { namespace: 'kube-node-lease' });
  expect(lease).toMatchObject({ spec: { holderIdentity: 'win1', leaseDurationSeconds: 40 } });
  expect(lease.metadata.ownerReferences).toMatchObject([{ kind: 'Node', uid: node?.metadata.uid }]);
  const signers = approver.decisions.map(({ request, decision }) => [request.spec.signerName, decision.do]);
  expect(signers).toEqual([
    [signer.kubeletClient, 'approve'],
    [signer.kubeletServing, 'approve'],
  ]);
  expect(kubelet.messages().filter(message => /again|Cannot/.test(message))).toEqual([]);
});

test('its kubeconfig has no bootstrap credential and the identity system:node', async () => {
  const host = new FolderHost('win1');
  const kubeconfig = (await host.read('kubeconfig')) ?? '';
  expect(JSON.parse(kubeconfig).users[0].user).toEqual({
    'client-certificate': host.path('pki/kubelet-client-current.pem'),
    'client-key': host.path('pki/kubelet-client-current.pem'),
  });
  expect(userOf((await host.read('pki/kubelet-client-current.pem')) ?? '')).toBe('system:node:win1');
});

test('a restart uses existing certificates and keeps changes of the Node', async () => {
  const host = new FolderHost('win1');
  const labels = { labels: { 'kubernetes.io/os': 'wrong', 'some.io/own': 'yes' } };
  await admin.patch(nodes, 'win1', { type: 'merge', body: { metadata: labels, spec: { taints: null } } });
  const before = await requestsOf('win1');
  await using kubelet = startKubelet(host);
  await vi.waitFor(() => expect(kubelet.messages()).toContain('Successfully registered node'), patient);
  const node = await nodeNow('win1');
  expect(node?.metadata.labels).toMatchObject({ 'kubernetes.io/os': 'windows', 'some.io/own': 'yes' });
  expect(node?.spec?.taints).toBeUndefined();
  expect((await requestsOf('win1')).length).toBe(before.length);
});

test('requests a new certificate with the bootstrap kubeconfig after expiry', async () => {
  const host = new FolderHost('win1');
  const before = await host.read('pki/kubelet-client-current.pem');
  await using _ = startApprover(admin);
  await using kubelet = startKubelet(host, { aheadMs: 3 * 365 * 86_400_000 });
  await vi.waitFor(async () => expect(await host.read('pki/kubelet-client-current.pem')).not.toBe(before), patient);
  expect(kubelet.messages()).toContain(
    'Using bootstrap kubeconfig to generate TLS client cert, key and kubeconfig file',
  );
});

test('renews a certificate with itself before it expires', async () => {
  const host = new FolderHost('win1');
  const before = (await host.read('pki/kubelet-client-current.pem')) ?? '';
  const { validToDate } = new X509Certificate(before);
  await using approver = approving();
  await using kubelet = startKubelet(host, { aheadMs: validToDate.getTime() - Date.now() - 3_600_000 });
  await vi.waitFor(async () => expect(await host.read('pki/kubelet-client-current.pem')).not.toBe(before), patient);
  expect(approver.decisions.map(({ request }) => request.spec.username)).toContain('system:node:win1');
  expect(kubelet.messages().filter(message => /bootstrap/.test(message))).toEqual([]);
});

test('is ready only while containerd runs and the network is configured', async () => {
  const host = await freshHost('win2');
  await rm(host.path('cni.conf'));
  await using _ = approving('win2');
  await using kubelet = startKubelet(host);
  const becomes = (status: string, message: RegExp) =>
    vi.waitFor(
      async () => expect(await readyOf('win2')).toMatchObject({ status, message: expect.stringMatching(message) }),
      {
        timeout: 60_000,
        interval: 100,
      },
    );
  await becomes('False', /NetworkPluginNotReady.*cni plugin not initialized/);
  await host.put('cni.conf', '{}');
  await becomes('True', /posting ready status/);
  host.isContainerdRunning = false;
  await becomes('False', /container runtime is down/);
  host.isContainerdRunning = true;
  await becomes('True', /posting ready status/);
  const readyMessages = () => kubelet.messages().filter(message => message === 'Node became');
  await vi.waitFor(() => expect(readyMessages()).toHaveLength(3), patient);
});

test('can be stopped in every wait', async () => {
  const host = await freshHost('win3');
  const kubelet = startKubelet(host);
  await vi.waitFor(() => expect(kubelet.messages()).toContain('Waiting for a certificate'), patient);
  kubelet.stop();
  await kubelet.ended;
  expect(kubelet.messages().at(-1)).toBe('Stopped');
  expect([await nodeNow('win3'), await host.read('kubeconfig')]).toEqual([undefined, undefined]);
});

test('fails when its request is denied', async () => {
  const host = await freshHost('win4');
  await using kubelet = startKubelet(host);
  await vi.waitFor(() => expect(kubelet.messages()).toContain('Waiting for a certificate'), patient);
  for (const { metadata, status } of (await admin.list(certificateSigningRequests)).items) {
    if (status?.conditions !== undefined) continue;
    const condition = { type: 'Denied', status: 'True', reason: 'Test', message: 'not this one' };
    const body = { status: { conditions: [condition] } };
    await admin.patch(
      certificateSigningRequests,
      metadata.name ?? '',
      { type: 'merge', body },
      { subresource: 'approval' },
    );
  }
  await expect(kubelet.ended).rejects.toThrow(/is Denied: not this one/);
});

const refusals: [string, (host: FolderHost) => Promise<void>, RegExp][] = [
  ['no configuration file', host => rm(host.path('kubelet.conf')), /kubelet\.conf: it does not exist/],
  ['another document in its place', host => host.put('kubelet.conf', '{"kind":"Pod"}'), /not a KubeletConfiguration/],
];
for (const [name, change, message] of refusals) {
  test(`does not start with ${name}`, async () => {
    const host = await freshHost('win5');
    await change(host);
    await using kubelet = startKubelet(host);
    await expect(kubelet.ended).rejects.toThrow(message);
  });
}

test('uses --hostname-override', async () => {
  const host = await freshHost('win6');
  await using _ = startApprover(admin);
  await using kubelet = startKubelet(host, { words: ['--hostname-override=Cloud-Name-6'] });
  await vi.waitFor(async () => expect(await nodeNow('cloud-name-6')).toBeDefined(), patient);
  expect(await nodeNow('win6')).toBeUndefined();
  expect(kubelet.messages()[0]).toBe('Starting');
});

test('simulates faults: never ready, no Node, a crash', async () => {
  const [unready, absent] = [await freshHost('win7'), await freshHost('win8')];
  await unready.put('faults/kubelet.never-ready', '');
  await unready.put('faults/kubelet.crash-after', '100');
  await absent.put('faults/kubelet.no-register', '');
  await using _ = approving('win7', 'win8');
  await using __ = startKubelet(unready);
  await using kubelet = startKubelet(absent);
  await vi.waitFor(async () => expect(await readyOf('win7')).toMatchObject({ status: 'False' }), patient);
  await vi.waitFor(async () => expect(await absent.read('kubeconfig')).toBeDefined(), patient);
  expect(unready.crashes).toBe(1);
  expect(kubelet.messages()).not.toContain('Attempting to register node');
  expect(await nodeNow('win8')).toBeUndefined();
});
