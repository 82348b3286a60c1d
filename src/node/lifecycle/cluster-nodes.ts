import { findCondition } from '#base/condition.ts';
import {
  type AgentReport,
  failureIn,
  isReportOf,
  parseReport,
  type ReportEvent,
  reportName,
} from '#contract/agent-report.ts';
import { nodeAnnotation, nodeLabel } from '#contract/names.ts';
import { type Marks, marksPatch } from '#contract/node-marks.ts';
import type { InstanceTaint } from '#contract/windows-instance/resource.ts';
import { isNotFound, unless } from '#kube/api-error.ts';
import type { Client } from '#kube/client.ts';
import type { Drainer } from '#kube/drain/drain.ts';
import type { Informer } from '#kube/informer/informer.ts';
import { changeObject } from '#kube/patch/patch-helper.ts';
import { type ConfigMap, configMaps, type Node, nodes, pods, type Taint } from '#kube/resources.ts';
import { NodeReader } from '../node-reader.ts';
import type { BootReport, ClusterNodes, EventLimits } from './deps.ts';
import { drainNode } from './drain-node.ts';

export interface NodesOptions {
  client: Pick<Client, 'get' | 'list' | 'patch'>;
  nodes: Pick<Informer<Node>, 'store' | 'addIndex' | 'follow'>;
  /** ConfigMaps of the operator's namespace, with the reports of agents. */
  configMaps: Pick<Informer<ConfigMap>, 'store' | 'follow'>;
  namespace: string;
  drainer: Pick<Drainer, 'drain'>;
}

/** Kubelets write to their Nodes often, so conflicts are frequent. */
const attempts = 10;

/** Reads Nodes from informer caches and writes them to the server. */
export function createClusterNodes({
  client,
  nodes: source,
  configMaps: maps,
  namespace,
  drainer,
}: NodesOptions): ClusterNodes {
  const change = (name: string, edit: (node: Node) => Node, signal: AbortSignal) =>
    changeObject(
      client,
      nodes,
      { key: { namespace: '', name }, change: edit },
      { signal, attempts, answer: 'metadata' },
    );
  const reader = new NodeReader(source);
  const textOf = (node: Node): string => JSON.stringify(reader.read(node) ?? null);
  const reportOf = (node: string) => maps.store.get({ namespace, name: reportName(node) })?.data;
  return {
    withAddress: addresses => reader.withAddress(addresses),
    get: name => reader.get(name),
    follow: (name, listener) => {
      // Heartbeats of kubelets are frequent and change nothing here.
      const updated = (old: Node, now: Node) => (textOf(old) === textOf(now) ? undefined : listener());
      const ends = [
        source.follow({ namespace: '', name }, { added: listener, updated, deleted: listener }),
        maps.follow({ namespace, name: reportName(name) }, { added: listener, updated: listener, deleted: listener }),
      ];
      return () => ends.forEach(end => end());
    },
    lastEvent: (node, limits) => eventIn(reportOf(node.name), node.uid, limits, events => events.at(-1)),
    agentFailure: (node, limits) => eventIn(reportOf(node.name), node.uid, limits, failureIn),
    bootReport: ({ name, uid }, bootId) => bootReportIn(parseReport(reportOf(name)), uid, bootId),
    appliedServices: ({ name, uid }) => {
      const report = parseReport(reportOf(name));
      return isReportOf(report, { nodeUid: uid }) ? report.services : '';
    },
    runsPodOf: async (node, { namespace: where, name }, signal) => {
      const fieldSelector = `spec.nodeName=${node}`;
      const { items } = await client.list(pods, { namespace: where, fieldSelector, signal });
      return items.some(({ metadata, status }) => {
        const isOwn = metadata.ownerReferences?.some(owner => owner.kind === 'DaemonSet' && owner.name === name);
        return isOwn === true && findCondition(status?.conditions, 'Ready')?.status === 'True';
      });
    },
    clearReport: async (node, what, signal) => {
      const body = { data: what === 'version' ? { version: '' } : { rebootRequired: 'false', variablesBootID: null } };
      // The report first: otherwise the operator would mirror its value to the Node again.
      await client
        .patch(configMaps, reportName(node), { type: 'merge', body }, { namespace, signal, answer: 'metadata' })
        .catch(unless(isNotFound));
      const annotations = { [nodeAnnotation[what]]: null };
      const unmark = { type: 'merge', body: marksPatch({ annotations }) } as const;
      await client.patch(nodes, node, unmark, { signal, answer: 'metadata' }).catch(unless(isNotFound));
    },
    cordonAndLabel: async (name, marks, taints, signal) =>
      void (await change(name, node => withTaints(withMarks(cordon(node), marks), taints), signal)),
    annotate: async (name, annotations, signal) =>
      void (await client.patch(
        nodes,
        name,
        { type: 'merge', body: marksPatch({ annotations }) },
        { signal, answer: 'metadata' },
      )),
    release: async (name, signal) => void (await change(name, uncordon, signal)),
    drain: (name, options) => {
      const cordonNode = () => change(name, cordon, options.signal).catch(unless(isNotFound));
      return drainNode(name, { drainer, nodes: source, cordon: cordonNode }, options);
    },
  };
}

