/** One entry of a list of conditions. Members we do not know are carried along. */
export type Condition = Readonly<Record<string, unknown>>;

/** What we need to know of the OperatorCondition that OLM made for us. */
export interface OperatorConditionView {
  resourceVersion: string | undefined;
  specConditions: readonly Condition[];
  statusConditions: readonly Condition[];
}

/** The first condition of a type decides; none means no. */
export function hasStatus(conditions: readonly Condition[], type: string, status: string): boolean {
  return conditions.find(condition => condition['type'] === type)?.['status'] === status;
}

/** What happened to one piece of work. It is clean when it neither failed nor asked to be called again. */
export type Activity = { key: string; is: 'started' } | { key: string; is: 'ended'; clean: boolean };

export interface Tracking {
  /** Value of OPERATOR_CONDITION_NAME; without one nothing is ever written. */
  conditionName: string | undefined;
  /** Keys of the work that is not done yet. Each controller must use keys of its own. */
  busy: ReadonlySet<string>;
}

/** Merge patch with the resource version it was made for, so that a concurrent change of other conditions is not lost. */
export interface ConditionPatch {
  metadata: { resourceVersion?: string };
  spec: { conditions: Condition[] };
}

export interface Tracked {
  tracking: Tracking;
  patch: ConditionPatch | undefined;
}

/** Takes note of an activity and says what has to be written, if anything, so that OLM knows whether to upgrade us. */
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
