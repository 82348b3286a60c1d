import type { Waiting } from '#base/waiting/poll.ts';
import { wipeCniState } from './cni-state.ts';
import { checkNodeName, type NamePorts } from './node-name.ts';
import type { HostFiles, ManifestSource } from './ports.ts';
import { readManifest, servicesWork } from './reconcile/reconcile-host.ts';
import type { ServicePorts } from './services/ensure.ts';
import { reconcileServices } from './services/reconcile.ts';
import type { VariablePorts } from './services/variables.ts';

export interface BootstrapPorts extends ServicePorts, VariablePorts, Pick<NamePorts, 'system'> {
  manifests: ManifestSource;
  files: HostFiles;
}

export interface BootstrapOptions {
  version: string;
  /** Name under which the host has to register. */
  node: string;
}

/**
 * Brings up the services from which the host becomes a Node and gives their names; there is no Node yet that could be asked
 * for anything. Starts none when the kubelet would register under another name.
 */
export async function bootstrap(
  { version, node }: BootstrapOptions,
  ports: BootstrapPorts,
  waiting: Waiting,
): Promise<string[]> {
  const manifest = await readManifest(version, ports.manifests);
  const work = servicesWork(ports, version, waiting);
  await checkNodeName(node, manifest, { ...work, system: ports.system }, waiting.signal);
  await wipeCniState(ports.files, ports.services);
  const services = manifest.services.filter(service => service.bootstrap);
  // Other services than these may have to read a changed file, too, so that is left to the controller.
  const nothingChanged = { changedFiles: async () => [], keepChangedFiles: async () => undefined };
  await reconcileServices(services, undefined, { ...work, ...nothingChanged }, waiting);
  return services.map(service => service.name);
}
