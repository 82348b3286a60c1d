import { servicesConfigMapName } from '#contract/version.ts';
import type { Client } from '#kube/client.ts';
import { configMaps } from '#kube/resources.ts';
import type { ManifestSource } from './ports.ts';

export interface ManifestSourceOptions {
  client: Pick<Client, 'find'>;
  namespace: string;
  signal: AbortSignal;
}

/** Services ConfigMaps from the API server, read by name: the token of a host is not allowed to list them. */
export function createManifestSource({ client, namespace, signal }: ManifestSourceOptions): ManifestSource {
  return {
    servicesConfigMap: version => client.find(configMaps, servicesConfigMapName(version), { namespace, signal }),
  };
}
