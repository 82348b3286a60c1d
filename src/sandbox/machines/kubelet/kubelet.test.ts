import { createPublicKey, X509Certificate } from 'node:crypto';
import { expect, test } from 'vitest';
import { toBase64 } from '#base/bytes.ts';
import { parseCertificateRequest } from '#contract/csr-request.ts';
import { identity, signer, windowsTaint } from '#contract/names.ts';
import { kubeletConfig } from '#node/desired/kubelet-config.ts';
import type { Client } from '#kube/client.ts';
import { findCondition } from '#base/condition.ts';
import { certificateSigningRequests as requests, leases, type Node, nodes } from '#kube/resources.ts';
import { TestCa } from '../../../../test/kit/certificates.ts';
import { type ManualClock, manualClock } from '../../../../test/kit/manual-clock.ts';
import { MemoryApi, refused } from '../../../../test/kit/memory-api.ts';
import { recordedLog } from '../../../../test/kit/recorded-log.ts';
import { makeRequest } from './certificate-request.ts';
import { parseFlags } from './flags.ts';
import type { KubeletFaults, KubeletHost } from './kubelet-host.ts';
import { runKubelet } from './run.ts';

const certDir = 'c:\\var\\lib\\kubelet\\pki\\';
const clientCertificate = `${certDir}kubelet-client-current.pem`;
const servingCertificate = `${certDir}kubelet-server-current.pem`;
const bootstrap = JSON.stringify({
  clusters: [{ name: 'local', cluster: { server: 'https://api:6443', 'certificate-authority-data': toBase64('CA') } }],
  users: [{ name: 'kubelet', user: { token: 'bootstrap-token' } }],
  contexts: [{ name: 'kubelet', context: { cluster: 'local', user: 'kubelet' } }],
  'current-context': 'kubelet',
});
const ca = new TestCa();
const dayMs = 86_400_000;

interface Scene {
  api: MemoryApi;
  clock: ManualClock;
  files: Map<string, string>;
  running: { containerd: boolean };
  ended: Promise<void>;
  messages: () => string[];
  crashes: () => number;
  closed: () => number;
  stop: () => void;
  /** Signs what was asked for, as approver and signer of a cluster would. */
  issue: () => void;
  /** Changes take effect while it runs. */
  faults: KubeletFaults;
  node: () => Node | undefined;
  ready: () => string | undefined;
}

/** A kubelet on a host in memory. It is started at once. */
function start(
  options: { files?: Record<string, string>; faults?: Partial<KubeletFaults>; words?: string[] } = {},
): Scene {
  const api = new MemoryApi();
  const clock = manualClock();
  const recorded = recordedLog();
  const stop = new AbortController();
  const running = { containerd: true };
  let [crashes, closed, asked] = [0, 0, 0];
  const files = new Map(
    Object.entries({
      'C:\\k\\kubelet.conf': kubeletConfig('172.30.0.10'),
      'C:\\k\\bootstrap-kubeconfig': bootstrap,
      'C:\\cni.conf': '{}',
      ...options.files,
    }),
  );
  // Names are made by the server.
  api.before = call => {
    if (call.verb !== 'create' || call.resource !== 'certificatesigningrequests') return undefined;
    asked += 1;
    return api.put(requests, { ...(call.body as never as { spec: never }), metadata: { name: `csr-${asked}` } });
  };
  const client = Object.assign(api, { close: async () => void (closed += 1) }) as unknown as Client;
  const host: KubeletHost = {
    hostName: () => 'WIN-1',
    osBuild: () => '10.0.20348',
    osImage: () => 'Windows Server 2022 Datacenter',
    bootId: () => 'boot-1',
    cpus: () => 4,
    memoryBytes: () => 2 ** 33,
    read: async path => files.get(path),
    write: async (path, text) => void files.set(path, text),
    isServiceRunning: async name => name === 'containerd' && running.containerd,
    connect: async () => client,
    crash: () => void (crashes += 1),
  };
  const flags = parseFlags([
    '--config=C:\\k\\kubelet.conf',
    '--bootstrap-kubeconfig=C:\\k\\bootstrap-kubeconfig',
    '--kubeconfig=C:\\k\\kubeconfig',
    `--cert-dir=${certDir}`,
    '--node-labels=node.openshift.io/os_id=Windows',
    '--node-ip=10.0.0.11',
    ...(options.words ?? []),
  ]);
  const faults = { neverReady: false, noRegister: false, crashAfterMs: undefined, slowStopMs: 0, ...options.faults };
  const { signal } = stop;
  const ended = runKubelet({ flags, host, cniConfig: 'C:\\cni.conf', faults, clock, log: recorded.log, signal });
  ended.catch(() => undefined);
  const node = () => api.peek(nodes, 'win-1');
  return {
    api,
    clock,
    files,
    running,
    ended,
    messages: () => recorded.lines.map(({ message }) => message),
    crashes: () => crashes,
    closed: () => closed,
    stop: () => stop.abort(new Error('the service stops')),
    issue: () => {
      for (const request of api.all(requests).filter(({ status }) => status?.certificate === undefined)) {
        const text = Buffer.from(request.spec.request, 'base64').toString();
        const { subjectPublicKeyInfo } = parseCertificateRequest(text);
        const validity = { notBefore: clock.now() - 1000, notAfter: clock.now() + 10 * dayMs };
        const cert = ca.certify(
          { commonName: 'system:node:win-1', organizations: ['system:nodes'], ...validity },
          subjectPublicKeyInfo,
        );
        api.put(requests, { ...request, status: { certificate: toBase64(cert) } });
      }
    },
    faults,
    node,
    ready: () => findCondition(node()?.status?.conditions, 'Ready')?.status,
  };
}

