import { listAt, recordAt, textAt } from '../../object.ts';
import type { StoredObject } from '../../ports.ts';

export interface PodReferences {
  secrets: Set<string>;
  configMaps: Set<string>;
  /** Empty if the pod names none. */
  serviceAccounts: Set<string>;
}

export const defaultAccount = 'default';

/** Names of objects in its namespace that a pod refers to. */
export function referencesOf(pod: StoredObject): PodReferences {
  const volumes = listAt(pod, 'spec.volumes');
  const sources = [...volumes, ...volumes.flatMap(volume => listAt(volume, 'projected.sources'))];
  const containers = ['initContainers', 'containers', 'ephemeralContainers'].flatMap(list =>
    listAt(pod, `spec.${list}`),
  );
  const variables = containers.flatMap(container => listAt(container, 'env'));
  const variableSets = containers.flatMap(container => listAt(container, 'envFrom'));
  return {
    secrets: names([
      ...textsAt(listAt(pod, 'spec.imagePullSecrets'), 'name'),
      ...textsAt(variables, 'valueFrom.secretKeyRef.name'),
      ...textsAt(variableSets, 'secretRef.name'),
      ...textsAt(sources, 'secret.name'),
      ...volumes.flatMap(driverSecrets),
    ]),
    configMaps: names([
      ...textsAt(variables, 'valueFrom.configMapKeyRef.name'),
      ...textsAt(variableSets, 'configMapRef.name'),
      ...textsAt(sources, 'configMap.name'),
    ]),
    serviceAccounts: names([textAt(pod, 'spec.serviceAccountName')]),
  };
}

/** The name of the Secret depends on the volume type. */
function driverSecrets(volume: unknown): string[] {
  const drivers = Object.values(recordAt({ volume }, 'volume'));
  return ['secretName', 'secretRef.name', 'nodePublishSecretRef.name'].flatMap(path => textsAt(drivers, path));
}

function textsAt(items: readonly unknown[], path: string): string[] {
  return items.map(item => textAt(item, path));
}

function names(texts: readonly string[]): Set<string> {
  return new Set(texts.filter(text => text !== ''));
}
