import { configMapName, nodeAnnotation } from '#contract/names.ts';
import type { NodeView } from '#contract/node.ts';
import { windowsInstanceGroup } from '#contract/windows-instance/resource.ts';
import { type HostView, isGood } from './host-view.ts';
import { rebootsOf } from './reboots.ts';

/** A host for -o json. */
export function hostData(host: HostView): Record<string, unknown> {
  const {
    name,
    address,
    source,
    phase,
    step,
    activity,
    note,
    progress,
    upgrade,
    pinnedVersion,
    removal,
    problem,
    attempts,
    hostKey,
    timeline,
    conditions,
  } = host;
  return {
    name,
    address,
    source,
    phase,
    isGood: isGood(host),
    step,
    activity,
    note,
    progress,
    version: host.instance?.status?.version,
    upgrade,
    pinnedVersion,
    reboots: rebootsOf(host),
    removal,
    journey: host.instance?.status?.journey,
    problem,
    attempts,
    nextAttempt: timeText(host.nextAttemptMs),
    started: timeText(host.startedMs),
    ended: timeText(host.endedMs),
    node: host.node === undefined ? host.nodeName && { name: host.nodeName } : nodeData(host.node),
    hostKey,
    timeline,
    conditions,
  };
}

function nodeData({ name, ready, unschedulable, annotations }: NodeView): Record<string, unknown> {
  return {
    name,
    ready,
    unschedulable,
    version: annotations[nodeAnnotation.version],
    desiredVersion: annotations[nodeAnnotation.desiredVersion],
  };
}

function timeText(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : new Date(ms).toISOString();
}

/** The object that describes the host, as `kubectl get -o name` prints it. */
export function objectName({ instance, source }: HostView): string {
  if (instance !== undefined) return `windowsinstance.${windowsInstanceGroup}/${instance.metadata.name}`;
  if (source.kind === 'Machine') return `machine.machine.openshift.io/${source.name}`;
  return source.kind === 'Node' ? `node/${source.name}` : `configmap/${configMapName.instances}`;
}
