import { shortLine } from '#base/printable.ts';
import type { Installation } from '#cluster/installation.ts';
import { slimConfigMap } from '#cluster/slim.ts';
import {
  boundNode,
  byNode,
  byReport,
  indexByNode,
  indexByReport,
  type WindowsInstance,
  windowsInstances,
} from '#cluster/windows-instance-resource.ts';
import { isReportName, isReportOf, parseReport, reportName, type ReportEvent } from '#contract/agent-report.ts';
import { agentName, configMapName, nodeAnnotation } from '#contract/names.ts';
import { isWindowsNode } from '#contract/node.ts';
import { marksPatch } from '#contract/node-marks.ts';
import { parseRollout, type RolloutSettings } from '#contract/rollout.ts';
import { windowsInstanceGroup, type WindowsInstanceStatus } from '#contract/windows-instance/resource.ts';
import { deleteObject } from '#cluster/delete-object.ts';
import { isAlreadyExists, isConflict, isNotFound, unless } from '#kube/api-error.ts';
import { Controller } from '#kube/controller/controller.ts';
import { changed, matching } from '#kube/controller/predicate.ts';
import { after, done, type Outcome, type Pass } from '#kube/controller/reconcile.ts';
import { watching } from '#kube/controller/watches.ts';
import { referenceTo } from '#kube/events/events.ts';
import type { StoreView } from '#kube/informer/store.ts';
import type { Key } from '#kube/resource.ts';
import { type ConfigMap, configMaps, type Node, nodes } from '#kube/resources.ts';
import type { ControllerParts } from '#kube/controller/parts.ts';
import { nodeEventsNamespace, type Permission, reading } from '#kube/permissions.ts';
import {
  type KnownVersions,
  knownVersions,
  mirrorMarks,
  newEvents,
  newReport,
  type Repair,
  repairOf,
} from './decide.ts';

export const permissions: readonly Permission[] = [
  {
    in: 'own namespace',
    group: '',
    resources: ['configmaps'],
    verbs: ['get', ...reading, 'create', 'update', 'patch', 'delete'],
  },
  { in: 'own namespace', group: windowsInstanceGroup, resources: ['windowsinstances'], verbs: reading },
  { in: 'cluster', group: '', resources: ['nodes'], verbs: ['get', ...reading, 'patch'] },
  { in: { namespace: nodeEventsNamespace }, group: '', resources: ['events'], verbs: ['create', 'patch'] },
];

export interface AgentReportsParts extends ControllerParts {
  installation: Pick<Installation, 'problem'>;
}

interface Stores {
  reports: StoreView<ConfigMap>;
  instances: StoreView<WindowsInstance>;
  nodes: StoreView<Node>;
}

/**
 * Creates the report of each agent and mirrors it to the Node of the agent, which itself cannot write Nodes or events. The key is the
 * name of the Node.
 */
export function agentReportsController(parts: AgentReportsParts): Controller {
  const { informers, namespace } = parts;
  const reports = informers.get(configMaps, { namespace });
  const instances = informers.get(windowsInstances, { namespace });
  const nodeSource = informers.get(nodes);
  instances.addIndex(byNode, indexByNode);
  instances.addIndex(byReport, indexByReport);
  nodeSource.addIndex(byReport, ({ metadata }) => [reportName(metadata.name ?? '')]);
  const stores: Stores = { reports: reports.store, instances: instances.store, nodes: nodeSource.store };
  const mirror = new Mirror(parts, stores);
  const keys = (name: string | undefined): Key[] => (name === undefined ? [] : [{ namespace: '', name }]);
  const keyOfReport = ({ metadata: { name = '' } }: ConfigMap): Key[] => {
    const node = nodeOfReport(name, stores);
    // A hash that matches no record and no Node belongs to a deleted instance.
    return node === undefined ? [{ namespace, name }] : keys(node);
  };
  return new Controller({
    ...parts,
    name: 'agent-reports',
    concurrency: 10,
    watches: [
      watching({ source: reports, predicate: matching(isReport), keys: keyOfReport }),
      watching({
        source: instances,
        predicate: changed<WindowsInstance>(each => [
          boundNode(each),
          each.status?.node,
          each.status?.nodeUID,
          each.status?.agent === undefined,
          each.metadata.deletionTimestamp,
        ]),
        keys: instance => keys(boundNode(instance)),
      }),
      // A setting that is switched on is for variables that have changed before, too.
      watching({
        source: reports,
        predicate: matching(isRollout),
        keys: () => instances.store.list().flatMap(each => keys(boundNode(each))),
      }),
      watching({
        source: nodeSource,
        predicate: changed<Node>(({ metadata: { uid, annotations = {} } }) => [
          uid,
          annotations[nodeAnnotation.version],
          annotations[nodeAnnotation.rebootRequired],
        ]),
        keys: ({ metadata }) => keys(metadata.name),
      }),
    ],
    reconcile: (key, pass) =>
      key.namespace === '' ? mirror.reconcile(key.name, pass) : mirror.removeOrphan(key.name, pass),
  });
}

