/** The numbers in the status of a PodDisruptionBudget. */
export interface BudgetCounts {
  currentHealthy: number;
  desiredHealthy: number;
  expectedPods: number;
  disruptionsAllowed: number;
}

export interface BudgetSpec {
  minAvailable?: unknown;
  maxUnavailable?: unknown;
}

export interface SelectedPods {
  count: number;
  healthy: number;
  /** Replicas wanted by the controllers of the pods; undefined if a pod has no known controller. */
  scale: number | undefined;
}

/** Undefined if it cannot be computed; no disruption is allowed then. */
export function countBudget(spec: BudgetSpec, pods: SelectedPods): BudgetCounts | undefined {
  const wanted = spec.maxUnavailable === undefined ? fromMinimum(spec, pods) : fromMaximum(spec, pods);
  if (wanted === undefined) return undefined;
  const { expectedPods, desiredHealthy } = wanted;
  const spare = pods.healthy - desiredHealthy;
  const disruptionsAllowed = expectedPods <= 0 || spare <= 0 ? 0 : spare;
  return { currentHealthy: pods.healthy, desiredHealthy, expectedPods, disruptionsAllowed };
}

type Wanted = Pick<BudgetCounts, 'expectedPods' | 'desiredHealthy'>;

function fromMaximum({ maxUnavailable }: BudgetSpec, { scale }: SelectedPods): Wanted | undefined {
  const absent = scale === undefined ? undefined : resolveAmount(maxUnavailable, scale);
  if (scale === undefined || absent === undefined) return undefined;
  return { expectedPods: scale, desiredHealthy: Math.max(0, scale - absent) };
}

function fromMinimum({ minAvailable }: BudgetSpec, { count, scale }: SelectedPods): Wanted | undefined {
  if (minAvailable === undefined) return { expectedPods: 0, desiredHealthy: 0 };
  if (typeof minAvailable === 'number') return { expectedPods: count, desiredHealthy: minAvailable };
  const desiredHealthy = scale === undefined ? undefined : resolveAmount(minAvailable, scale);
  return scale === undefined || desiredHealthy === undefined ? undefined : { expectedPods: scale, desiredHealthy };
}

/** A number, or a percentage of the total rounded up. */
function resolveAmount(value: unknown, total: number): number | undefined {
  if (typeof value === 'number') return value;
  const percent = typeof value === 'string' ? /^(\d{1,9})%$/.exec(value)?.[1] : undefined;
  return percent === undefined ? undefined : Math.ceil((Number(percent) * total) / 100);
}
