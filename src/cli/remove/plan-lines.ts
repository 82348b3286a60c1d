import { hasTouchedHost } from '#cluster/instance-removal.ts';
import { configMapName, instanceAnnotation } from '#contract/names.ts';
import { countText } from '../status/view/amounts.ts';
import { isDuplicate } from '../status/view/host-view.ts';
import type { PodCounts } from './pods.ts';
import { instanceNameOf, nodeNameOf, type Target } from './target.ts';

/** Of containerd, which the operator leaves. */
const imagesFolder = 'C:\\ProgramData\\containerd';

export interface PlanFacts {
  namespace: string;
  isForced: boolean;
  /** Undefined when they cannot be read. */
  pods: PodCounts | undefined;
  maxUnavailable: string;
}

/** What will happen, before the user confirms it. */
export function planLines(target: Target, facts: PlanFacts): string[] {
  const { host } = target;
  const node = nodeNameOf(target);
  const title = `Host ${host.name}${node === undefined ? ', which has no Node' : `, Node ${node}`}: ${requestText(target)}`;
  if (target.is === 'entry' && target.instance === undefined) return [title, entryOnlyText(target)];
  return [
    title,
    'The operator',
    ...(node === undefined ? [] : nodeLines(node, facts)),
    hostLine(target, facts),
    `  - deletes ${[...(node === undefined ? [] : [`Node ${node}`]), `WindowsInstance ${instanceNameOf(target)}`].join(' and ')}`,
    ...(facts.isForced && node !== undefined
      ? [`  - keeps a note in ConfigMap ${configMapName.removedHosts} while the host may register its Node again`]
      : []),
    `On the host stay the Containers feature of Windows, container images in ${imagesFolder} and your SSH server.`,
    `To cancel it, ${cancelText(target, facts.namespace)}.`,
  ];
}

function hostLine(target: Target, { isForced }: PlanFacts): string {
  const { host } = target;
  if (isDuplicate(host)) return '  - leaves the host as it is, because another instance is the same host';
  if (isForced) return '  - skips the host: services, networks, variables, certificates and files stay on it';
  if (host.instance !== undefined && !hasTouchedHost(host.instance))
    return '  - leaves the host as it is, because nothing was installed on it';
  return '  - deletes its services, networks, variables, certificates and files from the host, and reboots it if needed';
}

/** How to keep the host after all. */
export function cancelText(target: Target, namespace: string): string {
  if (target.is === 'entry') return `add the entry ${target.key} to ConfigMap ${configMapName.instances} again`;
  const name = instanceNameOf(target);
  return `run \`kubectl annotate windowsinstance ${name} -n ${namespace} ${instanceAnnotation.removal}-\``;
}

function requestText(target: Target): string {
  if (target.is === 'node') return `a WindowsInstance is created that requests the removal`;
  if (target.is === 'instance') return `its WindowsInstance is deleted`;
  const map = `ConfigMap ${configMapName.instances}`;
  return target.value === undefined
    ? `its entry is deleted from ${map} already`
    : `entry ${target.key} is deleted from ${map}`;
}

function entryOnlyText({ host }: Target): string {
  return isDuplicate(host)
    ? 'Another entry is the same host, so the host stays.'
    : 'The operator has not configured it, so the host is not touched.';
}

function nodeLines(node: string, { pods, isForced, maxUnavailable }: PlanFacts): string[] {
  const evicted = pods === undefined ? 'its pods, which you cannot list' : countText(pods.leaving, 'pod');
  const blocked = isForced ? 'pods that cannot be evicted are left' : 'PodDisruptionBudgets are respected';
  return [
    `  - waits while ${maxUnavailable} or more other Windows Nodes are out of service`,
    `  - cordons and drains Node ${node}: evicts ${evicted}; ${blocked}`,
  ];
}
