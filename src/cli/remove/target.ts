import { normalHostName } from '#base/dns-name.ts';
import { AppError, shown } from '#base/errors.ts';
import { ownMember } from '#base/fields.ts';
import { boundNode, type WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { configMapName, namespaceName } from '#contract/names.ts';
import type { NodeView } from '#contract/node.ts';
import { printPublicKey } from '#host/keys/public-key.ts';
import { findPinnedKey } from '#node/host-keys/host-key-annotation.ts';
import { selectHost } from '../status/select-hosts.ts';
import { type ClusterView, type HostView, isDuplicate } from '../status/view/host-view.ts';

/** What is removed, and which object requests it. */
export type Target =
  | {
      is: 'entry';
      host: HostView;
      /** Key of windows-instances. */
      key: string;
      /** As it was shown to the user; undefined when the entry is deleted already. */
      value: string | undefined;
      /** Missing for an entry that is invalid or new. */
      instance: WindowsInstance | undefined;
    }
  /** A WindowsInstance that an administrator created. */
  | { is: 'instance'; host: HostView; instance: WindowsInstance }
  /** A Node of an operator that nothing else describes. */
  | { is: 'node'; host: HostView; node: NodeView; address: string; hostKey: string | undefined };

/** The host with this name. Fails if it is not exactly one, or cannot be removed by an administrator. */
export function findTarget(hosts: readonly HostView[], name: string, view: ClusterView): Target {
  const host = selectHost(hosts, name, view);
  const { source, instance, node } = host;
  if (source.kind === 'Machine') throw ofMachine(source.name);
  if (source.kind === 'ConfigMap') return entryTarget(host, view);
  if (instance !== undefined) return { is: 'instance', host, instance };
  if (node === undefined)
    throw refusal(`host ${shown(name)} has neither a WindowsInstance nor a Node`, 'Run `wmco status`.');
  return nodeTarget(host, node, view);
}

/** Name of the Node that must not exist after the removal. */
export function nodeNameOf({ host }: Target): string | undefined {
  return host.nodeName ?? (host.instance === undefined ? undefined : boundNode(host.instance));
}

/** Name of the instance that must not exist after the removal. */
export function instanceNameOf(target: Target): string | undefined {
  return target.is === 'node' ? target.node.name : target.instance?.metadata.name;
}

function entryTarget(host: HostView, { entries, unread }: ClusterView): Target {
  const map = `ConfigMap ${configMapName.instances}`;
  if (unread.includes('entries')) {
    throw refusal(`${map} cannot be read`, 'Request permission to read and change it, and run the command again.');
  }
  const { name } = host.source;
  const same = Object.keys(entries).filter(key => normalHostName(key) === normalHostName(name));
  const key = same.find(each => each === name) ?? same[0] ?? name;
  const [other] = same.filter(each => each !== key);
  if (other !== undefined && !isDuplicate(host)) {
    throw refusal(
      `${map} lists the host twice: ${shown(key)} and ${shown(other)}`,
      `Delete the entry ${shown(other)} first; otherwise the host stays.`,
    );
  }
  return { is: 'entry', host, key, value: ownMember(entries, key), instance: host.instance };
}

const orphanProblems: readonly string[] = ['NodeUnmanaged', 'NodeRemovedByForce'];

function nodeTarget(host: HostView, node: NodeView, view: ClusterView): Target {
  const { name } = node;
  const [unread] = (['entries', 'machines'] as const).filter(list => view.unread.includes(list));
  if (unread !== undefined) {
    const what = unread === 'entries' ? `ConfigMap ${configMapName.instances}` : 'Machines';
    throw refusal(
      `${what} cannot be read, and may describe the host of Node ${name}`,
      'Request permission to read it, and run the command again.',
    );
  }
  if (!orphanProblems.includes(host.problem?.code ?? '')) {
    throw refusal(`Node ${name} is not removed: ${host.note}`, `Run \`wmco status ${name}\`.`);
  }
  const { address } = host;
  if (address === '') throw refusal(`Node ${name} reports no address`, `Run \`kubectl delete node ${name}\`.`);
  const key = findPinnedKey({ node, address, entries: view.hostKeys });
  return { is: 'node', host, node, address, hostKey: key && printPublicKey(key) };
}

function ofMachine(name: string): AppError {
  return refusal(
    `host ${shown(name)} belongs to Machine ${name}`,
    `Run \`kubectl delete machine ${name} -n ${namespaceName.machineApi}\`; the Machine API drains and deletes it.`,
  );
}

export function refusal(message: string, remedy: string): AppError {
  return new AppError('REMOVAL_REFUSED', message, { remedy });
}
