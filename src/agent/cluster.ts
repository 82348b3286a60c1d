import { servicesConfigMapName } from '#contract/version.ts';
import type { Client } from '#kube/client.ts';
import { configMaps } from '#kube/resources.ts';
import type { ManifestSource } from './ports.ts';

export interface ManifestSourceOptions {
  client: Pick<Client, 'find'>;
  /** Where the services ConfigMaps are. */
  namespace: string;
  signal: AbortSignal;
}

/** Services ConfigMaps as the API server has them, requested one by one: tokens of hosts may list none. */
export function createManifestSource({ client, namespace, signal }: ManifestSourceOptions): ManifestSource {
  return {
    servicesConfigMap: version => client.find(configMaps, servicesConfigMapName(version), { namespace, signal }),
  };
}
