import { timestamp } from '#base/clock.ts';
import { normalHostName } from '#base/dns-name.ts';
import type { AppError } from '#base/errors.ts';
import { type WindowsInstance, windowsInstances } from '#cluster/windows-instance-resource.ts';
import { eventText } from '#contract/events.ts';
import { configMapName, instanceAnnotation } from '#contract/names.ts';
import type { Resolver } from '#host/resolver.ts';
import { Controller } from '#kube/controller/controller.ts';
import { allOf, changed, matching } from '#kube/controller/predicate.ts';
import { after, done, type Outcome, type Pass } from '#kube/controller/reconcile.ts';
import { watching } from '#kube/controller/watches.ts';
import { referenceTo } from '#kube/events/events.ts';
import type { Informer } from '#kube/informer/informer.ts';
import { type ConfigMap, configMaps } from '#kube/resources.ts';
import { isNotFound, unless } from '#kube/api-error.ts';
import { changeObject } from '#kube/patch/patch-helper.ts';
import { keyOf } from '#kube/resource.ts';
import type { ControllerParts } from '#kube/controller/parts.ts';
import { type Permission, reading } from '#kube/permissions.ts';
import { deleteInstance, instancesPermission, syncInstance } from '#cluster/instance-sync/apply-plan.ts';
import { type Installation, installationPermissions } from '#cluster/installation.ts';
import { isForced, isRemovalRequested, withoutRemoval } from '#cluster/instance-removal.ts';
import { EventDeduper } from '#cluster/event-deduper.ts';
import { changedHosts, InstanceEntries, listedHosts } from '#cluster/instance-entries.ts';
import { bySource, indexBySource, sourceOf, type SourceRef, sourceText } from '#cluster/instance-source.ts';
import { decideOrphan, type ListedEntries, noEntries, type OrphanDecision } from './decide.ts';
import { type EntryData, getFreshEntries, recordedHost, resolveEntries, unidentifiedInstance } from './observe.ts';

export interface InstancesParts extends ControllerParts {
  resolver: Pick<Resolver, 'addresses'>;
  installation: Pick<Installation, 'problem'>;
}

export const permissions: readonly Permission[] = [
  { in: 'own namespace', group: '', resources: ['configmaps'], verbs: ['get', ...reading] },
  { in: 'own namespace', group: '', resources: ['events'], verbs: ['create', 'patch'] },
  instancesPermission,
  ...installationPermissions,
];

/** Keeps a WindowsInstance for each entry of windows-instances. Each entry is a key, so that none waits for another. */
export function instancesController(parts: InstancesParts): Controller {
  const { namespace } = parts;
  const source = new EntrySource(parts);
  const keyOfHost = (name: string) => ({ namespace, name });
  return new Controller({
    ...parts,
    name: 'instances',
    concurrency: 10,
    passTimeoutMs: 60_000,
    watches: [
      watching({
        source: source.configMaps,
        keys: map => listedHosts(map).map(keyOfHost),
        changedKeys: (old, map) => changedHosts(old, map).map(keyOfHost),
      }),
      watching({
        source: source.instances,
        predicate: allOf<WindowsInstance>(
          matching(instance => entryOf(instance) !== undefined),
          changed(({ metadata, spec }) => [spec, metadata.deletionTimestamp, isRemovalRequested({ metadata, spec })]),
        ),
        keys: instance => [keyOfHost(entryOf(instance) ?? '')],
      }),
    ],
    reconcile: ({ name }, pass) => source.reconcile(name, pass),
  });
}

/** For a WindowsInstance that is kept although its entry is gone, and for one that is being removed. */
const recheckMs = 60_000;
/** For one that may be the host of a new instance, which is soon identified. */
const identifyRecheckMs = 5000;
const resolvedMs = 5000;

class EntrySource {
  readonly configMaps: Informer<ConfigMap>;
  readonly instances: Informer<WindowsInstance>;
  readonly #parts: InstancesParts;
  readonly #events: EventDeduper;
  readonly #entries = new InstanceEntries();
  #resolved: { resourceVersion: string; untilMs: number; entries: Promise<ListedEntries> } | undefined;

  constructor(parts: InstancesParts) {
    const { informers, namespace } = parts;
    const fieldSelector = `metadata.name=${configMapName.instances}`;
    this.#parts = parts;
    this.configMaps = informers.get(configMaps, { namespace, fieldSelector });
    this.instances = informers.get(windowsInstances, { namespace });
    this.instances.addIndex(bySource, indexBySource);
    this.#events = new EventDeduper(parts);
  }

