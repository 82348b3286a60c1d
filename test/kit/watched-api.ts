import { timestamp } from '#base/clock.ts';
import type { Client } from '#kube/client.ts';
import type { Handler } from '#kube/informer/informer.ts';
import type { Informers } from '#kube/informer/informers.ts';
import { type Change, type Index, Store } from '#kube/informer/store.ts';
import type { KubeResource, Resource } from '#kube/resource.ts';
import type { ManualClock } from './manual-clock.ts';
import { MemoryApi } from './memory-api.ts';

interface Scope {
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
}

/** An API server in memory whose objects can be watched by informers. News travels at once, unless it is held back. */
export class WatchedApi extends MemoryApi {
  readonly #clock: ManualClock;
  readonly #informers = new Map<string, WatchedInformer>();
  /** While true no informer hears of anything. */
  isSilent = false;

  constructor(clock: ManualClock) {
    super();
    this.#clock = clock;
  }

  get client(): Client {
    return this as unknown as Client;
  }

  /** As a program has them; all in step. */
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
    this.#tell(resource, informer => informer.store.put(structuredClone(made)));
    return made;
  }

  override remove(resource: Resource, name: string, namespace = ''): void {
    const before = this.peek(resource, name, namespace);
    super.remove(resource, name, namespace);
    if (before !== undefined) this.#tell(resource, informer => informer.store.remove(before));
  }

  /** Ends the silence: informers see what there is now. */
  speak(): void {
    this.isSilent = false;
    for (const informer of this.#informers.values()) {
      informer.tell(informer.store.replaceAll(this.all(informer.resource).filter(object => informer.fits(object))));
    }
  }

  #tell(resource: Resource, change: (informer: WatchedInformer) => Change<KubeResource>[]): void {
    if (this.isSilent) return;
    for (const informer of this.#informers.values()) {
      if (informer.resource.plural !== resource.plural || informer.resource.group !== resource.group) continue;
      informer.tell(change(informer));
    }
  }

  #informer(resource: Resource, scope: Scope): WatchedInformer {
    const name = JSON.stringify([resource.group, resource.plural, scope]);
    const known = this.#informers.get(name);
    if (known !== undefined) return known;
    const made = new WatchedInformer(resource, scope);
    this.#informers.set(name, made);
    for (const object of this.all(resource)) made.store.put(structuredClone(object));
    return made;
  }
}

/** What a controller knows of an informer. */
class WatchedInformer {
  readonly synced = Promise.resolve();
  readonly hasSynced = true;
  readonly resource: Resource;
  readonly store: ScopedStore;
  readonly #handlers = new Set<Handler<KubeResource>>();

  constructor(resource: Resource, scope: Scope) {
    this.resource = resource;
    this.store = new ScopedStore(object => fits(object, scope));
  }

  fits(object: KubeResource): boolean {
    return this.store.fits(object);
  }

  addIndex(name: string, valuesOf: Index<KubeResource>): void {
    this.store.addIndex(name, valuesOf);
  }

  addHandler(handler: Handler<KubeResource>): () => void {
    for (const object of this.store.list()) handler.added?.(object);
    this.#handlers.add(handler);
    return () => this.#handlers.delete(handler);
  }

  tell(changes: readonly Change<KubeResource>[]): void {
    for (const change of changes) {
      for (const handler of this.#handlers) {
        if (change.type === 'updated') handler.updated?.(change.old, change.object);
        else handler[change.type]?.(change.object);
      }
    }
  }
}

/** An object that no longer fits the scope leaves it, as with a watch. */
class ScopedStore extends Store<KubeResource> {
  readonly fits: (object: KubeResource) => boolean;

  constructor(fits: (object: KubeResource) => boolean) {
    super();
    this.fits = fits;
  }

  override put(object: KubeResource): Change<KubeResource>[] {
    return this.fits(object) ? super.put(object) : super.remove(object);
  }
}

function fits({ metadata }: KubeResource, { namespace, labelSelector, fieldSelector }: Scope): boolean {
  const [label = '', value = ''] = labelSelector?.split('=') ?? [];
  const name = fieldSelector?.replace('metadata.name=', '');
  return (
    (namespace === undefined || metadata.namespace === namespace) &&
    (labelSelector === undefined || metadata.labels?.[label] === value) &&
    (name === undefined || metadata.name === name)
  );
}

/** Moves with the spec, not with the status. */
function generationOf(before: KubeResource | undefined, object: KubeResource): number {
  const specOf = (one: (KubeResource & { spec?: unknown }) | undefined) => JSON.stringify(one?.spec);
  const { generation = 1 } = object.metadata;
  if (before === undefined || before.metadata.uid !== (object.metadata.uid ?? before.metadata.uid)) return generation;
  return specOf(before) === specOf(object) ? (before.metadata.generation ?? 1) : (before.metadata.generation ?? 1) + 1;
}
