import type { ApiError } from '../api-error.ts';
import type { LabelSelector, Pod, PodDisruptionBudget } from '../resources.ts';

/** Decides about an empty selector: it selects no pod in policy/v1beta1 and every pod in policy/v1. */
export type PolicyVersion = 'v1' | 'v1beta1';

/** Names of the budgets that protect the pod. */
export function budgetsOf(pod: Pod, budgets: readonly PodDisruptionBudget[], version: PolicyVersion): string[] {
  return budgets
    .filter(({ metadata, spec }) => {
      const isSameNamespace = metadata.namespace === pod.metadata.namespace;
      return isSameNamespace && selects(spec?.selector, pod.metadata.labels ?? {}, version);
    })
    .map(({ metadata }) => metadata.name ?? '')
    .sort();
}

/** Why the server rejected an eviction; newer servers name the budget. */
export function causesOf({ details, message }: ApiError): string {
  const causes = (details.causes ?? []).filter(({ reason }) => reason === 'DisruptionBudget');
  return causes.map(cause => cause.message ?? '').find(text => text !== '') ?? message;
}

function selects(selector: LabelSelector | undefined, labels: Record<string, string>, version: PolicyVersion): boolean {
  if (selector === undefined) return false;
  const { matchLabels = {}, matchExpressions = [] } = selector;
  const isEmpty = Object.keys(matchLabels).length === 0 && matchExpressions.length === 0;
  if (isEmpty) return version === 'v1';
  const valueOf = (key: string) => (Object.hasOwn(labels, key) ? labels[key] : undefined);
  return (
    Object.entries(matchLabels).every(([key, value]) => valueOf(key) === value) &&
    matchExpressions.every(({ key, operator, values = [] }) => meets(operator, values, valueOf(key)))
  );
}

function meets(operator: string, values: readonly string[], value: string | undefined): boolean {
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    default:
      // Unknown operator: it is better to name one budget too many than to hide the one that blocks.
      return true;
  }
}
