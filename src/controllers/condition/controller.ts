import { messageOf } from '#base/errors.ts';
import { EventDeduper } from '#cluster/event-deduper.ts';
import {
  byRollout,
  indexByRollout,
  rolloutKey,
  type WindowsInstance,
  windowsInstances,
} from '#cluster/windows-instance-resource.ts';
import { eventText } from '#contract/events.ts';
import { configMapName } from '#contract/names.ts';
import { windowsInstanceGroup } from '#contract/windows-instance/resource.ts';
import { stoppedVersion } from '#contract/windows-instance/upgrade-state.ts';
import { isConflict } from '#kube/api-error.ts';
import { Controller } from '#kube/controller/controller.ts';
import type { ControllerParts } from '#kube/controller/parts.ts';
import { changed, matching } from '#kube/controller/predicate.ts';
import { after, type Outcome, type Pass } from '#kube/controller/reconcile.ts';
import { atStart, watching } from '#kube/controller/watches.ts';
import { referenceTo } from '#kube/events/events.ts';
import { patchObject } from '#kube/patch/patch-helper.ts';
import { type Permission, reading } from '#kube/permissions.ts';
import { type ConfigMap, configMaps, type ObjectReference } from '#kube/resources.ts';
import { type OperatorCondition, operatorConditions } from '#kube/resources-openshift.ts';
import type { Rollout } from '#node/rollout/rollout.ts';
import { type ConditionDecision, cordonedMs, decide } from './decide.ts';
import { withUpgradeable } from './upgradeable.ts';

export const permissions: readonly Permission[] = [
  // OLM names the object after the version, and grants no watch.
  {
    in: 'own namespace',
    group: operatorConditions.group,
    resources: [operatorConditions.plural],
    verbs: ['get', 'patch'],
  },
  { in: 'own namespace', group: windowsInstanceGroup, resources: ['windowsinstances'], verbs: reading },
  { in: 'own namespace', group: '', resources: ['configmaps'], verbs: reading },
  { in: 'own namespace', group: '', resources: ['events'], verbs: ['create', 'patch'] },
];

export interface ConditionParts extends ControllerParts {
  /** Value of OPERATOR_CONDITION_NAME. */
  conditionName: string;
  rollout: { grants: Pick<Rollout['grants'], 'settings'> };
}

/** How soon a condition that another program has changed is repaired: it cannot be watched. */
const recheckMs = 60_000;
/** After a failure. */
const retryMs = 30_000;
const conflictMs = 1000;

/** Tells OLM by the condition `Upgradeable` whether it can replace the operator now. */
export function conditionController(parts: ConditionParts): Controller {
  const { informers, namespace, conditionName } = parts;
  const key = { namespace, name: conditionName };
  const instances = informers.get(windowsInstances, { namespace });
  const maps = informers.get(configMaps, { namespace });
  instances.addIndex(byCordon, indexByCordon);
  instances.addIndex(byRollout, indexByRollout);
  const isRollout = ({ metadata }: ConfigMap) => metadata.name === configMapName.rollout;
  const condition = new UpgradeableCondition(parts, {
    // Few of hundreds: each status write of a journey leads here.
    instances: () => [
      ...instances.store.byIndex(byCordon, byCordon),
      ...instances.store.byIndex(byRollout, rolloutKey.stopped(parts.version)),
    ],
    status: () => maps.store.get({ namespace, name: configMapName.operatorStatus }),
  });
  return new Controller({
    ...parts,
    name: 'condition',
    watches: [
      // Also without an instance.
      atStart(key),
      watching({
        source: instances,
        predicate: changed<WindowsInstance>(each => [cordonedMs(each), stoppedVersion(each)]),
        keys: () => [key],
      }),
      watching({ source: maps, predicate: matching(isRollout), keys: () => [key] }),
    ],
    reconcile: (_, pass) => condition.reconcile(pass),
  });
}

/** Index of the instances whose node is out of service by a journey that makes progress. */
const byCordon = 'cordon';

