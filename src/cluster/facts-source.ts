import { configMapName } from '#contract/names.ts';
import { type KubeObject, objectLabel, readObject } from '#contract/object.ts';
import type { Informers } from '#kube/informer/informers.ts';
import type { KubeResource, Resource } from '#kube/resource.ts';
import { configMaps } from '#kube/resources.ts';
import * as openshift from '#kube/resources-openshift.ts';
import type { FactsReading, OperatorSettings } from './facts.ts';
import { clusterDescription, kubernetesFacts } from './kubernetes.ts';
import { openshiftFacts } from './openshift.ts';

/** The facts of the cluster as watches have brought them. */
export interface FactsSource {
  /** As of now; the same value until something changes. */
  read(): FactsReading;
  /** The objects that facts are read from. */
  objects(): KubeObject[];
  /** Told after every change; gives how to end that. */
  onChange(listener: () => void): () => void;
}

type Factory = Pick<Informers, 'get'>;

/** The ConfigMap that every namespace has. */
export const rootCa = { name: 'kube-root-ca.crt', key: 'ca.crt' } as const;

/** What OpenShift facts are read from, beside what the API server may not have. */
const described: readonly (readonly [Resource, name?: string])[] = [
  [openshift.infrastructures, 'cluster'],
  [openshift.networkConfigs, 'cluster'],
  [openshift.networkOperators, 'cluster'],
  [openshift.apiServerConfigs, 'cluster'],
  [openshift.machineConfigs],
  [openshift.controllerConfigs],
];

/** Every resource of OpenShift that facts are read from; whether there is one is to be asked of the API server. */
export const openshiftResources: readonly Resource[] = described.map(([resource]) => resource);

export function openshiftSource(
  informers: Factory,
  settings: OperatorSettings,
  serves: (resource: Resource) => boolean,
): FactsSource {
  const { namespace, proxy } = settings;
  const watched = described
    .filter(([resource]) => serves(resource))
    .map(([resource, name]) => watch(informers, resource, name === undefined ? {} : { name }));
  if (Object.keys(proxy).length > 0)
    watched.push(watch(informers, configMaps, { name: configMapName.trustedCa, namespace }));
  return new WatchedFacts(watched, objects => openshiftFacts(objects, settings));
}

export function kubernetesSource(informers: Factory, namespace: string): FactsSource {
  const watched = [clusterDescription, rootCa.name].map(name => watch(informers, configMaps, { name, namespace }));
  const dataOf = (objects: readonly KubeObject[], name: string) =>
    objects.find(({ meta }) => meta.name === name)?.fields.stringMap('data');
  return new WatchedFacts(watched, objects =>
    kubernetesFacts({
      label: objectLabel('ConfigMap', { namespace, name: clusterDescription }),
      data: dataOf(objects, clusterDescription),
      clusterCa: dataOf(objects, rootCa.name)?.[rootCa.key] ?? '',
    }),
  );
}

interface Watched {
  objects(): KubeObject[];
  onChange(listener: () => void): void;
}

function watch<T extends KubeResource>(
  informers: Factory,
  resource: Resource<T>,
  { name, namespace }: { name?: string; namespace?: string },
): Watched {
  const informer = informers.get(resource, {
    ...(namespace !== undefined && { namespace }),
    ...(name !== undefined && { fieldSelector: `metadata.name=${name}` }),
  });
  return {
    objects: () => informer.store.list().map(object => readObject(object)),
    onChange: listener => void informer.addHandler({ added: listener, updated: listener, deleted: listener }),
  };
}

class WatchedFacts implements FactsSource {
  readonly #watched: readonly Watched[];
  readonly #readAll: (objects: readonly KubeObject[]) => FactsReading;
  readonly #listeners = new Set<() => void>();
  #known: FactsReading | undefined;

  constructor(watched: readonly Watched[], readAll: (objects: readonly KubeObject[]) => FactsReading) {
    this.#watched = watched;
    this.#readAll = readAll;
    for (const each of watched) each.onChange(() => this.#forget());
  }

  read(): FactsReading {
    return (this.#known ??= this.#readAll(this.objects()));
  }

  objects(): KubeObject[] {
    return this.#watched.flatMap(each => each.objects());
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  #forget(): void {
    this.#known = undefined;
    for (const listener of this.#listeners) listener();
  }
}
