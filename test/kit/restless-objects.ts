import { setTimeout as delay } from 'node:timers/promises';
import { isNotFound } from '#kube/api-error.ts';
import type { Client } from '#kube/client.ts';
import type { ConfigMap } from '#kube/resources.ts';
import { configMaps, namespaces } from '#kube/resources.ts';

/** Objects that are written to all the time, whatever happens to the server. */
export interface RestlessObjects {
  readonly namespace: string;
  /** How many changes the server has confirmed. */
  written(): number;
  /** Starts writing; the function it returns stops it and resolves after the last write. */
  disturb(): () => Promise<void>;
  /** Name and version of all objects, as the server has them now. */
  state(): Promise<Map<string, string>>;
}

const writers = 4;

export async function restlessObjects(client: Client, namespace: string, count: number): Promise<RestlessObjects> {
  let [written, turn] = [0, 0];
  const nameOf = (index: number) => `object-${index}`;
  const make = (index: number): ConfigMap => ({
    metadata: { name: nameOf(index), namespace, labels: { half: index % 2 === 0 ? 'even' : 'odd' } },
    data: { value: '0' },
  });
  await client.create(namespaces, { metadata: { name: namespace } });
  for (let start = 0; start < count; start += 50) {
    await Promise.all(Array.from({ length: 50 }, (_, index) => client.create(configMaps, make(start + index))));
  }

  /** One change in ten deletes an object and creates it again; the number of objects stays the same. */
  async function change(): Promise<void> {
    turn += 1;
    const index = (turn * 7919) % count;
    if (turn % 10 === 0) {
      await client.delete(configMaps, nameOf(index), { namespace }).catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      });
      await client.create(configMaps, make(index));
    } else {
      const body = { data: { value: String(turn) } };
      await client.patch(configMaps, nameOf(index), { type: 'merge', body }, { namespace }).catch((error: unknown) => {
        // The server went away after the deletion and before the creation.
        if (!isNotFound(error)) throw error;
        return client.create(configMaps, make(index));
      });
    }
    written += 1;
  }

  async function write(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      // What the server does not take is not written; the objects it has are what counts.
      await change().catch(() => delay(50));
      await delay(2);
    }
  }

  return {
    namespace,
    written: () => written,
    disturb: () => {
      const stopping = new AbortController();
      const writing = Array.from({ length: writers }, () => write(stopping.signal));
      return async () => {
        stopping.abort();
        await Promise.all(writing);
      };
    },
    state: async () => versionsOf((await client.listAll(configMaps, { namespace })).items),
  };
}

export function versionsOf(objects: readonly ConfigMap[]): Map<string, string> {
  return new Map(objects.map(({ metadata }) => [metadata.name ?? '', metadata.resourceVersion ?? '']));
}
