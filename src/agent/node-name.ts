import { isNodeName, normalHostName } from '#base/dns-name.ts';
import { AppError, shown } from '#base/errors.ts';
import { serviceName } from '#contract/names.ts';
import type { HostVariableSource, ServicesManifest } from '#contract/services/manifest.ts';
import type { HostValues, ServiceManager, System } from './ports.ts';
import { isManaged, serviceKey } from './services/order.ts';
import { expandService, type VariablePorts } from './services/variables.ts';

export interface NamePorts {
  system: Pick<System, 'hostName'>;
  services: Pick<ServiceManager, 'list'>;
  host: Pick<HostValues, 'resolve'>;
}

/**
 * The name under which the kubelet registers, in lower case. On a configured host it is read from the command of the kubelet
 * service, which needs no request to the cloud metadata service; on any other host it is resolved as for that command.
 */
export async function findNodeName(
  ports: NamePorts,
  source: HostVariableSource | undefined,
  signal: AbortSignal,
): Promise<string> {
  const kubelet = (await ports.services.list()).find(service => isKubelet(service) && isManaged(service));
  if (kubelet !== undefined) return nameByCommand(kubelet.config.command, ports.system);
  const name = source === undefined ? await ports.system.hostName() : await ports.host.resolve(source, signal);
  return toNodeName(name);
}

/** Rejects with NODE_NAME_CHANGED when the kubelet of the manifest would register under another name. */
export async function checkNodeName(
  expected: string,
  manifest: Pick<ServicesManifest, 'services'>,
  ports: Pick<NamePorts, 'system'> & VariablePorts,
  signal: AbortSignal,
): Promise<void> {
  const kubelet = manifest.services.find(isKubelet);
  const command = kubelet && (await expandService(kubelet, undefined, ports, signal));
  const name = await nameByCommand(command ?? '', ports.system);
  if (name === expected) return;
  throw new AppError(
    'NODE_NAME_CHANGED',
    `the kubelet of this host would register as Node ${shown(name)}, but the host joins as ${shown(expected)}`,
    { remedy: `Rename the host back to ${expected} and reboot it, or wait for the operator to read the new name.` },
  );
}

const isKubelet = ({ name }: { name: string }) => serviceKey(name) === serviceKey(serviceName.kubelet);

async function nameByCommand(command: string, system: NamePorts['system']): Promise<string> {
  const [, override] = /(?:^|\s)--hostname-override[=\s]"?([^\s"]+)/.exec(command) ?? [];
  return toNodeName(override ?? (await system.hostName()));
}

/** In the form that the kubelet uses. */
function toNodeName(name: string): string {
  const lower = normalHostName(name.trim());
  if (isNodeName(lower)) return lower;
  throw new AppError('HOST_NAME_INVALID', `${shown(name)} is not a valid Node name`, {
    remedy: 'Rename the host: use letters, digits and hyphens only.',
  });
}
