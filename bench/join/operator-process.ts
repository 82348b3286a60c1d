import './limit-memory.ts';
import { readFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { systemClock } from '../../src/base/clock.ts';
import { createLog } from '../../src/base/log.ts';
import { connect } from '../../src/host/ssh/connect.ts';
import { loadKubeconfig } from '../../src/kube/config/load-kubeconfig.ts';
import { MemoryMetrics } from '../../src/kube/controller/metrics.ts';
import { createClient } from '../../src/kube/http-client.ts';
import { openPayload } from '../../src/node/payload-source.ts';
import { runOperator } from '../../src/operator/operator.ts';
import { publishedNetwork } from '../../src/sandbox/machines/published-network.ts';
import { routedConnect } from '../../src/sandbox/machines/routes.ts';
import { operatorSettings } from '../../test/kit/sandbox-operator.ts';

export interface OperatorOptions {
  kubeconfigFile: string;
  namespace: string;
  payloadFolder: string;
  cacheFolder: string;
}

/** Sent on request; covers the whole life of the process. */
export interface OperatorFigures {
  cpuSeconds: number;
  /** Maximum. */
  memoryBytes: number;
  /** Now. */
  residentBytes: number;
  longestStallMs: number;
  /** CPU time of the operator in its longest stall; the rest is load of the machine. */
  busiestStallMs: number;
}

/** The operator in a separate process, with a payload of real files. */
const options = JSON.parse(process.argv[2] ?? '{}') as OperatorOptions;
const client = createClient(loadKubeconfig(readFileSync(options.kubeconfigFile, 'utf8')));
const { findRoute, names } = publishedNetwork(client);
const stalls = watchStalls();

process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send?.({
    cpuSeconds: (user + system) / 1e6,
    memoryBytes: process.resourceUsage().maxRSS * 1024,
    residentBytes: process.memoryUsage.rss(),
    ...stalls(),
  } satisfies OperatorFigures);
});
process.once('SIGTERM', () => process.exit());
process.once('disconnect', () => process.exit());

await runOperator(
  {
    client,
    settings: operatorSettings(options.namespace),
    connect: routedConnect(findRoute, connect, systemClock),
    dialTcp: async () => undefined,
    resolver: names,
    payload: await openPayload({ folder: options.payloadFolder, cacheFolder: options.cacheFolder }),
    clock: systemClock,
    log: createLog(line => void process.stderr.write(line), systemClock),
    metrics: new MemoryMetrics(),
    random: Math.random,
  },
  new AbortController().signal,
);

/** Measures the longest stall of the event loop, by the clock and by CPU time. */
function watchStalls(): () => Pick<OperatorFigures, 'longestStallMs' | 'busiestStallMs'> {
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
  return () => ({ longestStallMs: delay.max / 1e6, busiestStallMs: busiest });
}
