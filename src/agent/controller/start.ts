import { servicePatience } from '../services/service-patience.ts';
import type { Clock } from '#base/clock.ts';
import type { Client } from '#kube/client.ts';
import { withDeadline } from '#base/waiting/deadline.ts';
import { nodes } from '#kube/resources.ts';
import { type AgentIdentity, startIdentity } from '../identity/identity.ts';
import { retry } from '#base/waiting/retry.ts';
import { startKnownGood } from './offline.ts';
import type { ControllerOptions, ControllerDeps } from './options.ts';
import { periodMs } from './pass.ts';

export interface StartOptions extends ControllerOptions {
  signal: AbortSignal;
  /** Called when services may be started: Windows refuses that to a service which is still starting itself. */
  onReady: () => void;
  /** Hears of a failure to get or store a certificate. */
  onTrouble: (error: Error) => void;
  /** Called when there is a certificate for cloud-node-manager for the first time. */
  onCloudNode: () => void;
}

/** How long Windows shows the service as starting while there is no certificate. */
const startMs = 1000;
/** How long services wait for the API server; at the boot of a host the network comes late. */
const patienceMs = 20_000;

/**
 * Gets the certificate of the agent and reaches the API server with it. Until then the services that ran before are kept running
 * from what is known on the host. It goes on until it is stopped: the operator may be away for long, and brings a new token
 * when it is back.
 */
export async function enrol(world: ControllerDeps, options: StartOptions): Promise<AgentIdentity> {
  const { clock, log, ports } = world;
  const { signal } = options;
  const ready = once(options.onReady);
  const enrolling = identify(world, options);
  // Windows stops no service that is still starting, and whoever brings another key has to stop this one first.
  using _soon = later(startMs, clock, ready);
  // Whoever is told to stop does not wait for it.
  enrolling.catch(() => undefined);
  for (let ms = patienceMs; await isSlow(enrolling, ms, clock, signal); ms = periodMs) {
    const waiting = { clock, signal, patience: servicePatience };
    const outcome = await startKnownGood(ports, waiting, log, ready);
    log.info('Still waiting for the cluster', { outcome });
  }
  const identity = await enrolling;
  ready();
  return identity;
}

function once(act: () => void): () => void {
  let isDone = false;
  return () => {
    if (!isDone) act();
    isDone = true;
  };
}

function later(ms: number, clock: Clock, act: () => void): Disposable {
  const over = new AbortController();
  void clock.sleep(ms, over.signal).then(act, () => undefined);
  return { [Symbol.dispose]: () => over.abort() };
}

async function isSlow(enrolling: Promise<unknown>, ms: number, clock: Clock, signal: AbortSignal): Promise<boolean> {
  const late = new Error('late');
  try {
    await withDeadline({ clock, ms, error: () => late, signal }, () => enrolling);
    return false;
  } catch (error) {
    if (error === late) return true;
    throw error;
  }
}

async function identify(world: ControllerDeps, options: StartOptions): Promise<AgentIdentity> {
  const { ports, clock, log, client } = world;
  const { signal, certDurationMs: durationMs } = options;
  const parts = { environment: ports.environment.process(), files: ports.files, clock, log, client };
  const onFailure = (error: unknown, pauseMs: number) =>
    log.warn('The kubeconfig cannot be used; retrying', { error, pauseMs });
  const start = () => startIdentity({ ...options, ...parts, durationMs }, signal);
  const identity = await retry(start, { clock, signal, onFailure });
  try {
    await identity.ready;
    await reachServer(identity.client, world, options);
  } catch (error) {
    await identity.stopped;
    await identity.client.close();
    throw error;
  }
  return identity;
}

/** Returns when the own Node could be asked for, whether it exists or not. */
async function reachServer(client: Client, { clock, log }: ControllerDeps, options: StartOptions): Promise<void> {
  const { nodeName, signal } = options;
  const onFailure = (error: unknown) => log.warn('The own Node cannot be read; retrying', { error });
  const look = async (within: AbortSignal) => {
    await client.find(nodes, nodeName, { signal: within });
  };
  await retry(look, { clock, signal, onFailure });
}
