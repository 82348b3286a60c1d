import type { Clock } from '#base/clock.ts';
import { AppError } from '#base/errors.ts';
import type { Log } from '#base/log.ts';
import { servicesConfigMapName } from '#contract/version.ts';
import type { Client } from '#kube/client.ts';
import { withDeadline } from '#base/waiting/deadline.ts';
import { Informer } from '#kube/informer/informer.ts';
import { type ConfigMap, configMaps } from '#kube/resources.ts';

export interface ManifestWatchOptions {
  client: Pick<Client, 'list' | 'watch'>;
  namespace: string;
  clock: Clock;
  log: Log;
  signal: AbortSignal;
  /** Called when the current ConfigMap was created, changed or deleted. */
  onChange: () => void;
}

const syncMs = 30_000;

/** Watches only the current services ConfigMap: the other ConfigMaps of the namespace would be sent to every host. */
export class ManifestWatch {
  readonly #options: ManifestWatchOptions;
  #current: { name: string; informer: Informer<ConfigMap> } | undefined;

  constructor(options: ManifestWatchOptions) {
    this.#options = options;
  }

  /** The ConfigMap of a version, undefined when it does not exist. Watches that version from then on. */
  async get(version: string): Promise<unknown> {
    const name = servicesConfigMapName(version);
    if (this.#current?.name !== name) await this.stop();
    const { informer } = (this.#current ??= this.#watch(name));
    await this.#synced(name, informer);
    return informer.store.get({ namespace: this.#options.namespace, name });
  }

  async stop(): Promise<void> {
    const current = this.#current;
    this.#current = undefined;
    await current?.informer.stop();
  }

  #watch(name: string): { name: string; informer: Informer<ConfigMap> } {
    const { client, namespace, clock, log, onChange } = this.#options;
    const scope = { namespace, fieldSelector: `metadata.name=${name}` };
    const informer = new Informer({ client, resource: configMaps, scope, clock, log });
    // The pass that requested it waits for the initial list, so that is not a change.
    const changed = () => informer.hasSynced && onChange();
    informer.addHandler({ added: changed, updated: changed, deleted: changed });
    informer.start();
    return { name, informer };
  }

  async #synced(name: string, informer: Informer<ConfigMap>): Promise<void> {
    if (informer.hasSynced) return;
    const { clock, signal } = this.#options;
    const error = () =>
      new AppError('SYNC_TIMEOUT', `ConfigMap ${name} could not be read: ${informer.trouble ?? 'no answer'}`, {
        remedy: 'Check that the agent is allowed to list and watch ConfigMaps in the namespace of the operator.',
      });
    await withDeadline({ clock, ms: syncMs, error, signal }, () => informer.synced);
  }
}