/** One that has its certificates and its Node. */
async function joined(options?: Parameters<typeof start>[0]): Promise<Scene> {
  const made = start(options);
  for (let turn = 0; turn < 4; turn += 1) {
    await made.clock.advance(500);
    made.issue();
  }
  await made.clock.advance(2000);
  return made;
}

async function end(made: Scene): Promise<void> {
  made.stop();
  await made.clock.advance(0);
  await made.ended;
}

const verbsOn = (made: Scene, resource: string) =>
  made.api.calls.filter(call => call.resource === resource).map(({ verb }) => verb);

test('asks for its first certificate with the bootstrap kubeconfig, as every kubelet does', async () => {
  const made = start();
  await made.clock.advance(0);
  const [request] = made.api.all(requests);
  expect(request?.spec).toMatchObject({
    signerName: signer.kubeletClient,
    usages: ['digital signature', 'key encipherment', 'client auth'],
  });
  const content = parseCertificateRequest(Buffer.from(request?.spec.request ?? '', 'base64').toString());
  expect(content).toMatchObject({
    commonName: 'system:node:win-1',
    organizations: [identity.nodesGroup],
    dnsNames: [],
  });
  await end(made);
});

test('certificate and key in its file belong together', async () => {
  const made = await joined();
  const text = made.files.get(clientCertificate) ?? '';
  const key = text.slice(text.indexOf('-----BEGIN EC'));
  expect(new X509Certificate(text).publicKey.equals(createPublicKey(key))).toBe(true);
  await end(made);
});

test('registers its Node once and keeps the lease of it', async () => {
  const made = await joined();
  expect(made.node()).toMatchObject({
    metadata: {
      labels: {
        'kubernetes.io/os': 'windows',
        'kubernetes.io/hostname': 'win-1',
        'node.openshift.io/os_id': 'Windows',
      },
    },
    spec: { taints: [windowsTaint] },
    status: {
      addresses: [
        { type: 'InternalIP', address: '10.0.0.11' },
        { type: 'Hostname', address: 'win-1' },
      ],
      capacity: { cpu: '4', memory: '8388608Ki', pods: '250' },
      nodeInfo: { bootID: 'boot-1', kernelVersion: '10.0.20348' },
    },
  });
  const lease = () => made.api.peek(leases, 'win-1', 'kube-node-lease');
  expect(lease()).toMatchObject({ spec: { holderIdentity: 'win-1', leaseDurationSeconds: 40 } });
  expect(lease()?.metadata.ownerReferences).toMatchObject([{ kind: 'Node', uid: made.node()?.metadata.uid }]);
  const before = lease()?.spec?.renewTime;
  await made.clock.advance(10_000);
  expect(lease()?.spec?.renewTime).not.toBe(before);
  // A kubelet registers only when it starts.
  await made.api.delete(nodes, 'win-1');
  await made.clock.advance(120_000);
  expect(made.node()).toBeUndefined();
  await end(made);
});

