import { timestamp } from '#base/clock.ts';
import { sameData } from '#base/compare.ts';
import type { Log } from '#base/log.ts';
import { keyOf } from '#kube/resource.ts';
import { namespaces } from '#kube/resources.ts';
import { isKind } from '../auth/is-kind.ts';
import { listAt, recordAt, textAt } from '../object.ts';
import type { Controller, LocalApi, StoredObject } from '../ports.ts';
import { deletionConditions, type NamespaceCondition, type Remaining } from './namespace-conditions.ts';
import { createController } from './worker.ts';

const finalizer = 'kubernetes';

/** Empties namespaces that are being deleted and then lets them go. */
export function createNamespaceEmptier(log?: Log): Controller {
  return createController(
    {
      name: 'namespace-emptier',
      begin: api => api.list(namespaces).map(keyOf),
      // Whatever leaves a namespace may have been the last thing in it.
      affected: ({ resource, type, object }) => {
        if (isKind(resource, namespaces)) return [keyOf(object)];
        const { namespace = '' } = object.metadata;
        return type === 'DELETED' && namespace !== '' ? [{ namespace: '', name: namespace }] : [];
      },
      reconcile: (key, api) => {
        const namespace = api.get(namespaces, key);
        if (namespace?.metadata.deletionTimestamp !== undefined) empty(namespace, api);
        return undefined;
      },
    },
    log,
  );
}

function empty(namespace: StoredObject, api: LocalApi): void {
  if (!listAt(namespace, 'spec.finalizers').includes(finalizer)) return;
  const remaining = deleteContent(namespace.metadata.name ?? '', api);
  const reported = report(namespace, remaining, api);
  if (remaining.length === 0) finalize(reported, api);
}

/** Deletes everything that is not being deleted yet; what is left waits for somebody else. */
function deleteContent(namespace: string, api: LocalApi): Remaining {
  const contents = () =>
    api
      .resources()
      .filter(resource => resource.namespaced)
      .map(resource => ({ resource, objects: api.list(resource, namespace) }))
      .filter(({ objects }) => objects.length > 0);
  for (const { resource, objects } of contents()) {
    for (const object of objects.filter(({ metadata }) => metadata.deletionTimestamp === undefined)) {
      api.delete(resource, keyOf(object), { propagationPolicy: 'Background' });
    }
  }
  return contents();
}

function report(namespace: StoredObject, remaining: Remaining, api: LocalApi): StoredObject {
  const known = listAt(namespace, 'status.conditions') as NamespaceCondition[];
  const conditions = deletionConditions(remaining, known, timestamp(api.clock.now()));
  if (sameData(conditions, known) && textAt(namespace, 'status.phase') === 'Terminating') return namespace;
  const status = { ...recordAt(namespace, 'status'), phase: 'Terminating', conditions };
  return api.replace(namespaces, { ...namespace, status } as StoredObject, { subresource: 'status' });
}

function finalize(namespace: StoredObject, api: LocalApi): void {
  const finalizers = listAt(namespace, 'spec.finalizers').filter(name => name !== finalizer);
  const finalized: StoredObject = { ...namespace, spec: { ...recordAt(namespace, 'spec'), finalizers } };
  api.replace(namespaces, finalized, { subresource: 'finalize' });
}
