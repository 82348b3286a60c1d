import { bucketBounds, type Labels, type Series } from '#kube/controller/metrics.ts';

export const metricsContentType = 'text/plain; version=0.0.4; charset=utf-8';

/** Prometheus text format, grouped by metric. */
export function printMetrics(series: readonly Series[]): string {
  const byName = Map.groupBy(series, ({ metric }) => metric.name);
  return [...byName].map(([name, group]) => printGroup(name, group)).join('');
}

function printGroup(name: string, group: readonly Series[]): string {
  const [{ metric, type } = { metric: { help: '' }, type: 'gauge' }] = group;
  const help = metric.help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
  const lines = group.filter(each => each.type === type).flatMap(linesOf);
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines, ''].join('\n');
}

function linesOf(series: Series): string[] {
  const { metric, labels } = series;
  if (series.type !== 'histogram') return [line(metric.name, labels, series.value)];
  const buckets = bucketBounds.map((bound, index) =>
    line(`${metric.name}_bucket`, { ...labels, le: String(bound) }, series.buckets[index] ?? 0),
  );
  return [
    ...buckets,
    line(`${metric.name}_bucket`, { ...labels, le: '+Inf' }, series.count),
    line(`${metric.name}_sum`, labels, series.sum),
    line(`${metric.name}_count`, labels, series.count),
  ];
}

function line(name: string, labels: Labels, value: number): string {
  const pairs = Object.entries(labels).map(([key, text]) => `${key}="${escaped(text)}"`);
  return `${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}`;
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
