import { isNodeName, normalHostName } from '#base/dns-name.ts';
import { AppError, shown } from '#base/errors.ts';
import { managedTag, serviceName } from '#contract/names.ts';
import type { HostVariableSource, ServicesManifest } from '#contract/services/manifest.ts';
import type { HostValues, ServiceManager, System } from './ports.ts';
import { serviceKey } from './services/order.ts';
import { expandService, type VariablePorts } from './services/variables.ts';

export interface NamePorts {
  system: Pick<System, 'hostName'>;
  services: Pick<ServiceManager, 'list'>;
  host: Pick<HostValues, 'resolve'>;
}

/**
 * The name under which the kubelet registers, in lower case. On a configured host it is what the installed kubelet was told, so
 * that the metadata service of the cloud need not be asked again; on any other host it is what the kubelet will be told.
 */
export async function findNodeName(
  ports: NamePorts,
  source: HostVariableSource | undefined,
  signal: AbortSignal,
): Promise<string> {
  const kubelet = (await ports.services.list()).find(
    ({ name, config }) =>
      serviceKey(name) === serviceKey(serviceName.kubelet) && config.description.includes(managedTag),
  );
  if (kubelet !== undefined) return nameByCommand(kubelet.config.command, ports.system);
  const name = source === undefined ? await ports.system.hostName() : await ports.host.resolve(source, signal);
  return checked(name);
}

/** Rejects with NODE_NAME_CHANGED when the kubelet of this manifest would register under another name than expected. */
export async function checkNodeName(
  expected: string,
  manifest: Pick<ServicesManifest, 'services'>,
  ports: Pick<NamePorts, 'system'> & VariablePorts,
  signal: AbortSignal,
): Promise<void> {
  const kubelet = manifest.services.find(({ name }) => serviceKey(name) === serviceKey(serviceName.kubelet));
  const command = kubelet && (await expandService(kubelet, undefined, ports, signal));
  const name = await nameByCommand(command ?? '', ports.system);
  if (name === expected) return;
  throw new AppError(
    'NODE_NAME_CHANGED',
    `the kubelet of this host would register as Node ${shown(name)}, but the host joins as ${shown(expected)}`,
    { remedy: `Give the host the name ${expected} again and reboot it, or wait: the operator reads the name again.` },
  );
}

async function nameByCommand(command: string, system: NamePorts['system']): Promise<string> {
  const [, override] = /(?:^|\s)--hostname-override[=\s]"?([^\s"]+)/.exec(command) ?? [];
  return checked(override ?? (await system.hostName()));
}

/** As the kubelet writes it. */
function checked(name: string): string {
  const lower = normalHostName(name.trim());
  if (isNodeName(lower)) return lower;
  throw new AppError('HOST_NAME_INVALID', `${shown(name)} cannot be the name of a Node`, {
    remedy: 'Give the host a name of letters, digits and hyphens.',
  });
}
