export interface Metric {
  name: string;
  help: string;
}

export type Labels = Readonly<Record<string, string>>;

/** A sink for metrics; its methods never fail or block. */
export interface Metrics {
  count(metric: Metric, labels: Labels, by?: number): void;
  gauge(metric: Metric, labels: Labels, value: number): void;
  observe(metric: Metric, labels: Labels, seconds: number): void;
}

export const noMetrics: Metrics = { count: () => undefined, gauge: () => undefined, observe: () => undefined };

export interface Histogram {
  count: number;
  sum: number;
  /** Cumulative counts, one per bound of `bucketBounds`. */
  buckets: number[];
}

export type Series = { metric: Metric; labels: Labels } & (
  | { type: 'counter' | 'gauge'; value: number }
  | ({ type: 'histogram' } & Histogram)
);

/** Upper bounds in seconds, from an idle pass to one that configures a host. */
export const bucketBounds: readonly number[] = [
  0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600,
];

/** Keeps all metrics in memory. */
export class MemoryMetrics implements Metrics {
  readonly #series = new Map<string, Series>();

  count(metric: Metric, labels: Labels, by = 1): void {
    const series = this.#find('counter', metric, labels);
    if (series.type !== 'histogram') series.value += by;
  }

  gauge(metric: Metric, labels: Labels, value: number): void {
    const series = this.#find('gauge', metric, labels);
    if (series.type !== 'histogram') series.value = value;
  }

  observe(metric: Metric, labels: Labels, seconds: number): void {
    const series = this.#find('histogram', metric, labels);
    if (series.type !== 'histogram') return;
    series.count += 1;
    series.sum += seconds;
    for (const [index, bound] of bucketBounds.entries()) {
      if (seconds <= bound) series.buckets[index] = (series.buckets[index] ?? 0) + 1;
    }
  }

  /** All series in the order of their first value. */
  all(): readonly Series[] {
    return [...this.#series.values()];
  }

  /** The value of a counter or gauge, or the count of a histogram; 0 when there is none. */
  read(metric: Metric, labels: Labels): number {
    const series = this.#series.get(identity(metric, labels));
    if (series === undefined) return 0;
    return series.type === 'histogram' ? series.count : series.value;
  }

  #find(type: Series['type'], metric: Metric, labels: Labels): Series {
    const id = identity(metric, labels);
    const known = this.#series.get(id);
    if (known !== undefined) return known;
    const made: Series =
      type === 'histogram'
        ? { metric, labels, type, count: 0, sum: 0, buckets: bucketBounds.map(() => 0) }
        : { metric, labels, type, value: 0 };
    this.#series.set(id, made);
    return made;
  }
}

/** Labels are the same in any order. */
function identity(metric: Metric, labels: Labels): string {
  return JSON.stringify([metric.name, Object.entries(labels).sort(([one], [other]) => (one < other ? -1 : 1))]);
}
