import type { EventText } from '#contract/events.ts';
import { Controller } from '#kube/controller/controller.ts';
import { type Runnable, runManager } from '#kube/controller/manager.ts';
import { watching } from '#kube/controller/watches.ts';
import { whenAborted } from '#base/waiting/deadline.ts';
import { Informers } from '#kube/informer/informers.ts';
import { type Node, nodes } from '#kube/resources.ts';
import type { AgentIdentity } from '../identity/identity.ts';
import type { Cluster, ServiceLife } from '../ports.ts';
import { Report } from '../report.ts';
import { ManifestWatch } from './manifest-watch.ts';
import { nodeChanges } from './node-changes.ts';
import type { ControllerOptions, ControllerDeps } from './options.ts';
import { createReconcile, periodMs } from './pass.ts';
import { renewalEvent } from './events.ts';
import { watchStaged } from './staged-watch.ts';
import { enroll } from './start.ts';

/** The agent has 20 s to stop as a Windows service. */
const stopMs = 12_000;

/** Keeps the host configured until it is stopped; failures are retried. */
export async function runController(
  deps: ControllerDeps,
  options: ControllerOptions,
  life: ServiceLife,
): Promise<void> {
  const stopping = new AbortController();
  const signal = AbortSignal.any([life.signal, stopping.signal]);
  const hooks: Hooks = { record: () => undefined, requeue: () => undefined };
  let identity: AgentIdentity | undefined;
  try {
    identity = await enroll(deps, {
      ...options,
      signal,
      onReady: () => life.ready(),
      onTrouble: error => hooks.record(renewalEvent(error.message)),
      onCloudNode: () => hooks.requeue(),
    });
    await runHostController(identity, { ...deps, ...options, hooks }, signal);
  } catch (error) {
    if (!life.signal.aborted) throw error;
  } finally {
    stopping.abort();
    await identity?.stopped;
    await identity?.client.close();
  }
}

/** Callbacks of the identity; they have no effect until the controller runs. */
interface Hooks {
  record(event: EventText): void;
  requeue(): void;
}

type Work = ControllerDeps & ControllerOptions & { hooks: Hooks };

async function runHostController(identity: AgentIdentity, work: Work, signal: AbortSignal): Promise<void> {
  const { clock, log, hooks, nodeName, namespace, ports } = work;
  const { client } = identity;
  const informers = new Informers({ client, clock, log });
  const source = informers.get(nodes, { fieldSelector: `metadata.name=${nodeName}` });
  const key = { namespace: '', name: nodeName };
  const report = new Report({
    client,
    nodeName,
    namespace,
    bootId: () => ports.host.bootId(),
    nodeUid: () => source.store.get(key)?.metadata.uid,
    clock,
    log,
    signal,
  });
  const record = (event: EventText) => report.event(event);
  const requeue = () => void controller.enqueue(key);
  const manifests = new ManifestWatch({ client, namespace, clock, log, signal, onChange: requeue });
  const cluster = watchedCluster(() => source.store.get(key), manifests, report);
  const controller = new Controller({
    name: 'host',
    watches: [watching({ source, predicate: nodeChanges })],
    reconcile: createReconcile({ ...work, ports: { ...ports, cluster }, record }),
    queue: { maxRetryMs: periodMs },
    clock,
    log,
  });
  Object.assign(hooks, { record, requeue });
  // A missing Node starts no pass, but the report has to be written.
  requeue();
  const staged = watchStaged(ports.files, clock, requeue);
  const parts = { servers: [runnableOf(identity)], caches: [informers], others: [controller, staged] };
  try {
    await runManager({ ...parts, stopTimeoutMs: stopMs, clock, log }, signal);
  } finally {
    await manifests.stop();
  }
}

/** Reads from the watches, so that a pass needs no requests. */
function watchedCluster(node: () => Node | undefined, manifests: ManifestWatch, report: Report): Cluster {
  return {
    node: async () => node(),
    servicesConfigMap: version => manifests.get(version),
    readReport: () => report.read(),
    report: change => report.change(change),
    confirm: () => report.confirm(),
  };
}

/** When the identity stops by itself, the whole agent fails. */
function runnableOf(identity: AgentIdentity): Runnable {
  return {
    name: 'identity',
    run: async (signal, ready) => {
      ready();
      await Promise.race([identity.stopped, whenAborted(signal)]);
    },
  };
}
