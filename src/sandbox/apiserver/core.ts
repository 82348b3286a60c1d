import type { Clock } from '#base/clock.ts';
import type { Kind } from './kind.ts';
import type { Kinds } from './kinds.ts';
import type { Identity, StoredObject, UserInfo } from './ports.ts';
import type { Store } from './store.ts';

/** What all handlers share. */
export interface Core {
  readonly clock: Clock;
  readonly store: Store;
  readonly kinds: Kinds;
  readonly identity: Identity;
}

/** One request to a resource, after routing. Texts are empty where they do not apply. */
export interface Call {
  readonly user: UserInfo;
  readonly kind: Kind;
  readonly namespace: string;
  readonly name: string;
  readonly subresource: string;
  /** Nothing is stored. */
  readonly dryRun: boolean;
  /** Fields that the kind does not have are rejected instead of dropped. */
  readonly isStrict?: boolean;
}

/** The stored object a call speaks of, in the stored version. */
export function findObject(core: Core, call: Pick<Call, 'kind' | 'namespace' | 'name'>): StoredObject | undefined {
  return core.store.get(call.kind.storageKey, { namespace: call.namespace, name: call.name });
}
