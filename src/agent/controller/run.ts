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
import { enrol } from './start.ts';

/** Windows gives a service twenty seconds to end. */
const stopMs = 12_000;

/** Keeps the host as its Node wants it, until it is told to stop; every trouble is waited out. */
export async function runController(
  world: ControllerDeps,
  options: ControllerOptions,
  life: ServiceLife,
): Promise<void> {
  const ending = new AbortController();
  const signal = AbortSignal.any([life.signal, ending.signal]);
  const hooks: Hooks = { record: () => undefined, nudge: () => undefined };
  let identity: AgentIdentity | undefined;
  try {
    identity = await enrol(world, {
      ...options,
      signal,
      onReady: () => life.ready(),
      onTrouble: error => hooks.record(renewalEvent(error.message)),
      onCloudNode: () => hooks.nudge(),
    });
    await lookAfter(identity, { ...world, ...options, hooks }, signal);
  } catch (error) {
    if (!life.signal.aborted) throw error;
  } finally {
    ending.abort();
    await identity?.stopped;
    await identity?.client.close();
  }
}

/** What the identity tells of, once there is a controller to hear it; before that it can reach nobody. */
interface Hooks {
  record(event: EventText): void;
  nudge(): void;
}

type Work = ControllerDeps & ControllerOptions & { hooks: Hooks };

async function lookAfter(identity: AgentIdentity, work: Work, signal: AbortSignal): Promise<void> {
  const { clock, log, hooks, nodeName, namespace, ports } = work;
  const { client } = identity;
  const report = new Report({ client, nodeName, namespace, bootId: () => ports.host.bootId(), clock, log, signal });
  const record = (event: EventText) => report.event(event);
  const informers = new Informers({ client, clock, log });
  const source = informers.get(nodes, { fieldSelector: `metadata.name=${nodeName}` });
  const key = { namespace: '', name: nodeName };
  const nudge = () => void controller.enqueue(key);
  const manifests = new ManifestWatch({ client, namespace, clock, log, signal, onChange: nudge });
  const cluster = watchedCluster(() => source.store.get(key), manifests, report);
  const controller = new Controller({
    name: 'host',
    watches: [watching({ source, predicate: nodeChanges })],
    reconcile: createReconcile({ ...work, ports: { ...ports, cluster }, record }),
    queue: { maxRetryMs: periodMs },
    clock,
    log,
  });
  Object.assign(hooks, { record, nudge });
  // A Node that does not exist yet starts no pass, but its host has a report.
  nudge();
  const parts = { servers: [runnableOf(identity)], caches: [informers], others: [controller] };
  try {
    await runManager({ ...parts, stopTimeoutMs: stopMs, clock, log }, signal);
  } finally {
    await manifests.stop();
  }
}

/** Reads what watches have brought, so that neither a pass nor a wait costs a request. */
function watchedCluster(node: () => Node | undefined, manifests: ManifestWatch, report: Report): Cluster {
  return {
    node: async () => node(),
    servicesConfigMap: version => manifests.get(version),
    readReport: () => report.read(),
    report: change => report.change(change),
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
