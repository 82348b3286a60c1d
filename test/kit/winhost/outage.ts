import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '../../../src/kube/client.ts';
import { nodes } from '../../../src/kube/resources.ts';
import type { RealScene } from './real-scene.ts';

const everyMs = 50;

/** When Nodes were seen cordoned and in service again, by the clock of this process. */
export interface Outage {
  node: string;
  cordonedMs: number;
  uncordonedMs?: number;
}

/** Watches which Nodes are cordoned, and for how long. */
export function watchOutages(client: Client): AsyncDisposable & { readonly outages: readonly Outage[] } {
  const ending = new AbortController();
  const outages: Outage[] = [];
  const look = async () => {
    for (const { metadata, spec } of (await client.list(nodes)).items) {
      const open = outages.find(each => each.node === metadata.name && each.uncordonedMs === undefined);
      if (spec?.unschedulable === true && open === undefined)
        outages.push({ node: metadata.name ?? '', cordonedMs: Date.now() });
      if (spec?.unschedulable !== true && open !== undefined) open.uncordonedMs = Date.now();
    }
  };
  const watching = (async () => {
    while (!ending.signal.aborted) {
      // A failed look is a longer interval; the test measures seconds.
      await look().catch(() => undefined);
      await delay(everyMs, undefined, { signal: ending.signal }).catch(() => undefined);
    }
  })();
  return {
    outages,
    async [Symbol.asyncDispose]() {
      ending.abort();
      await watching;
    },
  };
}

/** How long a step of the last journey of an instance took; 0 when it did not run. */
export async function stepMs(scene: RealScene, instance: string, step: string): Promise<number> {
  const found = (await scene.instances()).find(({ metadata }) => metadata.name === instance);
  const { started = '', finished = started } = found?.status?.timeline?.find(({ name }) => name === step) ?? {};
  return started === '' ? 0 : Date.parse(finished) - Date.parse(started);
}
