import { type Condition, findCondition, type NewCondition } from '#base/condition.ts';
import type { AppError } from '#base/errors.ts';
import { Fields } from '#base/fields.ts';
import { clusterProblems } from '#cluster/cluster-problems.ts';
import { EventDeduper } from '#cluster/event-deduper.ts';
import type { OperatorSettings } from '#cluster/facts.ts';
import type { FactsSource } from '#cluster/facts-source.ts';
import { watchingFacts } from '#cluster/facts-watch.ts';
import { storeSuitability } from '#cluster/suitability-condition.ts';
import { type WindowsInstance, windowsInstances } from '#cluster/windows-instance-resource.ts';
import { eventText } from '#contract/events.ts';
import { configMapName } from '#contract/names.ts';
import {
  clusterSuitable,
  hostCondition,
  kubeletCondition,
  kubeletSettings,
  readConditions,
  rolloutCondition,
  rolloutSettings,
} from '#contract/operator-status.ts';
import { objectLabel, readObject } from '#contract/object.ts';
import { parseRollout } from '#contract/rollout.ts';
import { windowsInstanceGroup } from '#contract/windows-instance/resource.ts';
import { Controller } from '#kube/controller/controller.ts';
import type { ControllerParts } from '#kube/controller/parts.ts';
import { matching } from '#kube/controller/predicate.ts';
import { after, type Outcome, type Pass } from '#kube/controller/reconcile.ts';
import { watchingSignal } from '#kube/controller/signal-watch.ts';
import { watching } from '#kube/controller/watches.ts';
import { referenceTo } from '#kube/events/events.ts';
import { type Permission, reading } from '#kube/permissions.ts';
import { type ConfigMap, configMaps } from '#kube/resources.ts';
import { kubeletProblems, readKubeletProfiles } from '#node/desired/kubelet-settings.ts';
import type { HostInputSource } from '#node/lifecycle/deps.ts';
import { dueProblems, graceMs } from './decide.ts';

export const permissions: readonly Permission[] = [
  { in: 'own namespace', group: '', resources: ['configmaps'], verbs: ['get', ...reading, 'create', 'patch'] },
  { in: 'own namespace', group: windowsInstanceGroup, resources: ['windowsinstances'], verbs: reading },
];

export interface ClusterChecksParts extends ControllerParts {
  facts: FactsSource;
  settings: OperatorSettings;
  kind: 'openshift' | 'kubernetes';
  /** Of the payload. */
  kubeletVersion: string;
  inputs?: Pick<HostInputSource, 'settingsProblem' | 'onSettingsChange'>;
}

/** The version of the API server changes without a change of any watched object. */
const recheckMs = 300_000;

/**
 * Reports whether the cluster supports Windows nodes, and whether the settings of the disruption budget and of kubelets are valid: as
 * conditions and as events.
 */
export function clusterChecksController(parts: ClusterChecksParts): Controller {
  const { informers, namespace, facts, recorder, clock } = parts;
  const key = { namespace, name: configMapName.operatorStatus };
  const source = informers.get(configMaps, { namespace });
  const instances = informers.get(windowsInstances, { namespace });
  const ownNames: readonly string[] = [key.name, configMapName.rollout, configMapName.kubeletConfig];
  const isOwn = ({ metadata }: ConfigMap) => ownNames.includes(metadata.name ?? '');
  const events = new EventDeduper({ recorder, clock });
  let since: ReadonlyMap<string, number> = new Map();
  return new Controller({
    ...parts,
    name: 'cluster-checks',
    watches: [
      watchingFacts(facts, key),
      watching({ source, predicate: matching(isOwn), keys: () => [key] }),
      watchingSignal(
        listener => parts.inputs?.onSettingsChange?.(listener) ?? (() => undefined),
        () => [key],
      ),
    ],
    reconcile: async (_, pass) => {
      const found = await findProblems(parts, pass);
      const problems = dueProblems(found, since, clock.monotonicMs());
      ({ since } = problems);
      const stored = source.store.get(key);
      const find = (name: string) => source.store.get({ namespace, name });
      const labels = instances.store.list().map(({ spec }) => spec.labels);
      const others = [
        checkRollout(find(configMapName.rollout), namespace, events),
        checkKubelet(find(configMapName.kubeletConfig), labels, events),
        hostCondition(problemsOf(parts.inputs?.settingsProblem?.())),
      ];
      // After a start it is not known yet how long a problem has existed.
      if (problems.isWaiting && problems.due.length === 0 && !isSuitable(stored)) return nextPass(true);
      const map = await storeSuitability(stored, problems.due, { ...parts, others }, pass.signal);
      report(map, problems.due, { events, wasUnsuitable: isUnsuitable(stored), ...parts }, pass);
      return nextPass(problems.isWaiting);
    },
  });
}

/** The condition about `windows-rollout`, which a user may have created; each invalid setting is an event on it. */
function checkRollout(map: ConfigMap | undefined, namespace: string, events: EventDeduper): NewCondition {
  const { problems } = parseRollout(map?.data, { namespace });
  const objects = map === undefined ? [] : [referenceTo(configMaps, map)];
  events.report(rolloutSettings, objects, problems.map(eventText.rolloutSettingInvalid));
  return rolloutCondition(problems);
}

/** The condition about `windows-kubelet-config`, of a user as well; each profile that is ignored is an event on it. */
function checkKubelet(
  map: ConfigMap | undefined,
  labels: readonly WindowsInstance['spec']['labels'][],
  events: EventDeduper,
): NewCondition {
  const label = map === undefined ? '' : objectLabel('ConfigMap', readObject(map).meta);
  const problems = kubeletProblems(readKubeletProfiles(map?.data, label), labels);
  const objects = map === undefined ? [] : [referenceTo(configMaps, map)];
  events.report(kubeletSettings, objects, problems.map(eventText.kubeletSettingInvalid));
  return kubeletCondition(problems);
}

function problemsOf(problem: AppError | undefined): AppError[] {
  return problem === undefined ? [] : [problem];
}

function nextPass(isWaiting: boolean): Outcome {
  return isWaiting ? after(graceMs, 'a problem may go away') : after(recheckMs, 'version of the API server');
}

async function findProblems(parts: ClusterChecksParts, { signal }: Pass): Promise<AppError[]> {
  const version = new Fields(await parts.client.raw('GET', '/version', { signal }), '/version');
  return clusterProblems({ ...parts, serverVersion: version.string('gitVersion') ?? '' });
}

function report(
  map: ConfigMap,
  problems: readonly AppError[],
  { events, wasUnsuitable, recorder }: ClusterChecksParts & { events: EventDeduper; wasUnsuitable: boolean },
  { log }: Pass,
): void {
  const object = referenceTo(configMaps, map);
  if (events.report(clusterSuitable, [object], problems.map(eventText.clusterUnsuitable)))
    for (const error of problems) log.warn('Cluster does not support Windows nodes', { error });
  if (!wasUnsuitable || problems.length > 0) return;
  log.info('Cluster supports Windows nodes again');
  recorder.record(object, eventText.clusterSuitable());
}

function isUnsuitable(map: ConfigMap | undefined): boolean {
  return suitability(map) === 'False';
}

function isSuitable(map: ConfigMap | undefined): boolean {
  return suitability(map) === 'True';
}

function suitability(map: ConfigMap | undefined): Condition['status'] | undefined {
  const conditions: readonly Condition[] = readConditions(map?.data);
  return findCondition(conditions, clusterSuitable)?.status;
}
