import { boundNode, byNode, indexByNode, type InstanceObject, windowsInstances } from '#cluster/windows-instances.ts';
import { isReportName, parseReport, reportName, type ReportRemark } from '#contract/agent-report.ts';
import { agentName } from '#contract/names.ts';
import { marksPatch } from '#contract/node-marks.ts';
import { windowsInstanceGroup } from '#contract/windows-instance/resource.ts';
import { isAlreadyExists, isConflict, isNotFound } from '#kube/api-error.ts';
import { Controller } from '#kube/controller/controller.ts';
import { changed, matching } from '#kube/controller/predicate.ts';
import { after, done, type Outcome, type Pass } from '#kube/controller/reconcile.ts';
import { watching } from '#kube/controller/watches.ts';
import { referenceTo } from '#kube/events/events.ts';
import type { StoreView } from '#kube/informer/store.ts';
import type { Key } from '#kube/resource.ts';
import { type ConfigMap, configMaps, type Node, nodes } from '#kube/resources.ts';
import type { ControllerParts } from '../parts.ts';
import { nodeEventsNamespace, type Permission, reading } from '../permissions.ts';
import { cleaned, mirrorMarks, newRemarks, newReport } from './decide.ts';

export const permissions: readonly Permission[] = [
  {
    in: 'own namespace',
    group: '',
    resources: ['configmaps'],
    verbs: [...reading, 'create', 'update', 'delete'],
  },
  { in: 'own namespace', group: windowsInstanceGroup, resources: ['windowsinstances'], verbs: reading },
  { in: 'cluster', group: '', resources: ['nodes'], verbs: [...reading, 'patch'] },
  { in: { namespace: nodeEventsNamespace }, group: '', resources: ['events'], verbs: ['create', 'patch'] },
];

interface Stores {
  reports: StoreView<ConfigMap>;
  instances: StoreView<InstanceObject>;
  nodes: StoreView<Node>;
}

/**
 * Makes the report of each agent, and mirrors what it says to its own Node: the agent itself may write no Node and no event. The key
 * is the name of the Node.
 */
export function agentReportsController(parts: ControllerParts): Controller {
  const { informers, namespace } = parts;
  const reports = informers.get(configMaps, { namespace });
  const instances = informers.get(windowsInstances, { namespace });
  const nodeSource = informers.get(nodes);
  instances.addIndex(byNode, indexByNode);
  const stores: Stores = { reports: reports.store, instances: instances.store, nodes: nodeSource.store };
  const mirror = new Mirror(parts, stores);
  const keys = (name: string | undefined): Key[] => (name === undefined ? [] : [{ namespace: '', name }]);
  // Names of long reports are hashes: whose it is can be told from the record only.
  const keysOfReport = ({ metadata }: ConfigMap) =>
    instances.store.list().flatMap(instance => {
      const name = boundNode(instance);
      return name !== undefined && reportName(name) === metadata.name ? keys(name) : [];
    });
  const keyOfReport = (report: ConfigMap): Key[] => {
    const short = shortName(report.metadata.name ?? '');
    if (short !== undefined) return keys(short);
    return keysOfReport(report);
  };
  return new Controller({
    ...parts,
    name: 'agent-reports',
    concurrency: 10,
    watches: [
      watching({ source: reports, predicate: matching(isReport), keys: keyOfReport }),
      watching({
        source: instances,
        predicate: changed<InstanceObject>(each => [
          boundNode(each),
          each.status?.node,
          each.metadata.deletionTimestamp,
        ]),
        keys: instance => keys(boundNode(instance)),
      }),
      watching({
        source: nodeSource,
        predicate: changed<Node>(({ metadata }) => metadata.uid),
        keys: ({ metadata }) => keys(metadata.name),
      }),
    ],
    reconcile: ({ name }, pass) => mirror.reconcile(name, pass),
  });
}

function isReport({ metadata }: ConfigMap): boolean {
  return isReportName(metadata.name ?? '');
}

/** The Node in the name of a report; undefined where the name is a hash. */
function shortName(name: string): string | undefined {
  const start = reportName('');
  return name.startsWith(start) ? name.slice(start.length) : undefined;
}

const lagMs = 1000;

class Mirror {
  readonly #parts: ControllerParts;
  readonly #stores: Stores;
  /** The report that was mirrored last, by Node: an event is recorded once. */
  readonly #mirrored = new Map<string, ConfigMap>();

  constructor(parts: ControllerParts, stores: Stores) {
    this.#parts = parts;
    this.#stores = stores;
  }

  async reconcile(name: string, { signal, log }: Pass): Promise<Outcome> {
    const { namespace, client } = this.#parts;
    const report = this.#stores.reports.get({ namespace, name: reportName(name) });
    const [bound] = this.#stores.instances.byIndex(byNode, name);
    if (bound?.status?.node !== name) return this.#remove(name, bound, report, signal);
    if (report === undefined) {
      await client.create(configMaps, newReport(name, namespace), { signal }).catch(unless(isAlreadyExists));
      return done;
    }
    const clean = cleaned(report);
    if (clean !== undefined) {
      log.warn('Removing metadata that the agent has put on its report', { ConfigMap: report.metadata.name });
      await client.replace(configMaps, clean, { signal }).catch(unless(isConflict, isNotFound));
      return after(lagMs, 'the report was cleaned');
    }
    await this.#mirror(name, report, signal);
    return done;
  }

  async #mirror(name: string, report: ConfigMap, signal: AbortSignal): Promise<void> {
    const node = this.#stores.nodes.get({ namespace: '', name });
    if (node === undefined) return;
    const told = parseReport(report.data);
    const annotations = mirrorMarks(told, node.metadata.annotations ?? {});
    if (Object.keys(annotations).length > 0) {
      const body = marksPatch({ annotations });
      await this.#parts.client.patch(nodes, name, { type: 'merge', body }, { signal }).catch(unless(isNotFound));
    }
    for (const remark of newRemarks(this.#before(name, report), told)) this.#record(node, remark);
    this.#mirrored.set(name, report);
  }

  /** After a restart what is there has been recorded already. */
  #before(name: string, report: ConfigMap): ConfigMap | undefined {
    return this.#mirrored.get(name) ?? report;
  }

  #record(node: Node, { type, reason, message }: ReportRemark): void {
    this.#parts.recorder.record(referenceTo(nodes, node), { type, reason, message: `${agentName}: ${message}` });
  }

  async #remove(
    name: string,
    bound: InstanceObject | undefined,
    report: ConfigMap | undefined,
    signal: AbortSignal,
  ): Promise<Outcome> {
    // A host that is about to join has its name recorded before its Node exists.
    if (bound !== undefined || report === undefined) return done;
    this.#mirrored.delete(name);
    const { uid, namespace } = report.metadata;
    const options = { signal, ...(namespace && { namespace }), ...(uid !== undefined && { preconditions: { uid } }) };
    await this.#parts.client
      .delete(configMaps, report.metadata.name ?? '', options)
      .catch(unless(isNotFound, isConflict));
    return done;
  }
}

function unless(...isFine: ((error: unknown) => boolean)[]): (error: unknown) => undefined {
  return error => {
    if (!isFine.some(each => each(error))) throw error;
  };
}
