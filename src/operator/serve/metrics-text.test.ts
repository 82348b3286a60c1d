import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { MemoryMetrics } from '#kube/controller/metrics.ts';
import { printMetrics } from './metrics-text.ts';

const counter = { name: 'things_total', help: 'How many.' };
const gauge = { name: 'depth', help: 'How deep.' };
const seconds = { name: 'work_seconds', help: 'How long.' };

function printed(fill: (metrics: MemoryMetrics) => void): string {
  const metrics = new MemoryMetrics();
  fill(metrics);
  return printMetrics(metrics.all());
}

test('prints nothing of nothing', () => expect(printed(() => undefined)).toBe(''));

test('prints counters and gauges with help and type', () => {
  const text = printed(metrics => {
    metrics.count(counter, {}, 3);
    metrics.gauge(gauge, { queue: 'a', zone: 'b' }, 1.5);
  });
  expect(text).toBe(
    [
      '# HELP things_total How many.',
      '# TYPE things_total counter',
      'things_total 3',
      '# HELP depth How deep.',
      '# TYPE depth gauge',
      'depth{queue="a",zone="b"} 1.5',
      '',
    ].join('\n'),
  );
});

test('puts series of one metric together, in whatever order they came', () => {
  const text = printed(metrics => {
    metrics.count(counter, { of: 'a' });
    metrics.gauge(gauge, {}, 1);
    metrics.count(counter, { of: 'b' });
  });
  expect(text.match(/^# TYPE .*$/gm)).toEqual(['# TYPE things_total counter', '# TYPE depth gauge']);
  expect(text.indexOf('of="b"')).toBeLessThan(text.indexOf('depth'));
});

test('prints histograms with buckets that grow, their sum and their count', () => {
  const text = printed(metrics => {
    for (const value of [0.002, 0.2, 7, 5000]) metrics.observe(seconds, { step: 'join' }, value);
  });
  const buckets = [...text.matchAll(/work_seconds_bucket\{step="join",le="([^"]+)"\} (\d+)/g)].map(
    ([, bound, count]) => [bound, Number(count)] as const,
  );
  expect(buckets.map(([, count]) => count)).toEqual(
    buckets.map(([, count]) => count).sort((one, other) => one - other),
  );
  expect(Object.fromEntries(buckets)).toMatchObject({
    '0.001': 0,
    '0.005': 1,
    '0.25': 2,
    '10': 3,
    '3600': 3,
    '+Inf': 4,
  });
  expect(text).toContain('work_seconds_sum{step="join"} 5007.202\n');
  expect(text).toContain('work_seconds_count{step="join"} 4\n');
  expect(text).toContain('# TYPE work_seconds histogram\n');
});

test.each([
  ['quotes', 'say "x"', 'say \\"x\\"'],
  ['backslashes', 'C:\\k', 'C:\\\\k'],
  ['line ends', 'a\nb', 'a\\nb'],
])('escapes %s in labels', (_, value, want) => {
  expect(printed(metrics => metrics.count(counter, { path: value }))).toContain(`{path="${want}"} 1`);
});

test('keeps help on one line', () => {
  const text = printed(metrics => metrics.count({ name: 'x', help: 'a\nb\\c' }, {}));
  expect(text.split('\n')[0]).toBe('# HELP x a\\nb\\\\c');
});

test('leaves out series that are of another type than the first of their name', () => {
  const text = printed(metrics => {
    metrics.count(counter, { of: 'a' });
    metrics.observe(counter, { of: 'b' }, 1);
  });
  expect(text).not.toContain('of="b"');
});

test('every line has the form that Prometheus reads, whatever labels hold', () => {
  const line =
    /^(# (HELP|TYPE) \S+ .*|[a-z_]+(\{[a-z]+="([^"\\\n]|\\["\\n])*"(,[a-z]+="([^"\\\n]|\\["\\n])*")*\})? \S+)$/;
  fc.assert(
    fc.property(fc.array(fc.string(), { maxLength: 5 }), values => {
      const text = printed(metrics => {
        for (const value of values) metrics.observe(seconds, { what: value }, 1);
      });
      for (const each of text.split('\n').slice(0, -1)) expect(each).toMatch(line);
    }),
    { numRuns: 200 },
  );
});
