import { generateKeyPairSync } from 'node:crypto';
import { setImmediate, setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '../../src/base/clock.ts';
import { configMapName, defaultNamespace, operatorName } from '../../src/contract/names.ts';
import { payloadKubeletVersion } from '../../src/contract/version.ts';
import { certificateSigningRequests, configMaps, leases, namespaces } from '../../src/kube/resources.ts';
import { startEmbeddedCluster } from '../../src/sandbox/embedded-cluster.ts';
import { createServiceCa } from '../../src/sandbox/machines/cluster/service-ca.ts';
import { createInitialObjects } from '../../src/sandbox/machines/initial-objects/install.ts';
import {
  changeLabel,
  type ConfiguredNodes,
  createConfiguredNode,
  entriesOf,
  podNamespace,
  sendHeartbeat,
} from './configured-nodes.ts';

export type ServerOptions = Omit<ConfiguredNodes, 'namespace' | 'nowMs'>;

/** Sent when all Nodes exist. */
export interface ServerReady {
  /** Of the administrator. */
  kubeconfig: string;
  operatorKubeconfig: string;
  namespace: string;
}

/** What the server does on request; the answer are the figures since the last one. */
export type ServerTask =
  | { do: 'count' }
  | { do: 'free lease' }
  | { do: 'label'; rounds: number }
  | { do: 'heartbeats'; rounds: number; seconds: number };

export interface ServerFigures {
  /** Requests of the operator by verb and resource, without those for its Lease. */
  requests: Record<string, number>;
  /** Certificates issued since the start. */
  issued: number;
  memoryBytes: number;
}

/** A cluster of configured Nodes without hosts, in a separate process. */
const options = JSON.parse(process.argv[2] ?? '{}') as ServerOptions;
const namespace = defaultNamespace;
const operator = 'fleet-operator';
let requests: Record<string, number> = {};
const [major = '1', minor = '0'] = payloadKubeletVersion.slice(1).split('.');
const cluster = await startEmbeddedCluster({
  version: { major, minor, gitVersion: payloadKubeletVersion },
  beforeRequest: ({ user, info }) => {
    if (user.username !== operator || info.resource === 'leases') return;
    const request = `${info.verb} ${[info.resource || info.path, info.subresource].filter(Boolean).join('/')}`;
    requests[request] = (requests[request] ?? 0) + 1;
  },
});
await fill();
process.send?.({
  kubeconfig: cluster.kubeconfigFor(),
  operatorKubeconfig: cluster.kubeconfigFor({ commonName: operator, organizations: ['system:masters'] }),
  namespace,
} satisfies ServerReady);

process.on('message', (task: ServerTask) => void work(task).then(() => process.send?.(figures())));
process.once('SIGTERM', () => process.exit());
process.once('disconnect', () => process.exit());

async function fill(): Promise<void> {
  const { api } = cluster;
  const privateKey = generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' });
  const facts = {
    kind: 'openshift' as const,
    namespace,
    platform: 'None',
    apiServerUrl: cluster.url,
    ca: cluster.ca,
    privateKey,
    instances: entriesOf(options.count),
    machines: 0,
    nowMs: systemClock.now(),
  };
  await createInitialObjects(api, facts, systemClock);
  createServiceCa(systemClock).start(api);
  api.create(namespaces, { metadata: { name: podNamespace } });
  const mapUid = api.get(configMaps, { namespace, name: configMapName.instances })?.metadata.uid ?? '';
  for (let index = 0; index < options.count; index += 1) {
    createConfiguredNode(api, index, mapUid, { ...options, namespace, nowMs: facts.nowMs });
    await setImmediate();
  }
}

async function work(task: ServerTask): Promise<void> {
  if (task.do === 'free lease') cluster.api.delete(leases, { namespace, name: operatorName });
  if (task.do === 'label') return labelAll(task.rounds);
  if (task.do === 'heartbeats') return sendHeartbeats(task.rounds, task.seconds);
}

async function labelAll(rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    const value = String(systemClock.now());
    for (let index = 0; index < options.count; index += 1) {
      changeLabel(cluster.api, index, value);
      if (index % 10 === 9) await setImmediate();
    }
  }
}

/** Spreads the heartbeats of all rounds evenly. */
async function sendHeartbeats(rounds: number, seconds: number): Promise<void> {
  const total = rounds * options.count;
  const startMs = systemClock.monotonicMs();
  for (let sent = 0; sent < total; await delay(20)) {
    const due = Math.min(total, Math.ceil(((systemClock.monotonicMs() - startMs) / (seconds * 1000)) * total));
    for (; sent < due; sent += 1) sendHeartbeat(cluster.api, sent % options.count);
  }
}

function figures(): ServerFigures {
  const issued = cluster.api
    .list(certificateSigningRequests)
    .filter(({ status }) => (status as { certificate?: string } | undefined)?.certificate !== undefined).length;
  const answer = { requests, issued, memoryBytes: process.memoryUsage().rss };
  requests = {};
  return answer;
}
