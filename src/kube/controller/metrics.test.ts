import { expect, test } from 'vitest';
import { bucketBounds, MemoryMetrics, type Metrics, noMetrics } from './metrics.ts';

const passes = { name: 'passes_total', help: 'Passes.' };
const depth = { name: 'depth', help: 'Depth.' };
const seconds = { name: 'seconds', help: 'Length.' };

test('counts, one at a time or several', () => {
  const metrics = new MemoryMetrics();
  metrics.count(passes, {});
  metrics.count(passes, {}, 3);
  expect(metrics.read(passes, {})).toBe(4);
});

test('a gauge is what it was last set to', () => {
  const metrics = new MemoryMetrics();
  for (const value of [5, 7, 0, 2]) metrics.gauge(depth, {}, value);
  expect(metrics.read(depth, {})).toBe(2);
});

test('each set of labels has its own series in any order', () => {
  const metrics = new MemoryMetrics();
  metrics.count(passes, { controller: 'a', result: 'error' });
  metrics.count(passes, { result: 'error', controller: 'a' });
  metrics.count(passes, { controller: 'a', result: 'success' });
  expect(metrics.read(passes, { controller: 'a', result: 'error' })).toBe(2);
  expect(metrics.read(passes, { controller: 'a', result: 'success' })).toBe(1);
  expect(metrics.read(passes, { controller: 'a' })).toBe(0);
});

test('labels cannot be mixed up by what they contain', () => {
  const metrics = new MemoryMetrics();
  metrics.count(passes, { a: 'x","b":"y' });
  expect(metrics.read(passes, { a: 'x', b: 'y' })).toBe(0);
});

const observed: [number, number][] = [
  [0, bucketBounds.length],
  [0.001, bucketBounds.length],
  [0.0011, bucketBounds.length - 1],
  [3600, 1],
  [3601, 0],
];
for (const [value, buckets] of observed) {
  test(`${value} s falls into ${buckets} buckets`, () => {
    const metrics = new MemoryMetrics();
    metrics.observe(seconds, {}, value);
    const [series] = metrics.all();
    expect(series).toMatchObject({ type: 'histogram', count: 1, sum: value });
    expect(series?.type === 'histogram' && series.buckets.reduce((all, each) => all + each, 0)).toBe(buckets);
  });
}

test('buckets are cumulative', () => {
  const metrics = new MemoryMetrics();
  for (const value of [0.002, 0.002, 0.3, 7]) metrics.observe(seconds, {}, value);
  const [series] = metrics.all();
  const atMost = (bound: number) => (series?.type === 'histogram' ? series.buckets[bucketBounds.indexOf(bound)] : -1);
  expect([0.001, 0.005, 0.25, 0.5, 5, 10, 3600].map(atMost)).toEqual([0, 2, 2, 3, 3, 4, 4]);
  expect(metrics.read(seconds, {})).toBe(4);
});

test('bucketBounds are increasing', () => {
  expect([...bucketBounds].sort((a, b) => a - b)).toEqual(bucketBounds);
});

test('gives everything, with names, help and labels', () => {
  const metrics = new MemoryMetrics();
  metrics.count(passes, { controller: 'a' });
  metrics.gauge(depth, {}, 1);
  metrics.observe(seconds, {}, 1);
  expect(metrics.all().map(({ type, metric, labels }) => [type, metric.name, metric.help, labels])).toEqual([
    ['counter', 'passes_total', 'Passes.', { controller: 'a' }],
    ['gauge', 'depth', 'Depth.', {}],
    ['histogram', 'seconds', 'Length.', {}],
  ]);
});

test('a metric keeps its first type', () => {
  const metrics = new MemoryMetrics();
  metrics.observe(seconds, {}, 1);
  metrics.count(seconds, {});
  metrics.gauge(seconds, {}, 9);
  expect(metrics.all()).toMatchObject([{ type: 'histogram', count: 1 }]);
  metrics.count(passes, {});
  metrics.observe(passes, {}, 1);
  expect(metrics.read(passes, {})).toBe(1);
});

test('noMetrics ignores all values', () => {
  const metrics: Metrics = noMetrics;
  expect([metrics.count(passes, {}), metrics.gauge(depth, {}, 1), metrics.observe(seconds, {}, 1)]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});
