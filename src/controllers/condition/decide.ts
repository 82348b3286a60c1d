/** One condition; unknown fields are kept. */
export type Condition = Readonly<Record<string, unknown>>;

/** The fields used of the OperatorCondition that OLM creates for the operator. */
export interface OperatorConditionView {
  resourceVersion: string | undefined;
  specConditions: readonly Condition[];
  statusConditions: readonly Condition[];
}

/** The first condition of the type decides. */
export function hasStatus(conditions: readonly Condition[], type: string, status: string): boolean {
  return conditions.find(condition => condition['type'] === type)?.['status'] === status;
}

/** Start or end of a pass. It is clean when it neither failed nor requested a requeue. */
export type Activity = { key: string; is: 'started' } | { key: string; is: 'ended'; clean: boolean };

export interface Tracking {
  /** Value of OPERATOR_CONDITION_NAME; without one no condition is written. */
  conditionName: string | undefined;
  /** Keys of unfinished passes, unique across controllers. */
  busy: ReadonlySet<string>;
}

/** Merge patch with resource version, so that concurrent changes of other conditions are not lost. */
export interface ConditionPatch {
  metadata: { resourceVersion?: string };
  spec: { conditions: Condition[] };
}

export interface Tracked {
  tracking: Tracking;
  patch: ConditionPatch | undefined;
}

/** Returns the next state, and the patch that tells OLM whether the operator can be upgraded. */
export function trackActivity(
  tracking: Tracking,
  activity: Activity,
  current: OperatorConditionView | undefined,
  now: string,
): Tracked {
  const busy = new Set(tracking.busy);
  if (activity.is === 'started') busy.add(activity.key);
  else if (activity.clean) busy.delete(activity.key);
  const next = { ...tracking, busy };
  const writes = (tracking.conditionName ?? '') !== '' && current !== undefined;
  return { tracking: next, patch: writes ? upgradeablePatch(current, busy.size === 0, now) : undefined };
}

const upgradeable = 'Upgradeable';

const texts = {
  True: {
    reason: 'upgradeIsSafe',
    message: 'The operator is safe for upgrade',
  },
  False: {
    reason: 'upgradeIsNotSafe',
    message: 'The operator is currently processing sub-components. At least one controller is busy.',
  },
} as const;

function upgradeablePatch(current: OperatorConditionView, safe: boolean, now: string): ConditionPatch | undefined {
  const status = safe ? 'True' : 'False';
  if (hasStatus(current.specConditions, upgradeable, status)) return undefined;
  const { reason, message } = texts[status];
  const own: Condition = { type: upgradeable, status, reason, message, lastTransitionTime: now };
  const others = current.specConditions.filter(condition => condition['type'] !== upgradeable);
  const { resourceVersion } = current;
  return { metadata: resourceVersion === undefined ? {} : { resourceVersion }, spec: { conditions: [...others, own] } };
}
