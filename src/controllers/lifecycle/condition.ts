import { findCondition, type NewCondition } from '#base/condition.ts';
import type { AppError } from '#base/errors.ts';
import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { instanceCondition } from '#contract/windows-instance/resource.ts';

/** The Accepted condition to write; undefined when it is up to date. A missing condition counts as accepted. */
export function acceptedCondition(instance: WindowsInstance, problem: AppError | undefined): NewCondition | undefined {
  const known = findCondition(instance.status?.conditions, instanceCondition.accepted);
  const wanted = conditionFor(problem);
  if (problem === undefined && known?.status !== 'False') return undefined;
  const isSame = known?.status === wanted.status && known.reason === wanted.reason && known.message === wanted.message;
  return isSame ? undefined : wanted;
}

function conditionFor(problem: AppError | undefined): NewCondition {
  const type = instanceCondition.accepted;
  if (problem === undefined)
    return { type, status: 'True', reason: 'Accepted', message: 'The host can be configured.' };
  return { type, status: 'False', reason: problem.code, message: `${problem.message}. ${problem.remedy}` };
}

/** A rejected host is not ready, for the same reason; the Node of a host that joined before can be. */
export function readyConditions({ status }: WindowsInstance, problem: AppError | undefined): NewCondition[] {
  const known = findCondition(status?.conditions, instanceCondition.ready);
  if (problem === undefined || known?.status === 'True') return [];
  return [{ ...conditionFor(problem), type: instanceCondition.ready }];
}

export function isRejected({ status }: WindowsInstance): boolean {
  return findCondition(status?.conditions, instanceCondition.accepted)?.status === 'False';
}
