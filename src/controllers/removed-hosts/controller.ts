import { ownMember } from '#base/fields.ts';
import { EventDeduper } from '#cluster/event-deduper.ts';
import type { Installation } from '#cluster/installation.ts';
import { getFresh } from '#cluster/patch-instance.ts';
import { byNode, indexByNode, type WindowsInstance, windowsInstances } from '#cluster/windows-instance-resource.ts';
import { agentCommands } from '#contract/agent-command.ts';
import { eventText } from '#contract/events.ts';
import { configMapName, instanceAnnotation, nodeLabel } from '#contract/names.ts';
import { file } from '#contract/paths.ts';
import { parseRemovedHosts, type RemovedHost, surplusHosts } from '#contract/removed-hosts.ts';
import { windowsInstanceGroup } from '#contract/windows-instance/resource.ts';
import { isConflict, isNotFound, unless } from '#kube/api-error.ts';
import { Controller } from '#kube/controller/controller.ts';
import type { ControllerParts } from '#kube/controller/parts.ts';
import { changed, matching } from '#kube/controller/predicate.ts';
import { after, done, type Outcome, type Pass } from '#kube/controller/reconcile.ts';
import { watching } from '#kube/controller/watches.ts';
import { referenceTo } from '#kube/events/events.ts';
import { changeObject } from '#kube/patch/patch-helper.ts';
import { nodeEventsNamespace, type Permission, reading } from '#kube/permissions.ts';
import type { Key } from '#kube/resource.ts';
import { type ConfigMap, configMaps, type Node, nodes } from '#kube/resources.ts';
import { decide, isIsolated, isListed, isolate, release, type RemovedHostFacts } from './decide.ts';

export const permissions: readonly Permission[] = [
  { in: 'own namespace', group: '', resources: ['configmaps'], verbs: ['get', ...reading, 'patch'] },
  { in: 'own namespace', group: windowsInstanceGroup, resources: ['windowsinstances'], verbs: ['get', ...reading] },
  { in: 'cluster', group: '', resources: ['nodes'], verbs: [...reading, 'patch'] },
  { in: { namespace: nodeEventsNamespace }, group: '', resources: ['events'], verbs: ['create', 'patch'] },
];

export interface RemovedHostsParts extends ControllerParts {
  installation: Pick<Installation, 'problem'>;
}

/** Kubelets write to their Nodes often, so conflicts are frequent. */
const attempts = 10;
const uninstallMs = 60_000;

/**
 * Keeps pods off the Nodes of hosts that were removed by force and have registered again with their old certificate. The key is the
 * name of the Node, or the ConfigMap with the notes.
 */
export function removedHostsController(parts: RemovedHostsParts): Controller {
  const { informers, namespace } = parts;
  const maps = informers.get(configMaps, { namespace });
  const instances = informers.get(windowsInstances, { namespace });
  const nodeSource = informers.get(nodes);
  instances.addIndex(byNode, indexByNode);
  const mapKey: Key = { namespace, name: configMapName.removedHosts };
  const nodeKeys = (names: readonly string[]): Key[] => names.map(name => ({ namespace: '', name }));
  const reader = (name: string, map: ConfigMap | undefined): RemovedHostFacts => ({
    node: nodeSource.store.get({ namespace: '', name }),
    note: noteOf(name, map),
    instances: instances.store.byIndex(byNode, name),
  });
  const hosts = new RemovedHosts(parts, name => reader(name, maps.store.get(mapKey)));
  return new Controller({
    ...parts,
    name: 'removed-hosts',
    watches: [
      watching({
        source: maps,
        predicate: matching<ConfigMap>(({ metadata }) => metadata.name === mapKey.name),
        keys: map => [mapKey, ...nodeKeys(Object.keys(map.data ?? {}))],
      }),
      watching({
        source: nodeSource,
        predicate: changed<Node>(({ metadata, spec }) => [
          metadata.uid,
          metadata.labels?.[nodeLabel.os],
          spec?.taints,
          spec?.unschedulable,
        ]),
      }),
      watching({
        source: instances,
        predicate: changed<WindowsInstance>(each => [
          each.status?.host?.name,
          each.metadata.deletionTimestamp,
          each.metadata.annotations?.[instanceAnnotation.removal],
          isListed(each, each.status?.host?.name ?? ''),
        ]),
        keys: instance => nodeKeys(indexByNode(instance)),
      }),
    ],
    reconcile: (key, pass) =>
      key.namespace === '' ? hosts.reconcile(key.name, pass) : hosts.limitNotes(maps.store.get(mapKey), pass),
  });
}