  async reconcile(host: string, pass: Pass): Promise<Outcome> {
    const map = this.configMaps.store.get({ namespace: this.#parts.namespace, name: configMapName.instances });
    const ref: SourceRef = { kind: 'ConfigMap', name: host };
    const own = this.instances.store.byIndex(bySource, sourceText(ref));
    const entries = this.#entries.of(host, map);
    const usable = entries.find(entry => entry.ok);
    // An existing instance has a condition and an event of its own.
    const reported = entries.flatMap(entry =>
      entry.ok || (own.length > 0 && usable === undefined) ? [] : [entry.error],
    );
    if (map !== undefined) this.#events.report(host, [referenceTo(configMaps, map)], reported.map(failureEvent));
    if (usable !== undefined) {
      const { address, username } = usable;
      const sourceUid = map?.metadata.uid ?? '';
      // spec.address does not allow the dot at the end of a fully qualified name.
      const wanted = { source: { ...ref, name: address }, sourceUid, address: address.replace(/\.$/, ''), username };
      const { namespace, client } = this.#parts;
      return syncInstance(wanted, { own, namespace, instances: this.instances.store }, { ...pass, client });
    }
    if (own.length === 0) return done;
    // An invalid entry does not remove the host.
    return entries.length > 0 ? this.#cancelRemovals(own, pass) : this.#removeOrphans(host, own, pass);
  }

  async #cancelRemovals(own: readonly WindowsInstance[], pass: Pass): Promise<Outcome> {
    for (const instance of own.filter(isRemovalRequested)) {
      pass.log.info('Canceling removal: the host is listed again', { WindowsInstance: instance.metadata.name });
      await this.#annotate(instance, withoutRemoval, pass);
    }
    return done;
  }

  async #removeOrphans(host: string, own: readonly WindowsInstance[], pass: Pass): Promise<Outcome> {
    const { client, namespace, installation, clock } = this.#parts;
    const { data, resourceVersion } = await getFreshEntries(client, namespace, pass.signal);
    if (Object.keys(data).some(address => normalHostName(address) === host))
      return after(1000, 'its entry is not in the cache yet');
    const problem = await installation.problem(pass.signal);
    if (problem !== undefined) {
      pass.log.warn('Keeping WindowsInstances: the operator is being uninstalled', { why: problem });
      return after(recheckMs, problem);
    }
    const hosts = own.map(instance => ({ instance, host: recordedHost(instance) }));
    const hasJoined = hosts.some(({ host: { node } }) => node !== undefined);
    const listed = hasJoined ? await this.#resolve(data, resourceVersion) : noEntries;
    let outcome: Outcome = done;
    for (const { instance, host: recorded } of hosts) {
      // Whoever forces a removal has decided that no new instance is this host.
      const unidentified = isForced(instance)
        ? undefined
        : unidentifiedInstance(instance, this.instances.store.list(), data, clock.now());
      const orphan = decideOrphan(recorded, listed, unidentified);
      if (orphan.do === 'delete') await this.#delete(instance, orphan.why, pass);
      else outcome = await this.#keepOrRemove(instance, orphan, unidentified === undefined, pass);
    }
    return outcome;
  }

  /** Without the request, because the deletion of an instance with one does not end its removal. */
  async #delete(instance: WindowsInstance, why: string, pass: Pass): Promise<void> {
    if (isRemovalRequested(instance)) await this.#annotate(instance, withoutRemoval, pass);
    await deleteInstance(instance, why, { ...pass, client: this.#parts.client });
  }

  /** Another entry may still turn out to be the same host, so that the decision is made again. */
  async #keepOrRemove(
    instance: WindowsInstance,
    { do: what, why }: OrphanDecision,
    areOthersIdentified: boolean,
    pass: Pass,
  ): Promise<Outcome> {
    if (what === 'keep') pass.log.warn('Keeping WindowsInstance without an entry', { why });
    else if (!isRemovalRequested(instance)) {
      pass.log.info('Requesting removal of the host', { WindowsInstance: instance.metadata.name, why });
      const requested = { [instanceAnnotation.removal]: timestamp(this.#parts.clock.now()) };
      await this.#annotate(instance, annotations => ({ ...annotations, ...requested }), pass);
    }
    return after(areOthersIdentified ? recheckMs : identifyRecheckMs, why);
  }

  /** An instance that was created again under its name stays as it is. */
  async #annotate(
    { metadata }: WindowsInstance,
    edit: (annotations: Record<string, string>) => Record<string, string>,
    { signal }: Pass,
  ): Promise<void> {
    const change = (current: WindowsInstance): WindowsInstance => {
      const { uid, annotations = {} } = current.metadata;
      if (uid !== metadata.uid) return current;
      return { ...current, metadata: { ...current.metadata, annotations: edit(annotations) } };
    };
    await changeObject(this.#parts.client, windowsInstances, { key: keyOf({ metadata }), change }, { signal }).catch(
      unless(isNotFound),
    );
  }

  /** When many entries are removed at once, the names of all others are not resolved for each of them. */
  #resolve(data: EntryData, resourceVersion: string): Promise<ListedEntries> {
    const { clock, resolver } = this.#parts;
    const nowMs = clock.monotonicMs();
    if (this.#resolved?.resourceVersion !== resourceVersion || nowMs >= this.#resolved.untilMs) {
      const entries = resolveEntries(data, this.instances.store, resolver);
      this.#resolved = { resourceVersion, untilMs: nowMs + resolvedMs, entries };
    }
    return this.#resolved.entries;
  }
}

/** The entry that an instance belongs to. */
function entryOf(instance: WindowsInstance): string | undefined {
  const source = sourceOf(instance);
  return source?.kind === 'ConfigMap' ? normalHostName(source.name) : undefined;
}

function failureEvent({ code, message, remedy }: AppError) {
  return eventText.instanceSetupFailure(`${code}: ${message}. ${remedy}`);
}
