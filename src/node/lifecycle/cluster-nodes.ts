import { attempt } from '#base/errors.ts';
import { isReportName, parseReport, reportName } from '#contract/agent-report.ts';
import { nodeAnnotation, nodeLabel } from '#contract/names.ts';
import { type NodeView, readNode } from '#contract/node.ts';
import { type Marks, marksPatch } from '#contract/node-marks.ts';
import { readObject } from '#contract/object.ts';
import type { InstanceTaint } from '#contract/windows-instance/resource.ts';
import { isNotFound, unless } from '#kube/api-error.ts';
import type { Client } from '#kube/client.ts';
import { type Drainer, drainError } from '#kube/drain/drain.ts';
import type { Informer } from '#kube/informer/informer.ts';
import { changeObject } from '#kube/patch/patch-helper.ts';
import { type ConfigMap, configMaps, type Node, nodes, type Taint } from '#kube/resources.ts';
import type { ClusterNodes } from './deps.ts';

export interface NodesOptions {
  client: Pick<Client, 'get' | 'patch'>;
  nodes: Pick<Informer<Node>, 'store' | 'addHandler'>;
  /** ConfigMaps of the operator's namespace: reports of agents are among them. */
  configMaps: Pick<Informer<ConfigMap>, 'store' | 'addHandler'>;
  namespace: string;
  drainer: Pick<Drainer, 'drain'>;
}

/** Kubelets write to their Nodes all the time, so the one that sees a conflict is often we. */
const attempts = 10;

/** The Nodes by what informers have of them; changes go straight to the server. */
export function createClusterNodes({
  client,
  nodes: source,
  configMaps: maps,
  namespace,
  drainer,
}: NodesOptions): ClusterNodes {
  const change = (name: string, edit: (node: Node) => Node, signal: AbortSignal) =>
    changeObject(client, nodes, { key: { namespace: '', name }, change: edit }, { signal, attempts });
  // Objects of a store never change, and many ask for the same ones.
  const views = new WeakMap<Node, NodeView[]>();
  const viewed = (node: Node): NodeView[] => {
    const view = views.get(node) ?? viewOf(node);
    views.set(node, view);
    return view;
  };
  const prints = new WeakMap<Node, string>();
  const printed = (node: Node): string => {
    const print = prints.get(node) ?? JSON.stringify(viewed(node));
    prints.set(node, print);
    return print;
  };
  const reportOf = (node: string) => maps.store.get({ namespace, name: reportName(node) })?.data;
  return {
    list: () => source.store.list().flatMap(viewed),
    get: name => {
      const node = source.store.get({ namespace: '', name });
      return node === undefined ? undefined : viewed(node)[0];
    },
    onChange: listener => {
      let isOld = true;
      const tell = () => (isOld ? undefined : listener());
      const handler = { added: tell, updated: tell, deleted: tell };
      // Kubelets tell all the time that they live, and many wait for something else.
      const updated = (old: Node, now: Node) => (printed(old) === printed(now) ? undefined : tell());
      const tellReport = ({ metadata }: ConfigMap) => (isReportName(metadata.name ?? '') ? tell() : undefined);
      const reports = {
        added: tellReport,
        updated: (_old: ConfigMap, now: ConfigMap) => tellReport(now),
        deleted: tellReport,
      };
      const ends = [source.addHandler({ ...handler, updated }), maps.addHandler(reports)];
      isOld = false;
      return () => ends.forEach(end => end());
    },
    remarkOf: node => {
      const last = parseReport(reportOf(node)).events.at(-1);
      return last && `${last.reason}: ${last.message}`;
    },
    clearReport: async (node, what, signal) => {
      const body = { data: { [what]: what === 'version' ? '' : 'false' } };
      // The report first: as long as it says so, the mirror would write the annotation again.
      await client
        .patch(configMaps, reportName(node), { type: 'merge', body }, { namespace, signal })
        .catch(unless(isNotFound));
      const annotations = { [nodeAnnotation[what]]: null };
      const unmark = { type: 'merge', body: marksPatch({ annotations }) } as const;
      await client.patch(nodes, node, unmark, { signal }).catch(unless(isNotFound));
    },
    cordonAndLabel: async (name, marks, taints, signal) =>
      void (await change(name, node => withTaints(withMarks(cordoned(node), marks), taints), signal)),
    annotate: async (name, annotations, signal) =>
      void (await client.patch(nodes, name, { type: 'merge', body: marksPatch({ annotations }) }, { signal })),
    release: async (name, signal) => void (await change(name, released, signal)),
    drain: async (name, signal) => {
      const result = await drainer.drain(name, { signal });
      if (result.blocked.length > 0) throw drainError(name, result);
    },
  };
}

/** One Node that cannot be read is as if it were not there, and nobody else suffers. */
function viewOf(node: Node): NodeView[] {
  const read = attempt(() => readNode(readObject(node)));
  return read.ok ? [read.value] : [];
}

function cordoned(node: Node): Node {
  if (node.spec?.unschedulable === true) return node;
  const marked = withMarks(node, { annotations: { [nodeAnnotation.cordoned]: '' } });
  return { ...marked, spec: { ...marked.spec, unschedulable: true } };
}

function released(node: Node): Node {
  const isOurs = Object.hasOwn(node.metadata.annotations ?? {}, nodeAnnotation.cordoned);
  const marks = { annotations: { [nodeAnnotation.cordoned]: null }, labels: { [nodeLabel.upgrading]: null } };
  const unmarked = withMarks(node, marks);
  if (!isOurs) return unmarked;
  const { unschedulable: _ours, ...spec } = unmarked.spec ?? {};
  return { ...unmarked, spec };
}

function withMarks(node: Node, marks: Marks): Node {
  const labels = merged(node.metadata.labels, marks.labels);
  const annotations = merged(node.metadata.annotations, marks.annotations);
  return { ...node, metadata: { ...node.metadata, ...(labels && { labels }), ...(annotations && { annotations }) } };
}

/** Undefined where there was nothing and is nothing. */
function merged(
  now: Readonly<Record<string, string>> | undefined,
  change: Readonly<Record<string, string | null>> = {},
): Record<string, string> | undefined {
  const entries = Object.entries({ ...now, ...change }).filter((entry): entry is [string, string] => entry[1] !== null);
  return now === undefined && entries.length === 0 ? undefined : Object.fromEntries(entries);
}

/** One taint per key and effect, as the API server has it; those of others stay. */
function withTaints(node: Node, taints: readonly InstanceTaint[]): Node {
  const isSame = (one: Taint, other: Taint) => one.key === other.key && one.effect === other.effect;
  const isOld = (taint: Taint) =>
    taints.some(wanted => isSame(taint, wanted) && (taint.value ?? '') !== (wanted.value ?? ''));
  const kept = (node.spec?.taints ?? []).filter(taint => !isOld(taint));
  const added = taints.filter(wanted => !kept.some(taint => isSame(taint, wanted)));
  return added.length === 0 ? node : { ...node, spec: { ...node.spec, taints: [...kept, ...added] } };
}
