import { isDeepStrictEqual } from 'node:util';
import {
  type Activity,
  type Condition,
  type Tracking,
  trackActivity,
} from '../../../src/controllers/condition/decide.ts';
import type { Input, Operation } from '../row.ts';

export const ops: Record<string, Operation> = { busyTracking };

/** Runs the steps against a spec; each step has the expected conditions or number of writes. */
function busyTracking(input: Input): unknown {
  let tracking: Tracking = { conditionName: input.env?.OPERATOR_CONDITION_NAME, busy: new Set() };
  let specConditions: readonly Condition[] = input.specConditionsBefore ?? [];
  const wrong: unknown[] = [];
  for (const step of input.steps as Input[]) {
    const current = { resourceVersion: undefined, specConditions, statusConditions: [] };
    const tracked = trackActivity(tracking, activityOf(step), current, '2026-01-01T00:00:00Z');
    tracking = tracked.tracking;
    specConditions = tracked.patch?.spec.conditions ?? specConditions;
    const actual = { patches: tracked.patch === undefined ? 0 : 1, after: specConditions.map(withoutTime) };
    const wanted = { patches: step.patches ?? actual.patches, after: step.specConditionsAfter ?? actual.after };
    if (!isDeepStrictEqual(actual, wanted)) wrong.push({ step, actual });
  }
  return { ok: wrong.length === 0, wrong };
}

function activityOf(step: Input): Activity {
  const key = step.controller as string;
  if (step.do === 'busy') return { key, is: 'started' };
  return { key, is: 'ended', clean: !(step.error === true || step.requeue === true) };
}

function withoutTime(condition: Condition): Condition {
  return Object.fromEntries(Object.entries(condition).filter(([member]) => member !== 'lastTransitionTime'));
}