class RemovedHosts {
  readonly #parts: RemovedHostsParts;
  readonly #observe: (name: string) => RemovedHostFacts;
  readonly #events: EventDeduper;

  constructor(parts: RemovedHostsParts, observe: (name: string) => RemovedHostFacts) {
    this.#parts = parts;
    this.#observe = observe;
    this.#events = new EventDeduper(parts);
  }

  async reconcile(name: string, pass: Pass): Promise<Outcome> {
    const facts = this.#observe(name);
    const decision = decide(name, facts);
    if (decision.do === 'none') return done;
    if (decision.do === 'end note') return this.#endNote(name, decision.instance, pass);
    const problem = await this.#parts.installation.problem(pass.signal);
    if (problem !== undefined) return after(uninstallMs, problem);
    // The cache may be older than the note, or than its end.
    const map = await this.#readMap(pass.signal);
    const fresh = decide(name, { ...facts, note: noteOf(name, map) });
    if (fresh.do === 'isolate') await this.#isolate(fresh.node, fresh.note, pass);
    if (fresh.do === 'release') await this.#release(fresh.node, facts.instances.length > 0, pass);
    return done;
  }

  /** Reports malformed notes, and drops the oldest ones beyond the limit. */
  async limitNotes(map: ConfigMap | undefined, { log, signal }: Pass): Promise<Outcome> {
    const results = parseRemovedHosts(map?.data);
    for (const each of results) if (!each.ok) log.warn('Ignoring note about a removed host', { error: each.error });
    const surplus = surplusHosts(results.flatMap(each => (each.ok ? [each.value] : [])));
    if (surplus.length === 0) return done;
    log.warn('Dropping the oldest notes about removed hosts', { Nodes: surplus });
    await this.#removeNotes(surplus, map, signal);
    return done;
  }

  async #endNote(name: string, instance: WindowsInstance, { log, signal }: Pass): Promise<Outcome> {
    const { client } = this.#parts;
    // The note comes first, so that a removal that has begun meanwhile is in the instance.
    const map = await this.#readMap(signal);
    const fresh = await getFresh(instance, client, { signal });
    if (map === undefined || fresh === undefined || !isListed(fresh, name)) return done;
    log.info('Removed host is listed again', { Node: name, WindowsInstance: instance.metadata.name });
    await this.#removeNotes([name], map, signal);
    return done;
  }

  async #isolate(node: Node, note: RemovedHost, { log, signal }: Pass): Promise<void> {
    const { namespace } = this.#parts;
    if (!isIsolated(node)) await this.#change(node, isolate, signal);
    const command = agentCommands(file.agent).cleanup(namespace);
    const text = eventText.nodeRemovedByForce(note, command);
    if (this.#events.report(note.node, [referenceTo(nodes, node)], [text]))
      log.warn('Node of a host that was removed by force has registered', { Node: note.node, removed: note.removed });
  }

  async #release(node: Node, hasInstance: boolean, { log, signal }: Pass): Promise<void> {
    const { name = '' } = node.metadata;
    log.info('Removing the taint of removed hosts', { Node: name });
    await this.#change(node, current => release(current, hasInstance), signal);
    this.#events.report(name, [], []);
  }

  async #change({ metadata: { name = '', uid } }: Node, edit: (node: Node) => Node, signal: AbortSignal) {
    const change = (node: Node) => (node.metadata.uid === uid ? edit(node) : node);
    const task = { key: { namespace: '', name }, change };
    await changeObject(this.#parts.client, nodes, task, { signal, attempts }).catch(unless(isNotFound));
  }

  #readMap(signal: AbortSignal): Promise<ConfigMap | undefined> {
    const { client, namespace } = this.#parts;
    return client.find(configMaps, configMapName.removedHosts, { namespace, signal });
  }

  /** Only from this version of the ConfigMap: a note that was written meanwhile stays, and its watch triggers the next pass. */
  async #removeNotes(names: readonly string[], map: ConfigMap | undefined, signal: AbortSignal): Promise<void> {
    const { client, namespace } = this.#parts;
    const data = Object.fromEntries(names.map(name => [name, null]));
    const body = { metadata: { resourceVersion: map?.metadata.resourceVersion }, data };
    await client
      .patch(configMaps, configMapName.removedHosts, { type: 'merge', body }, { namespace, signal })
      .catch(unless(isNotFound, isConflict));
  }
}

function noteOf(name: string, map: ConfigMap | undefined): RemovedHost | undefined {
  const value = ownMember(map?.data ?? {}, name);
  const [result] = value === undefined ? [] : parseRemovedHosts({ [name]: value });
  return result?.ok ? result.value : undefined;
}