function isReport({ metadata }: ConfigMap): boolean {
  return isReportName(metadata.name ?? '');
}

function isRollout({ metadata }: ConfigMap): boolean {
  return metadata.name === configMapName.rollout;
}

/** The Node of a report. For long names it is a hash, which only records and Nodes can resolve. */
function nodeOfReport(
  report: string,
  { instances, nodes: cluster }: Pick<Stores, 'instances' | 'nodes'>,
): string | undefined {
  const start = reportName('');
  if (report.startsWith(start)) return report.slice(start.length);
  const [bound] = instances.byIndex(byReport, report);
  return bound === undefined ? cluster.byIndex(byReport, report)[0]?.metadata.name : boundNode(bound);
}

const lagMs = 1000;
/** Heartbeats of the kubelet change the Node, too. */
const attempts = 5;
const uninstallMs = 60_000;

class Mirror {
  readonly #parts: AgentReportsParts;
  readonly #stores: Stores;
  /** Last mirrored report by Node, so that an event is recorded once. */
  readonly #mirrored = new Map<string, ConfigMap>();

  constructor(parts: AgentReportsParts, stores: Stores) {
    this.#parts = parts;
    this.#stores = stores;
  }

  async reconcile(name: string, { signal, log }: Pass): Promise<Outcome> {
    const { namespace } = this.#parts;
    const report = this.#stores.reports.get({ namespace, name: reportName(name) });
    const [bound] = this.#stores.instances.byIndex(byNode, name);
    if (bound === undefined && !this.#isOrphan(name)) return this.#remove(name, report, signal);
    const repair: Repair = report === undefined ? { do: 'none' } : repairOf(report);
    if (report !== undefined && repair.do !== 'none') {
      log.warn('Removing metadata that an agent set on its report', { ConfigMap: report.metadata.name });
      await this.#repair(report, repair, signal);
      return after(lagMs, 'the report was repaired');
    }
    // The name of a joining host is recorded before its Node exists.
    if (bound?.status?.node !== name) return done;
    if (report === undefined) return this.#create(name, signal);
    // An agent of the Go operator writes to its Node and no report.
    if (bound.status.agent !== undefined) await this.#mirror(name, bound.status, report, signal);
    return done;
  }

  #settings(): RolloutSettings {
    const { namespace } = this.#parts;
    return parseRollout(this.#stores.reports.get({ namespace, name: configMapName.rollout })?.data).settings;
  }

  /** Its agent keeps running and reports only changes, so that the report has to exist when the Node is adopted. */
  #isOrphan(name: string): boolean {
    const { labels = {}, annotations = {} } = this.#stores.nodes.get({ namespace: '', name })?.metadata ?? {};
    return isWindowsNode({ labels }) && Object.hasOwn(annotations, nodeAnnotation.version);
  }

