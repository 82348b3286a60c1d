import type { Cluster, Files, Waiting } from './ports.ts';
import { readManifest, servicesWork } from './reconcile/carry-out.ts';
import type { ServicePorts } from './services/ensure.ts';
import { reconcileServices } from './services/reconcile.ts';
import type { VariablePorts } from './services/variables.ts';

export interface BootstrapPorts extends ServicePorts, VariablePorts {
  cluster: Cluster;
  files: Files;
}

/** Brings up the services from which the host becomes a Node; there is none yet that could be asked for anything. */
export async function bootstrap(version: string, ports: BootstrapPorts, waiting: Waiting): Promise<void> {
  const manifest = await readManifest(version, ports.cluster);
  const services = manifest.services.filter(service => service.bootstrap);
  await reconcileServices(services, undefined, servicesWork(ports), waiting);
}
