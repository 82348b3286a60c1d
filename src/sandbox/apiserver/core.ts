import type { Clock } from '#base/clock.ts';
import type { Kind } from './kind.ts';
import type { Kinds } from './kinds.ts';
import type { Identity, StoredObject, UserInfo } from './ports.ts';
import { notFound } from './status.ts';
import type { Store } from './store.ts';

/** Shared by all handlers. */
export interface Core {
  readonly clock: Clock;
  readonly store: Store;
  readonly kinds: Kinds;
  readonly identity: Identity;
}

/** A routed request. Strings are empty where they do not apply. */
export interface Call {
  readonly user: UserInfo;
  readonly kind: Kind;
  readonly namespace: string;
  readonly name: string;
  readonly subresource: string;
  /** Do not store. */
  readonly dryRun: boolean;
  /** Reject unknown fields instead of dropping them. */
  readonly isStrict?: boolean;
}

/** The stored object of a call, in its storage version. */
export function findObject(core: Core, call: Pick<Call, 'kind' | 'namespace' | 'name'>): StoredObject | undefined {
  return core.store.get(call.kind.storageKey, { namespace: call.namespace, name: call.name });
}

/** The same; throws NotFound if it does not exist. */
export function requireObject(core: Core, call: Pick<Call, 'kind' | 'namespace' | 'name'>): StoredObject {
  const found = findObject(core, call);
  if (found === undefined) throw notFound(call.kind, call.name);
  return found;
}
