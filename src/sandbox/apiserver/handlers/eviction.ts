import { timestamp } from '#base/clock.ts';
import { isRecord } from '#base/fields.ts';
import { type Call, type Core, requireObject } from '../core.ts';
import { specSelects } from '../label-selector.ts';
import { hasCondition, memberAt, numberAt, recordAt, textAt } from '../object.ts';
import type { StoredObject } from '../ports.ts';
import { badRequest, StatusError, tooManyRequests } from '../status.ts';
import { deleteObject } from './delete.ts';
import { readDeleteOptions } from './delete-options.ts';

const budgets = 'poddisruptionbudgets.policy';

/** Deletes a pod if its PodDisruptionBudget allows it, and updates the budget. */
export function evictPod(core: Core, call: Call, body: unknown): void {
  checkBody(call, body);
  const options = readDeleteOptions(memberAt(body, 'deleteOptions') ?? {});
  const dryRun = call.dryRun || options.dryRun === true;
  const pod = requireObject(core, call);
  if (countsAsRunning(pod)) spendBudget(core, pod, dryRun);
  deleteObject(core, { ...call, subresource: '', dryRun }, options);
}

function checkBody(call: Call, body: unknown): void {
  if (!isRecord(body)) throw badRequest('the object provided is unrecognized (must be of type Eviction)');
  const [version, kind] = [textAt(body, 'apiVersion'), textAt(body, 'kind')];
  if (!['', 'policy/v1', 'policy/v1beta1'].includes(version) || !['', 'Eviction'].includes(kind))
    throw badRequest(`${kind} in version "${version}" cannot be handled as a Eviction`);
  if (textAt(body, 'metadata.name') !== call.name)
    throw badRequest('name in URL does not match name in Eviction object');
}

/** Pending, finished and terminating pods do not count. */
function countsAsRunning(pod: StoredObject): boolean {
  const over = ['Succeeded', 'Failed', 'Pending'].includes(textAt(pod, 'status.phase'));
  return !over && pod.metadata.deletionTimestamp === undefined;
}

function spendBudget(core: Core, pod: StoredObject, dryRun: boolean): void {
  const matching = core.store
    .list(budgets, pod.metadata.namespace)
    .filter(budget => specSelects(budget, pod.metadata.labels));
  if (matching.length > 1)
    throw new StatusError({
      code: 500,
      message: 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    });
  const [budget] = matching;
  if (budget === undefined) return;
  const [healthy, wanted] = [numberAt(budget, 'status.currentHealthy'), numberAt(budget, 'status.desiredHealthy')];
  // An unready pod can go as long as enough others are healthy.
  if (!hasCondition(pod, 'Ready', 'True') && wanted > 0 && healthy >= wanted) return;
  const name = budget.metadata.name ?? '';
  if (numberAt(budget, 'status.observedGeneration') < (budget.metadata.generation ?? 0))
    throw budgetViolation(`The disruption budget ${name} is still being processed by the server.`);
  const allowed = numberAt(budget, 'status.disruptionsAllowed');
  if (allowed <= 0)
    throw budgetViolation(`The disruption budget ${name} needs ${wanted} healthy pods and has ${healthy} currently`);
  if (!dryRun) core.store.write(budgets, withDisruption(budget, pod, timestamp(core.clock.now())));
}

function withDisruption(budget: StoredObject, pod: StoredObject, now: string): StoredObject {
  const status = recordAt(budget, 'status');
  const disruptedPods = { ...recordAt(status, 'disruptedPods'), [pod.metadata.name ?? '']: now };
  const disruptionsAllowed = numberAt(status, 'disruptionsAllowed') - 1;
  return { ...budget, status: { ...status, disruptedPods, disruptionsAllowed } };
}

function budgetViolation(message: string): StatusError {
  return tooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", {
    causes: [{ reason: 'DisruptionBudget', message }],
  });
}
