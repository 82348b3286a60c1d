/** The oldest and the newest minor version of Kubernetes that the cases were run on. */
const oldest = 20;
const newest = 36;

/** An expectation that changed between two versions of Kubernetes. */
export class Changed<T> {
  readonly older: T;
  readonly newer: T;
  readonly until: number;
  readonly from: number;

  constructor(older: T, newer: T, { until = oldest, from = newest }: { until?: number; from?: number }) {
    this.older = older;
    this.newer = newer;
    this.until = until;
    this.from = from;
  }
}

/** Either of two values. */
export class Either {
  readonly values: readonly [unknown, unknown];

  constructor(values: readonly [unknown, unknown]) {
    this.values = values;
  }
}

/**
 * Servers answer `older` until version 1.`until` and `newer` from 1.`from` on. Between the two they may answer either, because
 * it is not known when the answer changed.
 */
export function changed<T>(older: T, newer: T, versions: { until?: number; from?: number } = {}): Changed<T> {
  return new Changed(older, newer, versions);
}

/** What is expected of a server of version 1.`minor`. */
export function expectedOn(minor: number, template: unknown): unknown {
  if (template instanceof Changed) {
    const { older, newer, until, from } = template as Changed<unknown>;
    const both = [older, newer].map(value => expectedOn(minor, value)) as [unknown, unknown];
    if (minor <= until) return both[0];
    return minor >= from ? both[1] : new Either(both);
  }
  if (Array.isArray(template)) return template.map((item: unknown) => expectedOn(minor, item));
  if (typeof template !== 'object' || template === null || template instanceof RegExp) return template;
  return Object.fromEntries(Object.entries(template).map(([name, value]) => [name, expectedOn(minor, value)]));
}
