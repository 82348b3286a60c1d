import type { Clock } from '#base/clock.ts';
import { sameData } from '#base/compare.ts';
import type { Log } from '#base/log.ts';
import { nodeLabel } from '#contract/names.ts';
import { type Condition, findCondition, type NewCondition, setCondition } from '#base/condition.ts';
import { leases, type Node, nodes, type Taint } from '#kube/resources.ts';
import { createController } from '../../apiserver/controllers/worker.ts';
import { textAt } from '../../apiserver/object.ts';
import type { Controller, LocalApi, StoredObject } from '../../apiserver/ports.ts';

type StoredNode = StoredObject & Node;

const graceMs = 40_000;
const checkIntervalMs = 5000;

/** The node lifecycle controller: sets taints, and marks Nodes with an expired lease as Unknown. */
export function createNodeMonitor(clock: Clock, log?: Log): Controller {
  /** When a lease was last seen to change; the clock of the host may be wrong. */
  const renewals = new Map<string, { renewTime: string; atMs: number }>();

  function silenceMs(name: string, api: LocalApi): number {
    const renewTime = textAt(api.get(leases, { namespace: 'kube-node-lease', name }), 'spec.renewTime');
    const nowMs = clock.monotonicMs();
    const last = renewals.get(name);
    if (last?.renewTime === renewTime) return nowMs - last.atMs;
    renewals.set(name, { renewTime, atMs: nowMs });
    return 0;
  }

  return createController(
    {
      name: 'node-monitor',
      resource: nodes,
      reconcile: (key, api) => {
        const node: StoredNode | undefined = api.get(nodes, key);
        if (node === undefined) renewals.delete(key.name);
        if (node === undefined) return undefined;
        // Other Nodes have no kubelet here.
        const isSimulated = node.metadata.labels?.[nodeLabel.os] === 'windows';
        if (isSimulated && silenceMs(key.name, api) > graceMs) markUnknown(node, clock.now(), api);
        else setTaints(node, api);
        return isSimulated ? checkIntervalMs : undefined;
      },
    },
    log,
  );
}

function markUnknown(node: StoredNode, nowMs: number, api: LocalApi): void {
  const before = node.status?.conditions ?? [];
  if (findCondition(before, 'Ready')?.status === 'Unknown') return setTaints(node, api);
  const unknown: Omit<NewCondition, 'type'> = {
    status: 'Unknown',
    reason: 'NodeStatusUnknown',
    message: 'Kubelet stopped posting node status.',
  };
  const conditions = before.reduce<readonly Condition[]>(
    (all, { type }) => setCondition(all, { type, ...unknown }, nowMs),
    before,
  );
  api.replace(nodes, { ...node, status: { ...node.status, conditions } } as StoredNode, { subresource: 'status' });
}

const prefix = 'node.kubernetes.io/';
const byReadiness: Readonly<Record<string, string | undefined>> = { False: 'not-ready', Unknown: 'unreachable' };
const managed = ['not-ready', 'unreachable', 'unschedulable'].map(name => `${prefix}${name}`);

/** Sets taints that follow from the state of a Node; keeps others. */
function setTaints(node: StoredNode, api: LocalApi): void {
  const before = node.spec?.taints ?? [];
  const ready = findCondition(node.status?.conditions, 'Ready')?.status ?? 'False';
  const wanted = [byReadiness[ready], node.spec?.unschedulable ? 'unschedulable' : undefined].filter(
    name => name !== undefined,
  );
  const taints: Taint[] = [
    ...before.filter(({ key }) => !managed.includes(key)),
    ...wanted.map(name => ({ key: `${prefix}${name}`, effect: 'NoSchedule' })),
  ];
  const plain = (list: readonly Taint[]) => list.map(({ key, effect }) => `${key}:${effect}`).toSorted();
  if (!sameData(plain(before), plain(taints)))
    api.replace(nodes, { ...node, spec: { ...node.spec, taints } } as StoredNode);
}
