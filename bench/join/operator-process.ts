import './limit-memory.ts';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { systemClock } from '../../src/base/clock.ts';
import { createLog } from '../../src/base/log.ts';
import { connect } from '../../src/host/ssh/connect.ts';
import { loadKubeconfig } from '../../src/kube/config/load-kubeconfig.ts';
import { controllerMetrics } from '../../src/kube/controller/controller.ts';
import { MemoryMetrics, type Metric } from '../../src/kube/controller/metrics.ts';
import { createClient } from '../../src/kube/http-client.ts';
import { queueMetrics } from '../../src/kube/queue/queue.ts';
import { openPayload } from '../../src/node/payload-source.ts';
import { runOperator } from '../../src/operator/operator.ts';
import { publishedNetwork } from '../../src/sandbox/machines/published-network.ts';
import { routedConnect } from '../../src/sandbox/machines/routes.ts';
import { operatorSettings } from '../../test/kit/sandbox-operator.ts';

export interface OperatorOptions {
  kubeconfigFile: string;
  /** For the routes to simulated hosts, which the sandbox publishes. */
  networkKubeconfigFile: string;
  namespace: string;
  version: string;
  payloadFolder: string;
  cacheFolder: string;
}

/** Sent on request; covers the whole life of the process, and stalls the time since the last `phase`. */
export interface OperatorFigures {
  cpuSeconds: number;
  /** Maximum. */
  memoryBytes: number;
  /** Now. */
  residentBytes: number;
  heapBytes: number;
  /** Keys that wait for a worker, and passes that run. */
  openWork: number;
  /** Finished passes of all controllers. */
  passes: number;
  /** Attempts included. */
  sshConnections: number;
  longestStallMs: number;
  /** CPU time of the operator in its longest stall; the rest is load of the machine. */
  busiestStallMs: number;
}

/** `phase` starts a new measurement of stalls, `collect` frees memory before the answer. */
export type OperatorRequest = 'figures' | 'phase' | 'collect';

/** The operator in a separate process, with a payload of real files. */
const options = JSON.parse(process.argv[2] ?? '{}') as OperatorOptions;
const connectionOf = (file: string) => loadKubeconfig(readFileSync(file, 'utf8'));
const connection = connectionOf(options.kubeconfigFile);
// As the program of the operator does it.
const client = createClient(connection, { maxRetries: 90 });
const { findRoute, names } = publishedNetwork(createClient(connectionOf(options.networkKubeconfigFile)));
const metrics = new MemoryMetrics();
const stalls = watchStalls();
let sshConnections = 0;
const dialHost = routedConnect(findRoute, connect, systemClock);

process.on('message', (word: OperatorRequest) => {
  if (word === 'collect') collectGarbage();
  const { user, system } = process.cpuUsage();
  const { rss, heapUsed } = process.memoryUsage();
  process.send?.({
    cpuSeconds: (user + system) / 1e6,
    memoryBytes: process.resourceUsage().maxRSS * 1024,
    residentBytes: rss,
    heapBytes: heapUsed,
    openWork: sumOf(queueMetrics.depth) + sumOf(controllerMetrics.active),
    passes: sumOf(controllerMetrics.passes),
    sshConnections,
    ...stalls.read(),
  } satisfies OperatorFigures);
  if (word === 'phase') stalls.reset();
});
process.once('SIGTERM', () => process.exit());
process.once('disconnect', () => process.exit());

const keyFile = join(options.payloadFolder, 'payload-key.pub');

await runOperator(
  {
    client,
    leaseClient: createClient(connection),
    settings: operatorSettings(options.namespace, options),
    connect: (...words) => {
      sshConnections += 1;
      return dialHost(...words);
    },
    dialTcp: async () => undefined,
    resolver: names,
    payload: await openPayload({
      folder: options.payloadFolder,
      cacheFolder: options.cacheFolder,
      key: { publicPem: readFileSync(keyFile, 'utf8'), keyName: keyFile },
    }),
    clock: systemClock,
    log: createLog(line => void process.stderr.write(line), systemClock),
    metrics,
    random: Math.random,
  },
  new AbortController().signal,
);

/** Measures the longest stall of the event loop, by the clock and by CPU time. */
function watchStalls(): { read: () => Pick<OperatorFigures, 'longestStallMs' | 'busiestStallMs'>; reset: () => void } {
  const everyMs = 10;
  const delay = monitorEventLoopDelay({ resolution: everyMs });
  delay.enable();
  let busiest = 0;
  let last = process.threadCpuUsage();
  setInterval(() => {
    const { user, system } = process.threadCpuUsage(last);
    last = process.threadCpuUsage();
    busiest = Math.max(busiest, (user + system) / 1000);
  }, everyMs);
  return {
    read: () => ({ longestStallMs: delay.max / 1e6, busiestStallMs: busiest }),
    reset: () => {
      delay.reset();
      busiest = 0;
    },
  };
}

function sumOf({ name }: Metric): number {
  const values = metrics.all().map(series => (series.metric.name === name && 'value' in series ? series.value : 0));
  return values.reduce((sum, value) => sum + value, 0);
}

/** The flag adds the function to contexts that are created afterwards. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
}
