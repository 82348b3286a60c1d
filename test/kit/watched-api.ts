import { timestamp } from '#base/clock.ts';
import type { Client } from '#kube/client.ts';
import type { Informers } from '#kube/informer/informers.ts';
import type { KubeResource, Resource } from '#kube/resource.ts';
import type { ManualClock } from './manual-clock.ts';
import { MemoryApi } from './memory-api.ts';
import { MemoryInformer } from './memory-informer.ts';

interface Scope {
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
}

/** An API server in memory with informers, which get changes at once unless it is paused. */
export class WatchedApi extends MemoryApi {
  readonly #clock: ManualClock;
  readonly #informers = new Map<string, { resource: Resource; informer: MemoryInformer }>();
  /** While true no informer gets a change. */
  isPaused = false;

  constructor(clock: ManualClock) {
    super();
    this.#clock = clock;
  }

  get client(): Client {
    return this as unknown as Client;
  }

  /** All have synced. */
  get informers(): Informers {
    const get = (resource: Resource, scope: Scope = {}) => this.#informer(resource, scope);
    return { get } as unknown as Informers;
  }

  override put<T extends KubeResource>(resource: Resource<T>, object: T): T {
    const { name = '', namespace = '' } = object.metadata;
    const before = this.peek(resource, name, namespace);
    const made = super.put(resource, {
      ...object,
      metadata: {
        creationTimestamp: timestamp(this.#clock.now()),
        ...object.metadata,
        generation: generationOf(before, object),
      },
    });
    this.#emit(resource, informer => informer.put(structuredClone(made)));
    return made;
  }

  override remove(resource: Resource, name: string, namespace = ''): void {
    super.remove(resource, name, namespace);
    this.#emit(resource, informer => informer.remove({ name, namespace }));
  }

  /** Ends the pause: informers get all that has changed. */
  resume(): void {
    this.isPaused = false;
    for (const { resource, informer } of this.#informers.values()) informer.replaceAll(this.all(resource));
  }

  #emit({ group, plural }: Resource, change: (informer: MemoryInformer) => void): void {
    if (this.isPaused) return;
    for (const { resource, informer } of this.#informers.values()) {
      if (resource.plural === plural && resource.group === group) change(informer);
    }
  }

  #informer(resource: Resource, scope: Scope): MemoryInformer {
    const name = JSON.stringify([resource.group, resource.plural, scope]);
    const known = this.#informers.get(name);
    if (known !== undefined) return known.informer;
    const informer = new MemoryInformer(resource, object => isInScope(object, scope));
    this.#informers.set(name, { resource, informer });
    for (const object of this.all(resource)) informer.put(structuredClone(object));
    informer.sync();
    return informer;
  }
}

function isInScope({ metadata }: KubeResource, { namespace, labelSelector, fieldSelector }: Scope): boolean {
  const [label = '', value = ''] = labelSelector?.split('=') ?? [];
  const name = fieldSelector?.replace('metadata.name=', '');
  return (
    (namespace === undefined || metadata.namespace === namespace) &&
    (labelSelector === undefined || metadata.labels?.[label] === value) &&
    (name === undefined || metadata.name === name)
  );
}

/** Counts changes of the spec, not of the status. */
function generationOf(before: KubeResource | undefined, object: KubeResource): number {
  const specOf = (one: (KubeResource & { spec?: unknown }) | undefined) => JSON.stringify(one?.spec);
  const { generation = 1 } = object.metadata;
  if (before === undefined || before.metadata.uid !== (object.metadata.uid ?? before.metadata.uid)) return generation;
  return specOf(before) === specOf(object) ? (before.metadata.generation ?? 1) : (before.metadata.generation ?? 1) + 1;
}
