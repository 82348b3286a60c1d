import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { InformerCounts } from '#kube/informer/informer.ts';
import type { Metrics } from '#kube/controller/metrics.ts';

const gauges = {
  memory: { name: 'process_resident_memory_bytes', help: 'Resident memory of the process.' },
  heap: { name: 'nodejs_heap_size_used_bytes', help: 'Used heap of JavaScript objects.' },
  cpu: { name: 'process_cpu_seconds_total', help: 'CPU time of the process.' },
  delay: { name: 'nodejs_eventloop_delay_max_seconds', help: 'Longest event loop delay since the last scrape.' },
  informers: {
    name: 'wmco_informer_count',
    help: 'Lists, watches, events, failures, ignored objects and handler errors of informers.',
  },
  objects: { name: 'wmco_informer_objects', help: 'Objects in informer caches.' },
} as const;

export interface InformerFigures {
  informer: string;
  counts: InformerCounts;
  objects: number;
}

/** Returns a function that updates the metrics of process and informers. */
export function processMetrics(metrics: Metrics, informers: () => readonly InformerFigures[]): () => void {
  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();
  return () => {
    const { rss, heapUsed } = process.memoryUsage();
    const { user, system } = process.cpuUsage();
    metrics.gauge(gauges.memory, {}, rss);
    metrics.gauge(gauges.heap, {}, heapUsed);
    metrics.gauge(gauges.cpu, {}, (user + system) / 1e6);
    metrics.gauge(gauges.delay, {}, delay.max / 1e9);
    delay.reset();
    for (const { informer, counts, objects } of informers()) {
      metrics.gauge(gauges.objects, { informer }, objects);
      for (const [what, count] of Object.entries(counts)) metrics.gauge(gauges.informers, { informer, what }, count);
    }
  };
}
