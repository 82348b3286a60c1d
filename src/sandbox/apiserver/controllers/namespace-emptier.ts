import type { Log } from '#base/log.ts';
import { keyOf } from '#kube/resource.ts';
import { namespaces } from '#kube/resources.ts';
import { listAt, recordAt } from '../object.ts';
import type { Controller, LocalApi, StoredObject } from '../ports.ts';
import { createController } from './worker.ts';

const finalizer = 'kubernetes';

/** Empties namespaces that are being deleted, then removes their finalizer. */
export function createNamespaceEmptier(log?: Log): Controller {
  return createController(
    {
      name: 'namespace-emptier',
      resource: namespaces,
      // Whatever leaves a namespace may have been the last object in it.
      affected: ({ type, object }) => {
        const { namespace = '' } = object.metadata;
        return type === 'DELETED' && namespace !== '' ? [{ namespace: '', name: namespace }] : [];
      },
      reconcile: (key, api) => {
        const namespace = api.get(namespaces, key);
        if (namespace?.metadata.deletionTimestamp !== undefined) empty(namespace, api);
      },
    },
    log,
  );
}

function empty(namespace: StoredObject, api: LocalApi): void {
  const finalizers = listAt(namespace, 'spec.finalizers');
  if (!finalizers.includes(finalizer) || !deleteContent(namespace.metadata.name ?? '', api)) return;
  const left = finalizers.filter(name => name !== finalizer);
  const finalized: StoredObject = { ...namespace, spec: { ...recordAt(namespace, 'spec'), finalizers: left } };
  api.replace(namespaces, finalized, { subresource: 'finalize' });
}

/** Deletes everything that is not being deleted yet; true when the namespace is empty. */
function deleteContent(namespace: string, api: LocalApi): boolean {
  for (const resource of api.resources().filter(({ namespaced }) => namespaced)) {
    for (const object of api.list(resource, namespace)) {
      if (object.metadata.deletionTimestamp === undefined) api.delete(resource, keyOf(object));
    }
  }
  return api.resources().every(resource => !resource.namespaced || api.list(resource, namespace).length === 0);
}
