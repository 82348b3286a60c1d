import { messageOf } from '#base/errors.ts';
import { isApiError } from '#kube/api-error.ts';
import type { Client } from '#kube/client.ts';
import { type CleanupOutcome, cleanUp } from '../cleanup/clean-up.ts';
import { createManifestSource } from '../cluster.ts';
import type { ManifestSource } from '../ports.ts';
import { retry } from '#base/waiting/retry.ts';
import { clientIn, portsIn, waitingIn } from './one-shot.ts';
import type { Answer, Verb, VerbDeps } from './verb.ts';

/** How long the API server may keep a host from being cleaned. */
const reachMs = 30_000;

export const cleanup: Verb = {
  name: 'cleanup',
  summary: 'take from the host what the agent has put there; works without the API server, too',
  required: ['kubeconfig', 'namespace'],
  optional: ['keep-settings'],
  async run(values, world) {
    const keepSettings = values['keep-settings'] === 'true';
    await using cluster = new ClusterOfCleanup(values.kubeconfig, values.namespace, world);
    world.log.info('Cleaning the host', { keepSettings });
    const onWarning = (text: string) => world.log.warn(text);
    const ports = { ...portsIn(world), manifests: cluster };
    const outcome = await cleanUp(ports, { keepSettings, onWarning }, waitingIn(world));
    return answerOf(outcome, cluster.unreached, keepSettings);
  },
};

/** The cluster as far as it can be reached: opened when it is needed, and given up after the first failure. */
class ClusterOfCleanup implements ManifestSource, AsyncDisposable {
  readonly #kubeconfig: string;
  readonly #namespace: string;
  readonly #world: VerbDeps;
  #client: Client | undefined;
  /** Why the API server could not be asked; not set when it could. */
  unreached: string | undefined;

  constructor(kubeconfig: string, namespace: string, world: VerbDeps) {
    this.#kubeconfig = kubeconfig;
    this.#namespace = namespace;
    this.#world = world;
  }

  async servicesConfigMap(version: string): Promise<unknown> {
    if (this.unreached !== undefined) return undefined;
    const { clock, signal, log } = this.#world;
    const onFailure = (error: unknown) => log.warn('The API server does not answer; retrying', { error });
    try {
      const client = (this.#client ??= await clientIn(this.#world, this.#kubeconfig));
      const read = (within: AbortSignal) =>
        createManifestSource({ client, namespace: this.#namespace, signal: within }).servicesConfigMap(version);
      return await retry(read, { clock, signal, limitMs: reachMs, isAnswer: isForbidden, onFailure });
    } catch (error) {
      signal.throwIfAborted();
      if (!isForbidden(error)) this.unreached = messageOf(error);
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client?.close();
  }
}

/** Tokens are for the ConfigMaps in use; one that is not among them tells nothing that the host does not know. */
function isForbidden(error: unknown): boolean {
  return isApiError(error, 'Forbidden');
}

function answerOf(outcome: CleanupOutcome, unreached: string | undefined, keepSettings: boolean): Answer {
  const { removed, rebootNeeded } = outcome;
  const lines = [
    removed.length === 0 ? 'No services of ours were there.' : `Removed services: ${removed.join(', ')}`,
    ...(keepSettings ? ['Variables and certificates were kept.'] : []),
    ...(rebootNeeded ? ['A reboot is needed: reboot the host.'] : []),
    ...(unreached === undefined ? [] : [`The API server was not reached: ${unreached}`]),
  ];
  return {
    text: lines.join('\n'),
    data: { removed, keptSettings: keepSettings, rebootNeeded, clusterReached: unreached === undefined },
  };
}
