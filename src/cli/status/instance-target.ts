import { AppError, shown } from '#base/errors.ts';
import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { selectHost } from './select-hosts.ts';
import { hostViews } from './view/cluster-hosts.ts';
import type { ClusterView, HostView } from './view/host-view.ts';

export interface InstanceTarget {
  host: HostView;
  instance: WindowsInstance;
}

/** The host with this name, which the operator must have taken over and must not be removing. */
export function findInstance(view: ClusterView, name: string): InstanceTarget {
  const host = selectHost(hostViews(view), name, view);
  const { instance } = host;
  if (instance === undefined) {
    throw requestRefused(`host ${shown(host.name)} has no WindowsInstance`, `Run \`wmco status ${host.name}\`.`);
  }
  if (host.removal !== undefined) {
    throw requestRefused(`host ${shown(host.name)} is being removed`, `Run \`wmco status ${host.name}\`.`);
  }
  return { host, instance };
}

/** The command makes no sense now. */
export function requestRefused(message: string, remedy: string): AppError {
  return new AppError('REQUEST_REFUSED', message, { remedy });
}
