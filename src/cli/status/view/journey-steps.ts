import type { InstanceActivity, JourneyName } from '#contract/windows-instance/resource.ts';
import { adoptSteps, configureSteps, reconnectSteps } from '#node/lifecycle/configure/steps.ts';
import { rebootSteps } from '#node/lifecycle/reboot/steps.ts';
import { rekeySteps } from '#node/lifecycle/rekey/steps.ts';
import { refreshSteps, restartSteps } from '#node/lifecycle/refresh/steps.ts';
import { removeSteps } from '#node/lifecycle/remove/steps.ts';
import { rollbackSteps, upgradeSteps } from '#node/lifecycle/upgrade/steps.ts';
import type { HostView } from './host-view.ts';

/** Undefined times are those of a step of another version of the operator. */
export interface JourneyStep {
  name: string;
  times?: Pick<InstanceActivity, 'usualSeconds' | 'limitSeconds'>;
}

interface KnownStep {
  name: string;
  usualMs?: number;
  limitMs: number;
}

const stepsOf: Readonly<Partial<Record<JourneyName, readonly KnownStep[]>>> = {
  adopt: adoptSteps,
  configure: configureSteps,
  reconnect: reconnectSteps,
  reboot: rebootSteps,
  refresh: refreshSteps,
  rekey: rekeySteps,
  remove: removeSteps,
  restart: restartSteps,
  rollback: rollbackSteps,
  upgrade: upgradeSteps,
};

/** The steps of the journey in the timeline, those to come among them. */
export function journeySteps({ instance, timeline }: Pick<HostView, 'instance' | 'timeline'>): JourneyStep[] {
  const names = timeline.map(({ name }) => name);
  const steps = knownSteps(instance?.status?.journey?.name, names).map(withTimes);
  // Another version of the operator, or another path of the journey, may have other steps.
  let before = -1;
  for (const name of names) {
    const known = steps.findIndex(step => step.name === name);
    if (known < 0) steps.splice(before + 1, 0, { name });
    before = known < 0 ? before + 1 : known;
  }
  return steps;
}

/** Of a journey that is over, the name is not recorded. */
function knownSteps(journey: JourneyName | undefined, names: readonly string[]): readonly KnownStep[] {
  if (journey !== undefined) return stepsOf[journey] ?? [];
  const known = new Set(configureSteps.map(({ name }) => name));
  return names.every(name => known.has(name)) ? configureSteps : [];
}

function withTimes({ name, usualMs, limitMs }: KnownStep): JourneyStep {
  const usual = usualMs === undefined ? {} : { usualSeconds: usualMs / 1000 };
  return { name, times: { ...usual, limitSeconds: limitMs / 1000 } };
}
