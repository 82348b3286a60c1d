import type { Resource } from '#kube/resource.ts';
import { type Call, type Core, findObject } from './core.ts';
import { createObject } from './handlers/create.ts';
import { deleteObject } from './handlers/delete.ts';
import { evictPod } from './handlers/eviction.ts';
import { replaceObject } from './handlers/update.ts';
import type { Kind } from './kind.ts';
import type { Change, LocalApi, StoredObject, UserInfo } from './ports.ts';
import { unknownPath } from './status.ts';

const self: UserInfo = { username: 'system:apiserver', groups: ['system:masters'] };

export function createLocalApi(core: Core): LocalApi {
  const kindOf = (resource: Resource): Kind => {
    const kind = core.kinds.find(resource.group, resource.version, resource.plural);
    if (kind === undefined) throw unknownPath();
    return kind;
  };
  const callOf = (resource: Resource, target: Partial<Pick<Call, 'namespace' | 'name' | 'subresource'>>): Call => ({
    user: self,
    kind: kindOf(resource),
    namespace: '',
    name: '',
    subresource: '',
    dryRun: false,
    ...target,
  });
  // Lists of the store stay the same until the next write.
  const lists = new WeakMap<readonly StoredObject[], Map<Kind, readonly StoredObject[]>>();
  return {
    clock: core.clock,
    resources: () => core.kinds.all().filter(kind => kind.stores),
    get: (resource, key) => {
      const call = callOf(resource, key);
      const found = findObject(core, call);
      return found && call.kind.fromStored(found);
    },
    list: (resource, namespace = '') => {
      const kind = kindOf(resource);
      const stored = core.store.list(kind.storageKey, namespace);
      const shown = lists.get(stored) ?? new Map<Kind, readonly StoredObject[]>();
      const list = shown.get(kind) ?? stored.map(object => kind.fromStored(object));
      lists.set(stored, shown.set(kind, list));
      return list;
    },
    create: (resource, object, { subresource = '' } = {}) => {
      const { namespace = '', name = '' } = object.metadata;
      const call = callOf(resource, { namespace, name, subresource });
      if (subresource !== 'eviction') return createObject(core, call, object);
      const pod = findObject(core, call);
      evictPod(core, call, object);
      return pod ?? { apiVersion: 'policy/v1', kind: 'Eviction', ...object };
    },
    replace: (resource, object, { subresource = '' } = {}) => {
      const { namespace = '', name = '' } = object.metadata;
      return replaceObject(core, callOf(resource, { namespace, name, subresource }), object).object;
    },
    delete: (resource, key, options = {}) => {
      deleteObject(core, callOf(resource, key), options);
    },
    onChange: listener => onChange(core, listener),
  };
}

/** Delivers changes after the write that caused them. */
function onChange(core: Core, listener: (change: Change) => void): () => void {
  const waiting: Change[] = [];
  const deliver = (): void => {
    for (let change = waiting.shift(); change !== undefined; change = waiting.shift()) listener(change);
  };
  const stopListening = core.store.listenAll((storageKey, { type, object, old }) => {
    const kind = core.kinds.byStorageKey(storageKey);
    if (kind === undefined) return;
    if (waiting.length === 0) queueMicrotask(deliver);
    waiting.push({
      type,
      resource: kind,
      object: kind.fromStored(object),
      old: old && kind.fromStored(old),
    });
  });
  return () => {
    stopListening();
    waiting.length = 0;
  };
}
