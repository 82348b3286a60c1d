import type { AppError } from '#base/errors.ts';
import { type InstanceObject, windowsInstances } from '#cluster/windows-instance-resource.ts';
import { type EventText, eventText } from '#contract/events.ts';
import { configMapName } from '#contract/names.ts';
import { instanceCondition, windowsInstanceGroup } from '#contract/windows-instance/resource.ts';
import type { Resolver } from '#host/resolver.ts';
import { findCondition } from '#kube/conditions.ts';
import { Controller } from '#kube/controller/controller.ts';
import { changed } from '#kube/controller/predicate.ts';
import { after, done, type Outcome, type Pass } from '#kube/controller/reconcile.ts';
import { watching } from '#kube/controller/watches.ts';
import type { StoreView } from '#kube/informer/store.ts';
import { keyOf } from '#kube/resource.ts';
import { type ConfigMap, configMaps } from '#kube/resources.ts';
import type { ControllerParts } from '../parts.ts';
import { type Permission, reading } from '../permissions.ts';
import { type ConditionNews, patchCondition } from '../sources/conditions.ts';
import { sourceOf, subjectOf } from '../sources/source.ts';
import { decideAcceptance, hostsOf } from './decide.ts';
import { addressesOf, entryProblem, keyProblem } from './observe.ts';

export interface AcceptanceParts extends ControllerParts {
  resolver: Resolver;
}

export const permissions: readonly Permission[] = [
  { in: 'own namespace', group: windowsInstanceGroup, resources: ['windowsinstances'], verbs: reading },
  { in: 'own namespace', group: windowsInstanceGroup, resources: ['windowsinstances/status'], verbs: ['patch'] },
  { in: 'own namespace', group: '', resources: ['configmaps'], verbs: reading },
  { in: 'own namespace', group: '', resources: ['secrets'], verbs: ['get'] },
  { in: 'own namespace', group: '', resources: ['events'], verbs: ['create', 'patch'] },
];

const byHost = 'host';
/** For what nobody tells of: a Secret that was made, a name that resolves to something else. */
const lookAgainMs = 30_000;

/** Says of each WindowsInstance, whoever has made it, whether anything may be done to its host. */
export function acceptanceController(parts: AcceptanceParts): Controller {
  const { informers, namespace } = parts;
  const instances = informers.get(windowsInstances, { namespace });
  const maps = informers.get(configMaps, { namespace, fieldSelector: `metadata.name=${configMapName.instances}` });
  instances.addIndex(byHost, indexByHost);
  const stores = { instances: instances.store, maps: maps.store };
  const rivalsOf = (instance: InstanceObject) =>
    hostsOf(instance).flatMap(host => stores.instances.byIndex(byHost, host));
  return new Controller({
    ...parts,
    name: 'acceptance',
    concurrency: 20,
    passTimeoutMs: 60_000,
    watches: [
      watching({
        source: instances,
        predicate: changed(relevantOf),
        keys: instance => [instance, ...rivalsOf(instance)].map(keyOf),
      }),
      watching({
        source: maps,
        keys: () => stores.instances.list().filter(isEntry).map(keyOf),
      }),
    ],
    reconcile: async (key, pass) => {
      const instance = stores.instances.get(key);
      if (instance === undefined || instance.metadata.deletionTimestamp !== undefined) return done;
      return reconcile(instance, stores, parts, pass);
    },
  });
}

interface Stores {
  instances: StoreView<InstanceObject>;
  maps: StoreView<ConfigMap>;
}

async function reconcile(
  instance: InstanceObject,
  stores: Stores,
  parts: AcceptanceParts,
  pass: Pass,
): Promise<Outcome> {
  const { client, namespace, resolver } = parts;
  const map = stores.maps.get({ namespace, name: configMapName.instances });
  const problem = decideAcceptance({
    instance,
    entryProblem: entryProblem(instance, map),
    keyProblem: await keyProblem(instance, client, pass.signal),
    ipv4s: await addressesOf(instance, resolver),
    all: stores.instances.list(),
  });
  await tell(instance, problem, parts, pass);
  return problem === undefined ? done : after(lookAgainMs, problem.message);
}

/** The condition is the memory: an event goes only with a change of it. */
async function tell(
  instance: InstanceObject,
  problem: AppError | undefined,
  parts: AcceptanceParts,
  pass: Pass,
): Promise<void> {
  const known = findCondition(instance.status?.conditions, instanceCondition.accepted);
  // Most instances are fine, and nobody needs to be told.
  if (problem === undefined && known?.status !== 'False') return;
  const news = newsOf(problem);
  if (known?.status === news.status && known.reason === news.reason && known.message === news.message) return;
  pass.log.info('Telling whether the host may be set up', { accepted: news.status, reason: news.reason });
  await patchCondition(instance, news, { ...parts, ...pass }, problem === undefined ? 'Pending' : 'Failed');
  if (problem !== undefined) parts.recorder.record(subjectOf(instance), eventOf(instance, problem));
}

function newsOf(problem: AppError | undefined): ConditionNews {
  const type = instanceCondition.accepted;
  if (problem === undefined) return { type, status: 'True', reason: 'Accepted', message: 'The host may be set up.' };
  return { type, status: 'False', reason: problem.code, message: `${problem.message}. ${problem.remedy}` };
}

function eventOf(instance: InstanceObject, { code, message, remedy }: AppError): EventText {
  const words = `${code}: ${message}. ${remedy}`;
  const source = sourceOf(instance);
  return source?.kind === 'Machine'
    ? eventText.machineConfigurationFailure(source.name, words)
    : eventText.instanceSetupFailure(words);
}

function isEntry(instance: InstanceObject): boolean {
  return sourceOf(instance)?.kind === 'ConfigMap';
}

function indexByHost(instance: InstanceObject): string[] {
  return hostsOf(instance);
}

/** Not the steps of the lifecycle. */
function relevantOf({ metadata, spec, status }: InstanceObject): unknown {
  const accepted = findCondition(status?.conditions, instanceCondition.accepted);
  return [spec, metadata.deletionTimestamp, status?.ipv4, accepted?.status, accepted?.reason];
}
