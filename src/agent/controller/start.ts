import type { Clock } from '#base/clock.ts';
import { isAppError } from '#base/errors.ts';
import type { EventText } from '#contract/events.ts';
import type { NodeView } from '#contract/node.ts';
import { withDeadline } from '#kube/deadline.ts';
import { createClient } from '#kube/http-client.ts';
import { openConnection } from '../identity/connection.ts';
import { type AgentIdentity, startIdentity } from '../identity/identity.ts';
import { locateOwnNode } from '../locate-node.ts';
import { servicePatience } from '../poll.ts';
import { retry } from '../retry.ts';
import { startKnownGood } from './offline.ts';
import type { ControllerOptions, ControllerWorld } from './options.ts';
import { renewalRemark } from './remarks.ts';

/** Who this host is in the cluster. */
export interface Enrolment {
  node: NodeView;
  identity: AgentIdentity;
}

export interface StartOptions extends ControllerOptions {
  signal: AbortSignal;
  /** Called when services may be started: Windows refuses that to a service which is still starting itself. */
  onReady: () => void;
  record: (remark: EventText) => void;
}

/** How long the own Node is looked for. */
const nodeMs = 5 * 60_000;
/** How long services wait for the API server; at the boot of a host the network comes late. */
const patienceMs = 20_000;

/**
 * Finds the own Node and gets a certificate for it. While that cannot be, the services that ran before are started from what
 * is known on the host. Rejects when it takes too long: the recovery of the Windows service then starts the agent anew.
 */
export async function enrol(world: ControllerWorld, options: StartOptions): Promise<Enrolment> {
  const { clock, log, ports } = world;
  const { signal } = options;
  const attempt = new Attempt(world, options);
  const enrolled = attempt.run();
  // Whoever is told to stop does not wait for it.
  enrolled.catch(() => undefined);
  if ((await isSlow(enrolled, clock, signal)) && attempt.isClusterOutOfReach) {
    const waiting = { clock, signal, patience: servicePatience };
    const outcome = await startKnownGood(ports, waiting, log, () => options.onReady());
    log.info('Still waiting for the cluster', { outcome });
  }
  const enrolment = await enrolled;
  options.onReady();
  return enrolment;
}

async function isSlow(enrolled: Promise<unknown>, clock: Clock, signal: AbortSignal): Promise<boolean> {
  const late = new Error('late');
  try {
    await withDeadline({ clock, ms: patienceMs, error: () => late, signal }, () => enrolled);
    return false;
  } catch (error) {
    if (error === late) return true;
    throw error;
  }
}

class Attempt {
  readonly #world: ControllerWorld;
  readonly #options: StartOptions;
  #lastError: unknown;

  constructor(world: ControllerWorld, options: StartOptions) {
    this.#world = world;
    this.#options = options;
  }

  /** Not so when the server says that there is no Node: then the host has been removed from the cluster. */
  get isClusterOutOfReach(): boolean {
    return !isAppError(this.#lastError, 'NODE_NOT_FOUND');
  }

  async run(): Promise<Enrolment> {
    const { log } = this.#world;
    const node = await this.#findNode();
    log.info('Found the own Node', { node: node.name });
    const identity = await this.#identify(node);
    await identity.ready;
    return { node, identity };
  }

  #findNode(): Promise<NodeView> {
    const { clock, log } = this.#world;
    const onFailure = (error: unknown, pauseMs: number) => {
      this.#lastError = error;
      log.warn('The own Node cannot be found yet', { error, pauseMs });
    };
    const { signal } = this.#options;
    return retry(within => this.#askForNode(within), { clock, signal, limitMs: nodeMs, onFailure });
  }

  async #askForNode(signal: AbortSignal): Promise<NodeView> {
    const { ports, clock, log } = this.#world;
    const connection = await openConnection(this.#connectionOptions());
    const client = createClient(connection, { clock, log, ...this.#world.client });
    try {
      return await locateOwnNode(client, ports.system, signal, connection.identity);
    } finally {
      await client.close();
    }
  }

  #identify(node: NodeView): Promise<AgentIdentity> {
    const { certDurationMs: durationMs, record, signal } = this.#options;
    this.#lastError = undefined;
    const onTrouble = (error: Error) => {
      this.#lastError = error;
      record(renewalRemark(error.message));
    };
    const { client } = this.#world;
    return startIdentity({ ...this.#connectionOptions(), durationMs, nodeName: node.name, onTrouble, client }, signal);
  }

  #connectionOptions() {
    const { ports, clock, log } = this.#world;
    const { kubeconfigPath, certDir } = this.#options;
    return { kubeconfigPath, certDir, environment: ports.environment.process(), files: ports.files, clock, log };
  }
}
