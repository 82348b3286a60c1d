import { wipeCniState } from './cni-state.ts';
import type { Cluster, HostFiles, Waiting } from './ports.ts';
import { readManifest, servicesWork } from './reconcile/carry-out.ts';
import type { ServicePorts } from './services/ensure.ts';
import { reconcileServices } from './services/reconcile.ts';
import type { VariablePorts } from './services/variables.ts';

export interface BootstrapPorts extends ServicePorts, VariablePorts {
  cluster: Cluster;
  files: HostFiles;
}

/**
 * Brings up the services from which the host becomes a Node and gives their names; there is no Node yet that could be asked
 * for anything.
 */
export async function bootstrap(version: string, ports: BootstrapPorts, waiting: Waiting): Promise<string[]> {
  const manifest = await readManifest(version, ports.cluster);
  await wipeCniState(ports.files, ports.services);
  const services = manifest.services.filter(service => service.bootstrap);
  const work = servicesWork(ports, version, waiting);
  // Other services than these may have to read a changed file, too, so that is left to the controller.
  const nothingChanged = { changedFiles: async () => [], keepChangedFiles: async () => undefined };
  await reconcileServices(services, undefined, { ...work, ...nothingChanged }, waiting);
  return services.map(service => service.name);
}