  async #create(name: string, signal: AbortSignal): Promise<Outcome> {
    const { namespace, client } = this.#parts;
    const report = newReport(name, namespace);
    await client.create(configMaps, report, { signal }).catch(unless(isAlreadyExists));
    // Events that the agent writes before the cache has the report are new.
    this.#mirrored.set(name, report);
    return done;
  }

  async #repair(report: ConfigMap, repair: Exclude<Repair, { do: 'none' }>, signal: AbortSignal): Promise<void> {
    const { client } = this.#parts;
    if (repair.do === 'recreate') return this.#delete(report, signal);
    await client.replace(configMaps, repair.report, { signal }).catch(unless(isConflict, isNotFound));
  }

  async #mirror(name: string, status: WindowsInstanceStatus, report: ConfigMap, signal: AbortSignal): Promise<void> {
    const { nodeUID } = status;
    const node = this.#stores.nodes.get({ namespace: '', name });
    // The report is about an earlier Node of this name.
    if (node === undefined || (nodeUID !== undefined && nodeUID !== node.metadata.uid)) return;
    const parsed = parseReport(report.data);
    const { annotations = {} } = node.metadata;
    const known = knownVersions(status, this.#parts.version);
    const isSame = Object.keys(mirrorMarks(parsed, annotations, known, this.#settings())).length === 0;
    if (!isSame) await this.#annotate(name, known, signal);
    // The cache may not have the Node yet that the report is about.
    if (!isReportOf(parsed, { nodeUid: node.metadata.uid ?? '' })) return;
    // After a restart all events in the report were recorded already.
    for (const event of newEvents(this.#mirrored.get(name) ?? report, parsed)) this.#record(node, event);
    this.#mirrored.set(name, report);
  }

  /**
   * Reads report and Node past the cache: a journey clears the report before the Node, and a user may have set the version of the Node
   * meanwhile, which the resource version protects.
   */
  async #annotate(name: string, known: KnownVersions, signal: AbortSignal): Promise<void> {
    const { namespace, client } = this.#parts;
    for (let left = attempts; left > 0; left -= 1) {
      const node = await client.find(nodes, name, { signal });
      const report = await client.find(configMaps, reportName(name), { namespace, signal });
      if (node === undefined || report === undefined) return;
      const { annotations: has = {}, resourceVersion, uid } = node.metadata;
      const annotations = mirrorMarks(parseReport(slimConfigMap(report).data), has, known, this.#settings());
      if (Object.keys(annotations).length === 0) return;
      const body = { metadata: { ...marksPatch({ annotations }).metadata, resourceVersion, uid } };
      try {
        await client.patch(nodes, name, { type: 'merge', body }, { signal, answer: 'metadata' });
        return;
      } catch (error) {
        if (!(isConflict(error) && left > 1) && !isNotFound(error)) throw error;
      }
    }
  }

  #record(node: Node, { type, reason, message }: ReportEvent): void {
    this.#parts.recorder.record(referenceTo(nodes, node), {
      type,
      reason,
      message: `${agentName}: ${shortLine(message)}`,
    });
  }

  async #remove(name: string, report: ConfigMap | undefined, signal: AbortSignal): Promise<Outcome> {
    if (report === undefined) return done;
    this.#mirrored.delete(name);
    return this.#deleteOrphan(report, signal);
  }

  async removeOrphan(name: string, { signal }: Pass): Promise<Outcome> {
    const report = this.#stores.reports.get({ namespace: this.#parts.namespace, name });
    if (report === undefined || nodeOfReport(name, this.#stores) !== undefined) return done;
    return this.#deleteOrphan(report, signal);
  }

  /** Nodes keep running when the operator is uninstalled. */
  async #deleteOrphan(report: ConfigMap, signal: AbortSignal): Promise<Outcome> {
    const problem = await this.#parts.installation.problem(signal);
    if (problem !== undefined) return after(uninstallMs, problem);
    await this.#delete(report, signal);
    return done;
  }

  /** Removes finalizers first, which the agent may have set to keep the report. */
  async #delete(report: ConfigMap, signal: AbortSignal): Promise<void> {
    const { name = '', finalizers = [], ownerReferences = [] } = report.metadata;
    const { namespace, client } = this.#parts;
    if (finalizers.length + ownerReferences.length > 0) {
      const body = { metadata: { finalizers: null, ownerReferences: null } };
      await client.patch(configMaps, name, { type: 'merge', body }, { namespace, signal }).catch(unless(isNotFound));
    }
    await deleteObject(client, configMaps, report, signal);
  }
}
