import { servicePatience } from '../services/ensure.ts';
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
  /** Called before services are started: Windows rejects that while the agent itself is starting. */
  onReady: () => void;
  onTrouble: (error: Error) => void;
  onCloudNode: () => void;
}

/** How long Windows shows the service as starting while it waits for a certificate. */
const startMs = 1000;
/** How long to wait for the API server before the last known services are started; the network is late at boot. */
const patienceMs = 20_000;

/**
 * Obtains the certificate of the agent and connects to the API server. Until then the last known services are kept running.
 * Retries until it is stopped: the operator may be down for long, and writes a new token when it is back.
 */
export async function enroll(deps: ControllerDeps, options: StartOptions): Promise<AgentIdentity> {
  const { clock, log, ports } = deps;
  const { signal } = options;
  const ready = once(options.onReady);
  const enrolling = startAgentIdentity(deps, options);
  // Windows cannot stop a service that is starting, and `install` has to stop it to replace the key.
  using _timer = callLater(startMs, clock, ready);
  enrolling.catch(() => undefined);
  for (let ms = patienceMs; await isSlow(enrolling, ms, clock, signal); ms = periodMs) {
    const waiting = { clock, signal, patience: servicePatience };
    const outcome = await startKnownGood(ports, waiting, log, version => {
      log.warn('API server cannot be reached; starting services of the last known version', { version });
      ready();
    });
    log.info('Waiting for the API server', { services: outcome });
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

function callLater(ms: number, clock: Clock, act: () => void): Disposable {
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

async function startAgentIdentity(deps: ControllerDeps, options: StartOptions): Promise<AgentIdentity> {
  const { ports, clock, log, client } = deps;
  const { signal, certDurationMs: durationMs } = options;
  const parts = { environment: ports.environment.process(), files: ports.files, clock, log, client };
  const onFailure = (error: unknown, pauseMs: number) =>
    log.warn('Using the kubeconfig failed; retrying', { error, pauseMs });
  const start = () => startIdentity({ ...options, ...parts, durationMs }, signal);
  const identity = await retry(start, { clock, signal, onFailure });
  try {
    await identity.ready;
    await reachServer(identity.client, deps, options);
  } catch (error) {
    await identity.stopped;
    await identity.client.close();
    throw error;
  }
  return identity;
}

/** Returns when the API server has answered whether the Node exists. */
async function reachServer(client: Client, { clock, log }: ControllerDeps, options: StartOptions): Promise<void> {
  const { nodeName, signal } = options;
  const onFailure = (error: unknown) => log.warn('Reading the Node failed; retrying', { error });
  const read = async (within: AbortSignal) => {
    await client.find(nodes, nodeName, { signal: within });
  };
  await retry(read, { clock, signal, onFailure });
}