function cordon(node: Node): Node {
  if (node.spec?.unschedulable === true) return node;
  const marked = withMarks(node, { annotations: { [nodeAnnotation.cordoned]: '' } });
  return { ...marked, spec: { ...marked.spec, unschedulable: true } };
}

function uncordon(node: Node): Node {
  const isCordonedByOperator = Object.hasOwn(node.metadata.annotations ?? {}, nodeAnnotation.cordoned);
  const marks = { annotations: { [nodeAnnotation.cordoned]: null }, labels: { [nodeLabel.upgrading]: null } };
  const unmarked = withMarks(node, marks);
  if (!isCordonedByOperator) return unmarked;
  const { unschedulable: _unschedulable, ...spec } = unmarked.spec ?? {};
  return { ...unmarked, spec };
}

function withMarks(node: Node, marks: Marks): Node {
  const labels = mergeMarks(node.metadata.labels, marks.labels);
  const annotations = mergeMarks(node.metadata.annotations, marks.annotations);
  return { ...node, metadata: { ...node.metadata, ...(labels && { labels }), ...(annotations && { annotations }) } };
}

/** Undefined when the map was missing and stays empty. */
function mergeMarks(
  now: Readonly<Record<string, string>> | undefined,
  change: Readonly<Record<string, string | null>> = {},
): Record<string, string> | undefined {
  const entries = Object.entries({ ...now, ...change }).filter((entry): entry is [string, string] => entry[1] !== null);
  return now === undefined && entries.length === 0 ? undefined : Object.fromEntries(entries);
}

/** One taint per key and effect, as the API server requires; other taints stay. */
function withTaints(node: Node, taints: readonly InstanceTaint[]): Node {
  const isSame = (one: Taint, other: Taint) => one.key === other.key && one.effect === other.effect;
  const isOld = (taint: Taint) =>
    taints.some(wanted => isSame(taint, wanted) && (taint.value ?? '') !== (wanted.value ?? ''));
  const kept = (node.spec?.taints ?? []).filter(taint => !isOld(taint));
  const added = taints.filter(wanted => !kept.some(taint => isSame(taint, wanted)));
  return added.length === 0 ? node : { ...node, spec: { ...node.spec, taints: [...kept, ...added] } };
}

/** Undefined when it is older, or about another Node or boot. */
function eventIn(
  data: ConfigMap['data'],
  nodeUid: string,
  { sinceMs = -Infinity, bootId = '' }: EventLimits = {},
  pick: (events: AgentReport['events']) => ReportEvent | undefined,
): string | undefined {
  const report = parseReport(data);
  const event = isReportOf(report, { bootId, nodeUid }) ? pick(report.events) : undefined;
  return event === undefined || Date.parse(event.time) < sinceMs ? undefined : `${event.reason}: ${event.message}`;
}

function bootReportIn(report: AgentReport, nodeUid: string, bootId: string): BootReport {
  if (report.bootId !== bootId || !isReportOf(report, { nodeUid })) return 'nothing';
  if (report.rebootRequired) return 'requires reboot';
  // Agents of earlier versions do not report the boot of their confirmation.
  return report.confirmedBoot === '' || report.confirmedBoot === bootId ? 'confirmed' : 'nothing';
}
