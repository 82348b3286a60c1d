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
import { applyPlan, deleteInstance, instancesPermission } from '#cluster/instance-sync/apply-plan.ts';
import { planInstance, type WantedInstance } from '#cluster/instance-sync/plan.ts';
import { EventDeduper } from '#cluster/event-deduper.ts';
import { bySource, indexBySource, sourceOf, type SourceRef, sourceText } from '#cluster/instance-source.ts';
import { decideOrphan, noEntries } from './decide.ts';
import { type EntryData, entriesOf, lookUp, readEntriesNow, recordedHost } from './observe.ts';

export interface InstancesParts extends ControllerParts {
  resolver: Pick<Resolver, 'addresses'>;
}

export const permissions: readonly Permission[] = [
  { in: 'own namespace', group: '', resources: ['configmaps'], verbs: reading },
  { in: 'own namespace', group: '', resources: ['events'], verbs: ['create', 'patch'] },
  instancesPermission,
];

/** Makes each entry of windows-instances one WindowsInstance. Each entry is a key of its own, so that none waits for another. */
export function instancesController(parts: InstancesParts): Controller {
  const { namespace } = parts;
  const source = new EntrySource(parts);
  return new Controller({
    ...parts,
    name: 'instances',
    concurrency: 10,
    passTimeoutMs: 60_000,
    watches: [
      watching({ source: source.configMaps, keys: map => hostsOf(map).map(name => ({ namespace, name })) }),
      watching({
        source: source.instances,
        predicate: allOf<WindowsInstance>(
          matching(instance => entryOf(instance) !== undefined),
          changed(({ metadata, spec }) => [spec, metadata.deletionTimestamp]),
        ),
        keys: instance => [{ namespace, name: entryOf(instance) ?? '' }],
      }),
    ],
    reconcile: ({ name }, pass) => source.reconcile(name, pass),
  });
}

/** How long a WindowsInstance without an entry is kept before it is looked at again. */
const doubtMs = 60_000;

class EntrySource {
  readonly configMaps: Informer<ConfigMap>;
  readonly instances: Informer<WindowsInstance>;
  readonly #parts: InstancesParts;
  readonly #events: EventDeduper;

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
    const entries = entriesOf(host, map?.data ?? {});
    const usable = entries.find(entry => entry.ok);
    // Where there is an instance its condition tells, and the event that goes with it.
    const told = entries.flatMap(entry => (entry.ok || (own.length > 0 && usable === undefined) ? [] : [entry.error]));
    if (map !== undefined) this.#events.report(host, referenceTo(configMaps, map), told.map(failure));
    if (usable !== undefined) {
      const { address, username } = usable;
      const sourceUid = map?.metadata.uid ?? '';
      // With a dot at its end a name is a name, but no address of an instance.
      const wanted = { source: { ...ref, name: address }, sourceUid, address: address.replace(/\.$/, ''), username };
      return this.#ensure(wanted, own, pass);
    }
    // An entry that is there but broken is nobody's wish to be rid of the host.
    return entries.length > 0 || own.length === 0 ? done : this.#letGo(host, own, pass);
  }

  #ensure(wanted: WantedInstance, own: readonly WindowsInstance[], pass: Pass): Promise<Outcome> {
    const { namespace, client } = this.#parts;
    const named = (name: string) => this.instances.store.get({ namespace, name });
    return applyPlan(planInstance(wanted, { namespace, own, named }), { ...pass, client });
  }

  async #letGo(host: string, own: readonly WindowsInstance[], pass: Pass): Promise<Outcome> {
    const { client, namespace, resolver } = this.#parts;
    const data: EntryData = await readEntriesNow(client, namespace, pass.signal);
    if (entriesOf(host, data).length > 0) return after(1000, 'the watch has yet to tell of its entry');
    const hosts = own.map(instance => ({ instance, host: recordedHost(instance) }));
    const hasJoined = hosts.some(({ host: { node } }) => node !== undefined);
    const listed = hasJoined ? await lookUp(data, this.instances.store, resolver) : noEntries;
    for (const { instance, host: recorded } of hosts) {
      const orphan = decideOrphan(recorded, listed);
      if (orphan.do === 'keep') {
        pass.log.warn('Keeping WindowsInstance without an entry', { why: orphan.why });
        return after(doubtMs, orphan.why);
      }
      await deleteInstance(instance, orphan.why, { ...pass, client });
    }
    return done;
  }
}

function hostsOf({ data = {} }: ConfigMap): string[] {
  return [...new Set(Object.keys(data).map(normalHostName))];
}

/** The host of the entry for which an instance was made. */
function entryOf(instance: WindowsInstance): string | undefined {
  const source = sourceOf(instance);
  return source?.kind === 'ConfigMap' ? normalHostName(source.name) : undefined;
}

function failure({ code, message, remedy }: AppError) {
  return eventText.instanceSetupFailure(`${code}: ${message}. ${remedy}`);
}
