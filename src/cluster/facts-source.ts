import { configMapName } from '#contract/names.ts';
import { type KubeObject, readObject } from '#contract/object.ts';
import type { Informers } from '#kube/informer/informers.ts';
import type { KubeResource, Resource } from '#kube/resource.ts';
import { configMaps } from '#kube/resources.ts';
import * as openshift from '#kube/resources-openshift.ts';
import type { DiscoveryAccess } from './discovery-objects.ts';
import type { ClusterFacts, FactsReading, OperatorSettings } from './facts.ts';
import { clusterDescription, kubernetesFacts } from './kubernetes.ts';
import { openshiftFacts } from './openshift.ts';

/** The facts of the cluster, from informer caches. */
export interface FactsSource {
  /** The same value until an object changes. */
  read(): FactsReading;
  /** The objects that facts are read from. */
  objects(): KubeObject[];
  /** Calls the listener after every change; returns the function that removes it. */
  onChange(listener: () => void): () => void;
}

type InformerFactory = Pick<Informers, 'get'>;

/** Kubernetes creates this ConfigMap in every namespace. */
export const rootCa = { name: 'kube-root-ca.crt', key: 'ca.crt' } as const;

/** Objects that OpenShift facts are read from. */
const openshiftObjects: readonly (readonly [Resource, name?: string])[] = [
  [openshift.infrastructures, 'cluster'],
  [openshift.networkConfigs, 'cluster'],
  [openshift.networkOperators, 'cluster'],
  [openshift.apiServerConfigs, 'cluster'],
  [openshift.proxyConfigs, 'cluster'],
  [openshift.machineConfigs],
  [openshift.controllerConfigs],
];

/** Their resources; not every API server has all of them. */
export const openshiftResources: readonly Resource[] = openshiftObjects.map(([resource]) => resource);

export function openshiftSource(
  informers: InformerFactory,
  settings: OperatorSettings,
  serves: (resource: Resource) => boolean,
): FactsSource {
  const { namespace } = settings;
  const watched = openshiftObjects
    .filter(([resource]) => serves(resource))
    .map(([resource, name]) => watch(informers, resource, name === undefined ? {} : { name }));
  // Also without a proxy, which may be switched on at any time.
  watched.push(watch(informers, configMaps, { name: configMapName.trustedCa, namespace }));
  return new WatchedFacts(watched, (objects, last) => openshiftFacts(objects, settings, last));
}

export function kubernetesSource(
  informers: InformerFactory,
  { namespace, kubeletVersion, proxy }: Pick<OperatorSettings, 'namespace' | 'kubeletVersion' | 'proxy'>,
  { readable, denied }: DiscoveryAccess,
): FactsSource {
  const own = [clusterDescription, rootCa.name].map(name => watch(informers, configMaps, { name, namespace }));
  const others = readable.map(({ resource, ...scope }) => watch(informers, resource, scope));
  const dataOf = (objects: readonly KubeObject[], name: string) =>
    objects.find(({ meta }) => meta.namespace === namespace && meta.name === name)?.fields.stringMap('data');
  return new WatchedFacts([...own, ...others], objects =>
    kubernetesFacts({
      namespace,
      data: dataOf(objects, clusterDescription),
      clusterCa: dataOf(objects, rootCa.name)?.[rootCa.key] ?? '',
      objects,
      denied,
      proxy,
      ...(kubeletVersion !== undefined && { kubeletVersion }),
    }),
  );
}

interface Watched {
  objects(): KubeObject[];
  onChange(listener: () => void): void;
}

function watch<T extends KubeResource>(
  informers: InformerFactory,
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

type ReadAll = (objects: readonly KubeObject[], last: ClusterFacts | undefined) => FactsReading;

class WatchedFacts implements FactsSource {
  readonly #watched: readonly Watched[];
  readonly #readAll: ReadAll;
  readonly #listeners = new Set<() => void>();
  #cached: FactsReading | undefined;
  #last: ClusterFacts | undefined;

  constructor(watched: readonly Watched[], readAll: ReadAll) {
    this.#watched = watched;
    this.#readAll = readAll;
    for (const each of watched) each.onChange(() => this.#invalidate());
  }

  read(): FactsReading {
    this.#cached ??= this.#readAll(this.objects(), this.#last);
    this.#last = this.#cached.facts ?? this.#last;
    return this.#cached;
  }

  objects(): KubeObject[] {
    return this.#watched.flatMap(each => each.objects());
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  #invalidate(): void {
    this.#cached = undefined;
    for (const listener of this.#listeners) listener();
  }
}