test('taints its Node until a cloud has initialized it, where there is one', async () => {
  const made = await joined({ words: ['--cloud-provider=external'] });
  expect(made.node()?.spec?.taints?.map(({ key, effect }) => `${key}:${effect}`)).toEqual([
    `${windowsTaint.key}:NoSchedule`,
    'node.cloudprovider.kubernetes.io/uninitialized:NoSchedule',
  ]);
  await end(made);
});

test('its kubeconfig has the server of the bootstrap one, and its certificate in the place of the token', async () => {
  const made = await joined();
  const kubeconfig = JSON.parse(made.files.get('C:\\k\\kubeconfig') ?? '');
  expect(kubeconfig.clusters[0].cluster).toMatchObject({
    server: 'https://api:6443',
    'certificate-authority-data': toBase64('CA'),
  });
  expect(kubeconfig.users[0].user).toEqual({
    'client-certificate': clientCertificate,
    'client-key': clientCertificate,
  });
  expect(made.files.get('C:\\k\\kubeconfig')).not.toContain('bootstrap-token');
  await end(made);
});

test('asks for a serving certificate with its name and address once it has a Node', async () => {
  const made = await joined();
  const serving = made.api.all(requests).find(({ spec }) => spec.signerName === signer.kubeletServing);
  const content = parseCertificateRequest(Buffer.from(serving?.spec.request ?? '', 'base64').toString());
  expect([content.dnsNames, content.ipAddresses]).toEqual([['win-1'], ['10.0.0.11']]);
  expect(made.files.has(servingCertificate)).toBe(true);
  await end(made);
});

test('reports failures and recovery of containerd and the network at once', async () => {
  const made = await joined();
  expect(made.ready()).toBe('True');
  made.running.containerd = false;
  await made.clock.advance(1000);
  expect(made.ready()).toBe('False');
  made.running.containerd = true;
  made.files.delete('C:\\cni.conf');
  await made.clock.advance(1000);
  expect(made.ready()).toBe('False');
  made.files.set('C:\\cni.conf', '{}');
  await made.clock.advance(1000);
  expect(made.ready()).toBe('True');
  await end(made);
});

test('reports an unchanged status only once in a while', async () => {
  const made = await joined();
  const reports = () => verbsOn(made, 'nodes/status').length;
  const before = reports();
  await made.clock.advance(55_000);
  expect(reports()).toBe(before);
  await made.clock.advance(10_000);
  expect(reports()).toBe(before + 1);
  await end(made);
});

test('a restart uses what is there: no request, no second Node', async () => {
  const first = await joined();
  await end(first);
  const again = start({ files: Object.fromEntries(first.files) });
  again.api.put(nodes, { metadata: { name: 'win-1', labels: { own: 'yes', 'kubernetes.io/os': 'wrong' } } });
  await again.clock.advance(2000);
  expect(again.api.all(requests).filter(({ spec }) => spec.signerName === signer.kubeletClient)).toEqual([]);
  expect(again.node()?.metadata.labels).toMatchObject({ own: 'yes', 'kubernetes.io/os': 'windows' });
  await end(again);
});

test('renews a certificate that is near its end with itself, and one that is over with the bootstrap', async () => {
  const made = await joined();
  const count = () => made.api.all(requests).filter(({ spec }) => spec.signerName === signer.kubeletClient).length;
  expect(count()).toBe(1);
  made.clock.jump(8.5 * dayMs);
  await made.clock.advance(5000);
  expect(count()).toBe(2);
  made.issue();
  await made.clock.advance(1000);
  made.clock.jump(30 * dayMs);
  await made.clock.advance(5000);
  expect(count()).toBe(3);
  expect(made.messages().filter(message => message.startsWith('Using bootstrap kubeconfig'))).toHaveLength(2);
  await end(made);
});

