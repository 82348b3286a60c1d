import type { Waiting } from '#base/waiting/poll.ts';
import { wipeCniState } from './cni-state.ts';
import { checkNodeName, type NamePorts } from './node-name.ts';
import type { HostFiles, ManifestSource, System } from './ports.ts';
import { readManifest } from './reconcile/content.ts';
import { servicesWork } from './reconcile/reconcile-host.ts';
import type { ServicePorts } from './services/ensure.ts';
import { reconcileServices } from './services/reconcile.ts';
import type { VariablePorts } from './services/variables.ts';

export interface BootstrapPorts extends ServicePorts, VariablePorts {
  system: NamePorts['system'] & Pick<System, 'flushServices'>;
  manifests: ManifestSource;
  files: HostFiles;
}

export interface BootstrapOptions {
  version: string;
  /** Name under which the host must register. */
  node: string;
}

/** Starts the bootstrap services and gives their names. Starts none when the kubelet would register under another name. */
export async function bootstrap(
  { version, node }: BootstrapOptions,
  ports: BootstrapPorts,
  waiting: Waiting,
): Promise<string[]> {
  const manifest = await readManifest(version, ports.manifests);
  // What services inherit is not known here; the controller completes it.
  const work = servicesWork(ports, version, undefined, { variables: manifest.environment, inherited: {} });
  await checkNodeName(node, manifest, { ...work, system: ports.system }, waiting.signal);
  await wipeCniState(ports.files, ports.services);
  const services = manifest.services.filter(service => service.bootstrap);
  // Other services may read a changed file, too, so the controller restarts those that do.
  const ignoreChanges = { changedFiles: async () => [], keepChangedFiles: async () => undefined };
  await reconcileServices(services, undefined, { ...work, ...ignoreChanges }, waiting);
  return services.map(service => service.name);
}