function indexByCordon(instance: WindowsInstance): string[] {
  return cordonedMs(instance) === undefined ? [] : [byCordon];
}

interface Sources {
  /** Those that matter. */
  instances: () => readonly WindowsInstance[];
  /** The ConfigMap with the status of the operator, for events while there is no OperatorCondition. */
  status: () => ConfigMap | undefined;
}

class UpgradeableCondition {
  readonly #parts: ConditionParts;
  readonly #sources: Sources;
  readonly #events: EventDeduper;
  /** When the object was last seen to say this. */
  #seen: { isSafe: boolean; atMs: number } | undefined;
  #logged: string | undefined;

  constructor(parts: ConditionParts, sources: Sources) {
    this.#parts = parts;
    this.#sources = sources;
    this.#events = new EventDeduper(parts);
  }

  /** Status writes of journeys are frequent; only a change, or a minute, is a reason to read the object. */
  async reconcile(pass: Pass): Promise<Outcome> {
    const { clock, version, rollout } = this.#parts;
    const { isPaused } = rollout.grants.settings();
    const decision = decide({ instances: this.#sources.instances(), isPaused, version, nowMs: clock.now() });
    const leftMs = this.#seen?.isSafe === decision.isSafe ? this.#seen.atMs + recheckMs - clock.monotonicMs() : 0;
    if (leftMs > 0) return nextLook(decision, leftMs);
    const outcome = await this.#write(decision, pass);
    return outcome ?? nextLook(decision, recheckMs);
  }

  /** Returns what to do instead, if it failed. Nothing else waits for it. */
  async #write({ isSafe }: ConditionDecision, pass: Pass): Promise<Outcome | undefined> {
    const { client, clock, namespace, conditionName } = this.#parts;
    const { signal, log } = pass;
    this.#seen = undefined;
    let before: OperatorCondition;
    try {
      before = await client.get(operatorConditions, conditionName, { namespace, signal });
    } catch (error) {
      const status = this.#sources.status();
      const object = status && referenceTo(configMaps, status);
      return this.#fail('Failed to get OperatorCondition CR', error, object, pass);
    }
    const next = withUpgradeable(before, isSafe, clock.now());
    try {
      if (next !== before)
        await patchObject(client, operatorConditions, { before, after: next }, { signal, lock: 'always' });
    } catch (error) {
      if (isConflict(error)) return after(conflictMs, 'OperatorCondition was changed meanwhile');
      return this.#fail(patchFailure(isSafe), error, referenceTo(operatorConditions, before), pass);
    }
    if (next !== before)
      log.info('Patched OperatorCondition', { OperatorCondition: conditionName, Upgradeable: isSafe });
    this.#seen = { isSafe, atMs: clock.monotonicMs() };
    this.#events.report(subject, [], []);
    this.#logged = undefined;
    return undefined;
  }

  #fail(what: string, error: unknown, object: ObjectReference | undefined, { signal, log }: Pass): Outcome {
    signal.throwIfAborted();
    const message = `${what}: ${messageOf(error)}`;
    const event = eventText.operatorConditionError(message);
    const isNew = this.#events.report(subject, object === undefined ? [] : [object], [event]);
    // There is an event once there is an object for it.
    if (object === undefined) this.#events.report(subject, [], []);
    if (isNew && message !== this.#logged) log.warn('OperatorCondition could not be updated; retrying', { error });
    this.#logged = message;
    return after(retryMs, message);
  }
}

const subject = 'OperatorCondition';

/** In the words of the Go operator. */
function patchFailure(isSafe: boolean): string {
  const advice = isSafe ? 'Manual operator upgrades may be needed' : 'Be cautious of automatic operator upgrades';
  return `Failed to patch OperatorCondition CR. ${advice}`;
}

function nextLook({ againMs = recheckMs }: ConditionDecision, leftMs: number): Outcome {
  return after(Math.min(againMs, leftMs), 'OperatorCondition is not watched');
}
