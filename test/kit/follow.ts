import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '../../src/kube/client.ts';
import { Informers } from '../../src/kube/informer/informers.ts';

/** A double of a controller: watches what `start` asks for, and runs what it returns in turns, until it is stopped. */
export function startFollowing(
  client: Client,
  everyMs: number,
  start: (informers: Informers) => () => Promise<void>,
): AsyncDisposable {
  const ending = new AbortController();
  const { signal } = ending;
  const informers = new Informers({ client, backoff: { minMs: 10, maxMs: 200, resetAfterMs: 1 } });
  const turn = start(informers);
  informers.start();
  const running = (async () => {
    while (!signal.aborted) {
      await turn();
      await delay(everyMs, undefined, { signal }).catch(() => undefined);
    }
  })();
  return {
    async [Symbol.asyncDispose]() {
      ending.abort();
      await running;
      await informers.stop();
    },
  };
}
