import type { EventText } from '#contract/events.ts';
import { agentName } from '#contract/names.ts';
import { Controller } from '#kube/controller/controller.ts';
import { type Runnable, runManager } from '#kube/controller/manager.ts';
import { watching } from '#kube/controller/watches.ts';
import { whenAborted } from '#kube/deadline.ts';
import { EventRecorder } from '#kube/events/events.ts';
import { Informers } from '#kube/informer/informers.ts';
import { type Node, nodes } from '#kube/resources.ts';
import { createCluster } from '../cluster.ts';
import type { AgentIdentity } from '../identity/identity.ts';
import type { Cluster } from '../ports.ts';
import { ManifestWatch } from './manifest-watch.ts';
import { nodeChanges } from './node-changes.ts';
import type { ControllerOptions, ControllerWorld } from './options.ts';
import { createReconcile, periodMs } from './pass.ts';
import { type Enrolment, enrol } from './start.ts';

/** When to stop, and whom to tell that the host is looked after. */
export interface ControllerLife {
  signal: AbortSignal;
  ready(): void;
}

/** Windows gives a service twenty seconds to end. */
const stopMs = 12_000;
const flushMs = 2000;

/**
 * Keeps the host as its Node wants it, until it is told to stop. Rejects when it cannot begin; afterwards every trouble is
 * waited out.
 */
export async function runController(
  world: ControllerWorld,
  options: ControllerOptions,
  life: ControllerLife,
): Promise<void> {
  const ending = new AbortController();
  const signal = AbortSignal.any([life.signal, ending.signal]);
  const remarks: Remarks = { record: () => undefined };
  let identity: AgentIdentity | undefined;
  try {
    const record = (remark: EventText) => remarks.record(remark);
    const enrolment = await enrol(world, { ...options, signal, onReady: () => life.ready(), record });
    identity = enrolment.identity;
    await lookAfter(enrolment, { ...world, ...options, remarks }, signal);
  } catch (error) {
    if (!life.signal.aborted) throw error;
  } finally {
    ending.abort();
    await identity?.stopped;
    await identity?.client.close();
  }
}

/** Where remarks on the Node go; those that come before the API server can be reached are not worth waiting for. */
interface Remarks {
  record(remark: EventText): void;
}

type Work = ControllerWorld & ControllerOptions & { remarks: Remarks };

async function lookAfter({ node, identity }: Enrolment, work: Work, signal: AbortSignal): Promise<void> {
  const { clock, log, remarks } = work;
  const { client } = identity;
  const recorder = new EventRecorder({
    client,
    component: `${agentName}-controller`,
    instance: node.name,
    flushMs,
    clock,
    log,
  });
  const reference = { apiVersion: 'v1', kind: 'Node', name: node.name, uid: node.uid };
  remarks.record = remark => recorder.record(reference, remark);
  const informers = new Informers({ client, clock, log });
  const source = informers.get(nodes, { fieldSelector: `metadata.name=${node.name}` });
  const key = { namespace: '', name: node.name };
  const manifests = new ManifestWatch({
    client,
    namespace: work.namespace,
    clock,
    log,
    signal,
    onChange: () => void controller.enqueue(key),
  });
  const direct = createCluster({ client, nodeName: node.name, namespace: work.namespace, signal });
  const cluster = watchedCluster(() => source.store.get(key), manifests, direct);
  const controller = new Controller({
    name: 'host',
    watches: [watching({ source, predicate: nodeChanges })],
    reconcile: createReconcile({
      ...work,
      ports: { ...work.ports, cluster },
      record: remark => remarks.record(remark),
    }),
    queue: { maxRetryMs: periodMs },
    clock,
    log,
  });
  try {
    await runManager(
      {
        servers: [recorder, runnableOf(identity)],
        caches: [informers],
        others: [controller],
        stopTimeoutMs: stopMs,
        clock,
        log,
      },
      signal,
    );
  } finally {
    await manifests.stop();
  }
}

/** Reads what watches have brought, so that neither a pass nor a wait costs a request. */
function watchedCluster(node: () => Node | undefined, manifests: ManifestWatch, direct: Cluster): Cluster {
  return {
    ...direct,
    node: async () => {
      const object = node();
      // Objects of a list do not say what they are.
      return object && { ...object, apiVersion: 'v1', kind: 'Node' };
    },
    servicesConfigMap: version => manifests.get(version),
  };
}

/** The end of the identity by itself is a failure of everything. */
function runnableOf(identity: AgentIdentity): Runnable {
  return {
    name: 'identity',
    run: async (signal, ready) => {
      ready();
      await Promise.race([identity.stopped, whenAborted(signal)]);
    },
  };
}
