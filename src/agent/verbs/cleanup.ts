import { messageOf } from '#base/errors.ts';
import { isApiError } from '#kube/api-error.ts';
import type { Client } from '#kube/client.ts';
import { type CleanupOutcome, cleanUp } from '../cleanup/clean-up.ts';
import type { ManifestSource } from '../ports.ts';
import { retry } from '#base/waiting/retry.ts';
import { clientIn, manifestsIn, portsIn, waitingIn } from './one-shot.ts';
import type { Answer, Verb, VerbDeps } from './verb.ts';

/** How long cleanup waits for the API server. */
const reachMs = 30_000;

export const cleanup: Verb = {
  name: 'cleanup',
  summary: 'remove services and settings of the agent from the host; works without the API server, too',
  required: ['kubeconfig', 'namespace'],
  optional: ['keep-settings'],
  changesHost: true,
  async run(values, deps) {
    const keepSettings = values['keep-settings'] === 'true';
    await using cluster = new CleanupManifests(values.kubeconfig, values.namespace, deps);
    deps.log.info('Cleaning up host', { keepSettings });
    const onWarning = (text: string) => deps.log.warn(text);
    const ports = { ...portsIn(deps), manifests: cluster };
    const outcome = await cleanUp(ports, { keepSettings, onWarning }, waitingIn(deps));
    return answerOf(outcome, cluster.unreached, keepSettings);
  },
};

/** Connects on first use, and gives up after the first failure. */
class CleanupManifests implements ManifestSource, AsyncDisposable {
  readonly #kubeconfig: string;
  readonly #namespace: string;
  readonly #deps: VerbDeps;
  #client: Client | undefined;
  /** Why the API server could not be reached. */
  unreached: string | undefined;

  constructor(kubeconfig: string, namespace: string, deps: VerbDeps) {
    this.#kubeconfig = kubeconfig;
    this.#namespace = namespace;
    this.#deps = deps;
  }

  async servicesConfigMap(version: string): Promise<unknown> {
    if (this.unreached !== undefined) return undefined;
    const { clock, signal, log } = this.#deps;
    const onFailure = (error: unknown) => log.warn('Reading services ConfigMap failed; retrying', { error });
    try {
      const client = (this.#client ??= await clientIn(this.#deps, this.#kubeconfig));
      const read = (within: AbortSignal) => manifestsIn(client, this.#namespace, within).servicesConfigMap(version);
      return await retry(read, { clock, signal, limitMs: reachMs, isFinal: isForbidden, onFailure });
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

/** The token allows only ConfigMaps in use; the host does not need any other. */
function isForbidden(error: unknown): boolean {
  return isApiError(error, 'Forbidden');
}

function answerOf(outcome: CleanupOutcome, unreached: string | undefined, keepSettings: boolean): Answer {
  const { removed, rebootNeeded } = outcome;
  const lines = [
    removed.length === 0 ? 'No services of the agent were found.' : `Removed services: ${removed.join(', ')}`,
    ...(keepSettings ? ['Variables and certificates were kept.'] : []),
    ...(rebootNeeded ? ['Reboot required.'] : []),
    ...(unreached === undefined ? [] : [`The API server was not reached: ${unreached}`]),
  ];
  return {
    text: lines.join('\n'),
    data: { removed, keptSettings: keepSettings, rebootNeeded, clusterReached: unreached === undefined },
  };
}
