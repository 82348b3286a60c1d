import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import { EventDeduper } from '#cluster/event-deduper.ts';
import { eventText } from '#contract/events.ts';
import { isAlreadyExists, unless } from '#kube/api-error.ts';
import type { Client } from '#kube/client.ts';
import { type EventRecorder, referenceTo } from '#kube/events/events.ts';
import { type ConfigMap, configMaps } from '#kube/resources.ts';
import type { StoredServices } from '../decide.ts';

interface FormerMapsParts {
  client: Pick<Client, 'create'>;
  recorder: Pick<EventRecorder, 'record'>;
  clock: Clock;
  namespace: string;
}

/**
 * The services ConfigMaps of other versions as they were last seen: this operator cannot build their content. One that was deleted
 * while no operator ran is reported; its hosts keep their services by their own record.
 */
export class FormerMaps {
  readonly #parts: FormerMapsParts;
  readonly #events: EventDeduper;
  readonly #seen = new Map<string, StoredServices['data']>();

  constructor(parts: FormerMapsParts) {
    this.#parts = parts;
    this.#events = new EventDeduper(parts);
  }

  keep(stored: readonly StoredServices[]): void {
    for (const { name, data } of stored) this.#seen.set(name, data);
  }

  /** Creates one again that hosts need. */
  async restore(name: string, log: Log, signal: AbortSignal): Promise<void> {
    const { client, namespace } = this.#parts;
    const data = this.#seen.get(name);
    const map: ConfigMap = { metadata: { name, namespace }, ...(data && { data }), immutable: true };
    if (data === undefined) {
      const isNew = this.#events.report(name, [referenceTo(configMaps, map)], [eventText.servicesMissing(name)]);
      if (isNew) log.warn('Services ConfigMap of a former version is missing', { ConfigMap: name });
      return;
    }
    log.warn('Restoring deleted services ConfigMap of a former version', { ConfigMap: name });
    await client.create<ConfigMap>(configMaps, map, { signal }).catch(unless(isAlreadyExists));
  }
}