test('tolerates an unreachable API server, however long', async () => {
  const made = await joined();
  const { before } = made.api;
  made.api.before = () => {
    throw refused(503, 'ServiceUnavailable');
  };
  made.running.containerd = false;
  await made.clock.advance(120_000);
  expect(made.messages()).toContain('Failed; retrying');
  made.api.before = before;
  await made.clock.advance(1000);
  expect(made.ready()).toBe('False');
  await end(made);
});

test('gives up after a minute when there was no certificate at all', async () => {
  const made = start();
  made.api.before = () => {
    throw refused(503, 'ServiceUnavailable');
  };
  await made.clock.advance(62_000);
  await expect(made.ended).rejects.toMatchObject({ code: 503 });
  expect(made.closed()).toBeGreaterThan(0);
});

for (const type of ['Denied', 'Failed']) {
  test(`ends when its request is ${type}`, async () => {
    const made = start();
    await made.clock.advance(0);
    const [request] = made.api.all(requests);
    if (request === undefined) throw new Error('no request');
    made.api.put(requests, { ...request, status: { conditions: [{ type, status: 'True', message: 'not this one' }] } });
    await made.clock.advance(1000);
    await expect(made.ended).rejects.toThrow(`is ${type}: not this one`);
  });
}

test('stops waiting for its certificate after a timeout', async () => {
  const made = start();
  await made.clock.advance(16 * 60_000);
  await expect(made.ended).rejects.toThrow('was not approved in time');
});

const unfit: [string, Record<string, string>, RegExp][] = [
  ['an empty configuration', { 'C:\\k\\kubelet.conf': '' }, /not a KubeletConfiguration/],
  ['a configuration of another kind', { 'C:\\k\\kubelet.conf': 'kind: Pod' }, /not a KubeletConfiguration/],
];
for (const [name, files, message] of unfit) {
  test(`does not start with ${name}`, async () => {
    const made = start({ files });
    await expect(made.ended).rejects.toThrow(message);
    expect(made.api.calls).toEqual([]);
  });
}

test('supports injected faults: never ready, no Node, crash, slow stop', async () => {
  const unready = await joined({ faults: { neverReady: true } });
  expect(unready.ready()).toBe('False');
  const absent = await joined({ faults: { noRegister: true } });
  expect(absent.node()).toBeUndefined();
  const crashing = await joined({ faults: { crashAfterMs: 1000 } });
  expect(crashing.crashes()).toBe(1);
  const slow = await joined({ faults: { slowStopMs: 5000 } });
  slow.stop();
  await slow.clock.advance(4000);
  expect(slow.messages()).not.toContain('Stopped');
  await slow.clock.advance(1000);
  await slow.ended;
  for (const made of [unready, absent, crashing]) await end(made);
});

test('reacts to the end of a fault while it runs', async () => {
  const made = await joined({ faults: { neverReady: true, noRegister: true } });
  made.faults.noRegister = false;
  await made.clock.advance(2000);
  expect([made.node()?.metadata.name, made.ready()]).toEqual(['win-1', 'False']);
  made.faults.neverReady = false;
  await made.clock.advance(2000);
  expect(made.ready()).toBe('True');
  await end(made);
});

test('takes the name it is given, in small letters', async () => {
  const made = start({ words: ['--hostname-override= Cloud-Name '] });
  await made.clock.advance(0);
  const [request] = made.api.all(requests);
  const content = parseCertificateRequest(Buffer.from(request?.spec.request ?? '', 'base64').toString());
  expect(content.commonName).toBe('system:node:cloud-name');
  await end(made);
});

test('leaves no timer and no open client when it stops', async () => {
  const made = await joined();
  await end(made);
  expect([made.clock.sleepers(), made.closed()]).toEqual([0, 2]);
});

test('a request is signed by its own key', () => {
  const { request, key } = makeRequest('win-1', { dnsName: 'win-1', ipv4: '10.0.0.11' });
  const { signed, subjectPublicKeyInfo } = parseCertificateRequest(request);
  const publicKey = createPublicKey({ key: Buffer.from(subjectPublicKeyInfo), format: 'der', type: 'spki' });
  expect(publicKey.equals(createPublicKey(key))).toBe(true);
  expect(signed.algorithm).toBe('1.2.840.10045.4.3.2');
});
