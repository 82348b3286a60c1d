import { setCondition } from '#base/condition.ts';
import type { OperatorCondition } from '#kube/resources-openshift.ts';

export const upgradeable = 'Upgradeable';

/** As the Go operator words them. */
const texts = {
  True: { reason: 'upgradeIsSafe', message: 'The operator is safe for upgrade' },
  False: {
    reason: 'upgradeIsNotSafe',
    message: 'The operator is currently processing sub-components. At least one controller is busy.',
  },
} as const;

/** The same object when it has the condition already. Conditions of other types stay. */
export function withUpgradeable(object: OperatorCondition, isSafe: boolean, nowMs: number): OperatorCondition {
  const status = isSafe ? 'True' : 'False';
  const before = object.spec?.conditions ?? [];
  const conditions = setCondition(before, { type: upgradeable, status, ...texts[status] }, nowMs);
  return conditions === before ? object : { ...object, spec: { ...object.spec, conditions: [...conditions] } };
}
