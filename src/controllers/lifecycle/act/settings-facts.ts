import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { watchingSignal } from '#kube/controller/signal-watch.ts';
import { type Watch, watching } from '#kube/controller/watches.ts';
import type { Informer } from '#kube/informer/informer.ts';
import { keyOf } from '#kube/resource.ts';
import type { HostInputSource } from '#node/lifecycle/deps.ts';
import { rekeyDelayMs } from '#node/lifecycle/rekey/due.ts';
import type { HostHashes, LifecycleFacts } from '../decide.ts';
import { appliedServices, endedHolds } from '../observe.ts';
import { restartGate } from './restart-gate.ts';
import type { Work } from './work.ts';

/** What the host has of the settings of the cluster, what it should have, and why it has to wait. */
export function settingsFacts(
  instance: WindowsInstance,
  work: Pick<Work, 'deps' | 'instances' | 'firstRestart' | 'marks'>,
): Pick<LifecycleFacts, 'desired' | 'given' | 'gates'> {
  const { services } = instance.status?.settings ?? {};
  const given = { ...givenSettings(instance), ...givenKey(instance, work) };
  const key = keyFacts(instance, work);
  const settings = work.deps.inputs.desiredSettings?.(instance);
  if (settings === undefined) return { given, ...key };
  const { liveHash: fileHash, services: servicesHash, hasProxy } = settings;
  const restart = services?.applied === servicesHash ? undefined : restartGate(instance, servicesHash, work);
  const gates = { ...key.gates, ...(restart !== undefined && { restart }) };
  return { given, desired: { fileHash, servicesHash, hasProxy, ...key.desired }, gates };
}

function givenSettings({ status }: WindowsInstance): HostHashes {
  const { files, services, proxy } = status?.settings ?? {};
  return {
    ...(files?.applied !== undefined && { fileHash: files.applied }),
    ...(services?.applied !== undefined && { servicesHash: services.applied }),
    ...(proxy !== undefined && { hasProxy: proxy }),
  };
}

function givenKey({ status }: WindowsInstance, { deps }: Pick<Work, 'deps'>): HostHashes {
  const { hash = '', former = [] } = status?.key ?? {};
  const hasFormerKeys = former.length > 0 && deps.inputs.authorizesKeys === true;
  return { ...(hash !== '' && { keyHash: hash }), ...(hasFormerKeys && { hasFormerKeys }) };
}

/** A host that has rejected the current key is asked again later; other journeys need not wait for that. */
function keyFacts(
  instance: WindowsInstance,
  { deps, marks }: Pick<Work, 'deps' | 'marks'>,
): Pick<LifecycleFacts, 'desired' | 'gates'> {
  const keyHash = deps.inputs.currentKeyHash?.(instance);
  if (keyHash === undefined) return {};
  const isLater = rekeyDelayMs(instance, keyHash, deps.clock.now()) !== undefined;
  const { hash, pending } = instance.status?.key ?? {};
  const { hasFormerKeys } = givenKey(instance, { deps });
  const hasKey = hash === keyHash && pending === undefined && hasFormerKeys !== true;
  const wasMarked = hasKey && marks.delayMs(instance.metadata.uid ?? '', deps.clock.monotonicMs()) !== undefined;
  const why = isLater ? waitsForKey : wasMarked ? waitsForMark : undefined;
  return { desired: { keyHash }, ...(why !== undefined && { gates: { rekey: why } }) };
}

const waitsForMark = 'its Node was given the hash of the SSH key less than five minutes ago';
const waitsForKey = 'the host rejected the current SSH key and is asked again';

/** Others get all settings when they join: a change does not end their backoff. */
function hasAgent({ status }: WindowsInstance): boolean {
  return status?.agent !== undefined;
}

/**
 * Every host compares what it has with what it should have. Those that wait do so also when the first host has the settings, or one
 * that failed works again.
 */
export function watchingSettings(inputs: HostInputSource, instances: Informer<WindowsInstance>): Watch[] {
  const lacksServices = (instance: WindowsInstance) => {
    const known = instance.status?.settings?.services;
    const desired = inputs.desiredSettings?.(instance)?.services;
    return known !== undefined && desired !== undefined && known.applied !== desired;
  };
  const unsettled = () => instances.store.list().filter(lacksServices).map(keyOf);
  const ofFirst = ({ status }: WindowsInstance) => {
    const { applied } = status?.settings?.services ?? {};
    const same = instances.store.list().filter(other => other.status?.settings?.services?.applied === applied);
    return applied !== undefined && same.length <= 1 ? unsettled() : [];
  };
  return [
    watchingSignal(
      listener => inputs.onSettingsChange?.(listener) ?? (() => undefined),
      () => instances.store.list().filter(hasAgent).map(keyOf),
    ),
    watching({ source: instances, predicate: endedHolds, keys: unsettled }),
    watching({ source: instances, predicate: appliedServices, keys: ofFirst }),
  ];
}
