import { expect, test } from 'vitest';
import { MemoryMetrics } from '#kube/controller/metrics.ts';
import { printMetrics } from './metrics-text.ts';
import { processMetrics } from './process-metrics.ts';

const counts = { lists: 1, watches: 2, events: 3, failures: 4, ignored: 5, handlerErrors: 6 };

function bench() {
  const metrics = new MemoryMetrics();
  let objects = 7;
  const look = processMetrics(metrics, () => [{ informer: 'nodes.v1', counts, objects }]);
  return { metrics, look, text: () => printMetrics(metrics.all()), grow: () => (objects += 1) };
}

test('reports nothing before it looks', () => expect(bench().text()).toBe(''));

test('takes memory, processor time and standstills of this process', () => {
  const { look, text } = bench();
  look();
  const value = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text())?.[1]);
  expect(value('process_resident_memory_bytes')).toBeGreaterThan(10_000_000);
  expect(value('nodejs_heap_size_used_bytes')).toBeGreaterThan(1_000_000);
  expect(value('process_cpu_seconds_total')).toBeGreaterThan(0);
  expect(value('nodejs_eventloop_delay_max_seconds')).toBeGreaterThanOrEqual(0);
});

test('reports what informers have done and hold', () => {
  const { look, text, grow } = bench();
  look();
  for (const [what, count] of Object.entries(counts))
    expect(text()).toContain(`wmco_informer_count{informer="nodes.v1",what="${what}"} ${count}\n`);
  expect(text()).toContain('wmco_informer_objects{informer="nodes.v1"} 7\n');
  grow();
  look();
  expect(text()).toContain('wmco_informer_objects{informer="nodes.v1"} 8\n');
});
