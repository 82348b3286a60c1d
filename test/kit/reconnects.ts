import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { loadKubeconfig } from '#kube/config/load-kubeconfig.ts';
import { createClient } from '#kube/http-client.ts';
import { Informers } from '#kube/informer/informers.ts';
import type { KubeResource } from '#kube/resource.ts';
import { configMaps, namespaces, nodes, pods, secrets } from '#kube/resources.ts';
import { startRelay } from './tcp-relay.ts';

export interface ReconnectFigures {
  reconnects: number;
  /** Watches that the server was asked for meanwhile. */
  watches: number;
  seconds: number;
  /** After garbage collection, from the smallest sample (one per 500 rounds) to the end of the run. */
  heapGrowthMegabytes: number;
  rejections: number;
  /** What keeps the process alive after everything was stopped, beside its own input and output. */
  handlesLeft: string[];
  /** How long the process lived on after it had stopped everything. */
  exitMs: number;
}

const warmUpRounds = 100;

/** Breaks the connection of five informers this many times, in its own process that must end by itself. */
export async function measureReconnects(kubeconfig: string, rounds: number): Promise<ReconnectFigures> {
  const child = spawn(process.execPath, ['--expose-gc', import.meta.filename, String(rounds)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exited = new Promise<number | null>(resolve => child.once('exit', resolve));
  const limit = setTimeout(() => child.kill('SIGKILL'), 60_000 + rounds * 100);
  child.stdin.end(kubeconfig);
  const output = await text(child.stdout);
  const outputEndMs = performance.now();
  const code = await exited;
  clearTimeout(limit);
  if (code !== 0) throw new Error(`the process under test ended with ${code}: ${output}`);
  return { ...(JSON.parse(output) as ReconnectFigures), exitMs: performance.now() - outputEndMs };
}

async function main(rounds: number): Promise<void> {
  const connection = loadKubeconfig(await text(process.stdin));
  let rejections = 0;
  process.on('unhandledRejection', () => (rejections += 1));
  const direct = createClient(connection);
  const relay = await startRelay(Number(new URL(connection.server).port));
  const client = createClient({ ...connection, server: `https://127.0.0.1:${relay.port}` });
  // Waits as in real life would make this take hours.
  const informers = new Informers({ client, backoff: { minMs: 1, maxMs: 2, resetAfterMs: 1 } });
  const seen = informers.get(configMaps);
  const watched = [seen, ...[secrets, pods, namespaces, nodes].map(resource => informers.get<KubeResource>(resource))];
  const { name: namespace = '' } = (await direct.create(namespaces, { metadata: { generateName: 'reconnects-' } }))
    .metadata;
  await direct.create(configMaps, { metadata: { name: 'seen', namespace } });
  informers.start();
  await informers.synced();

  /** A change that is made after the break must arrive. */
  async function reconnect(round: number): Promise<void> {
    relay.reset();
    const patch = { type: 'merge', body: { data: { value: String(round) } } } as const;
    const { resourceVersion } = (await direct.patch(configMaps, 'seen', patch, { namespace })).metadata;
    while (seen.store.get({ namespace, name: 'seen' })?.metadata.resourceVersion !== resourceVersion) await delay(1);
  }

  const watches = () => watched.reduce((sum, { counts }) => sum + counts.watches, 0);
  for (let round = 0; round < warmUpRounds; round += 1) await reconnect(round);
  const [startMs, startWatches, heaps] = [performance.now(), watches(), [await heapBytes()]];
  for (let round = 1; round <= rounds; round += 1) {
    await reconnect(warmUpRounds + round);
    if (round % 500 === 0 || round === rounds) heaps.push(await heapBytes());
  }
  const seconds = (performance.now() - startMs) / 1000;
  // Not from the first one, which may hold what the start left behind and so hide growth.
  const heapGrowthMegabytes = ((heaps.at(-1) ?? 0) - Math.min(...heaps)) / 1e6;

  await informers.stop();
  await client.close();
  await direct.close();
  await relay.stop();
  await delay(50);
  // Its own standard input and output are pipes.
  const handlesLeft = process.getActiveResourcesInfo().filter(kind => kind !== 'PipeWrap');
  const figures = { reconnects: rounds, watches: watches() - startWatches, seconds, heapGrowthMegabytes };
  process.stdout.write(JSON.stringify({ ...figures, rejections, handlesLeft }));
}

/** Sockets and sessions are given back by callbacks, so collections alternate with turns of the loop. */
async function heapBytes(): Promise<number> {
  for (let turn = 0; turn < 5; turn += 1) {
    globalThis.gc?.();
    await delay(100);
  }
  return process.memoryUsage().heapUsed;
}

if (import.meta.main) await main(Number(process.argv[2]));
