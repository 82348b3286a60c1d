import { normalHostName } from '#base/dns-name.ts';
import type { AppError } from '#base/errors.ts';
import { type WindowsInstance, windowsInstances } from '#cluster/windows-instance-resource.ts';
import { eventText } from '#contract/events.ts';
import { configMapName } from '#contract/names.ts';
import type { Resolver } from '#host/resolver.ts';
import { Controller } from '#kube/controller/controller.ts';
import { allOf, changed, matching } from '#kube/controller/predicate.ts';
import { after, done, type Outcome, type Pass } from '#kube/controller/reconcile.ts';
import { watching } from '#kube/controller/watches.ts';
import { referenceTo } from '#kube/events/events.ts';
import type { Informer } from '#kube/informer/informer.ts';
import { type ConfigMap, configMaps } from '#kube/resources.ts';
import type { ControllerParts } from '#kube/controller/parts.ts';
import { type Permission, reading } from '#kube/permissions.ts';
import { deleteInstance, instancesPermission, syncInstance } from '#cluster/instance-sync/apply-plan.ts';
import { EventDeduper } from '#cluster/event-deduper.ts';
import { changedHosts, InstanceEntries, listedHosts } from '#cluster/instance-entries.ts';
import { bySource, indexBySource, sourceOf, type SourceRef, sourceText } from '#cluster/instance-source.ts';
import { decideOrphan, type ListedEntries, noEntries } from './decide.ts';
import { type EntryData, getFreshEntries, recordedHost, resolveEntries } from './observe.ts';

export interface InstancesParts extends ControllerParts {
  resolver: Pick<Resolver, 'addresses'>;
}

export const permissions: readonly Permission[] = [
  { in: 'own namespace', group: '', resources: ['configmaps'], verbs: reading },
  { in: 'own namespace', group: '', resources: ['events'], verbs: ['create', 'patch'] },
  instancesPermission,
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
          changed(({ metadata, spec }) => [spec, metadata.deletionTimestamp]),
        ),
        keys: instance => [keyOfHost(entryOf(instance) ?? '')],
      }),
    ],
    reconcile: ({ name }, pass) => source.reconcile(name, pass),
  });
}

/** For a WindowsInstance that is kept although its entry is gone. */
const recheckMs = 60_000;
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
    // An invalid entry does not delete the instance.
    return entries.length > 0 || own.length === 0 ? done : this.#deleteOrphans(host, own, pass);
  }

  async #deleteOrphans(host: string, own: readonly WindowsInstance[], pass: Pass): Promise<Outcome> {
    const { client, namespace } = this.#parts;
    const { data, resourceVersion } = await getFreshEntries(client, namespace, pass.signal);
    if (Object.keys(data).some(address => normalHostName(address) === host))
      return after(1000, 'its entry is not in the cache yet');
    const hosts = own.map(instance => ({ instance, host: recordedHost(instance) }));
    const hasJoined = hosts.some(({ host: { node } }) => node !== undefined);
    const listed = hasJoined ? await this.#resolve(data, resourceVersion) : noEntries;
    for (const { instance, host: recorded } of hosts) {
      const orphan = decideOrphan(recorded, listed);
      if (orphan.do === 'keep') {
        pass.log.warn('Keeping WindowsInstance without an entry', { why: orphan.why });
        return after(recheckMs, orphan.why);
      }
      await deleteInstance(instance, orphan.why, { ...pass, client });
    }
    return done;
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
