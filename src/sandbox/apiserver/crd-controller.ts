import { timestamp } from '#base/clock.ts';
import { sameData } from '#base/compare.ts';
import type { Log } from '#base/log.ts';
import { keyOf, type Resource } from '#kube/resource.ts';
import { customResourceDefinitions as crds } from '#kube/resources.ts';
import { createController } from './controllers/worker.ts';
import { cleanupFinalizer } from './kinds/crd.ts';
import { customKinds } from './kinds/custom.ts';
import type { Kinds } from './kinds.ts';
import { hasCondition, recordAt, textAt } from './object.ts';
import type { Controller, LocalApi, StoredObject } from './ports.ts';
import { StatusError } from './status.ts';

/** Serves the resources of CRDs; a deleted CRD waits for its objects. */
export function createCrdController(kinds: Kinds, log: Log): Controller {
  return createController(
    {
      name: 'crds',
      resource: crds,
      affected: ({ type, resource }, api) => {
        const key = { namespace: '', name: `${resource.plural}.${resource.group}` };
        const ends = type === 'DELETED' && api.get(crds, key)?.metadata.deletionTimestamp !== undefined;
        return ends ? [key] : [];
      },
      reconcile: (key, api) => {
        const crd = api.get(crds, key);
        if (crd?.metadata.deletionTimestamp !== undefined) empty(api, crd);
        else kinds.setCustom(key.name, crd === undefined ? [] : customKinds(crd));
        if (crd !== undefined && crd.metadata.deletionTimestamp === undefined) establish(api, crd);
      },
    },
    log,
  );
}

/** Sets the conditions of a served CRD. */
function establish(api: LocalApi, crd: StoredObject): void {
  const names = recordAt(crd, 'spec.names');
  if (hasCondition(crd, 'Established') && sameData(recordAt(crd, 'status.acceptedNames'), names)) return;
  const lastTransitionTime = timestamp(api.clock.now());
  const status = {
    ...recordAt(crd, 'status'),
    acceptedNames: names,
    conditions: [
      condition('NamesAccepted', 'NoConflicts', 'no conflicts found', lastTransitionTime),
      condition('Established', 'InitialNamesAccepted', 'the initial names have been accepted', lastTransitionTime),
    ],
  };
  api.replace(crds, { ...crd, status } as StoredObject, { subresource: 'status' });
}

function condition(type: string, reason: string, message: string, lastTransitionTime: string): unknown {
  return { type, status: 'True', lastTransitionTime, reason, message };
}

function empty(api: LocalApi, crd: StoredObject): void {
  const [group, plural] = [textAt(crd, 'spec.group'), textAt(crd, 'spec.names.plural')];
  const resource = api.resources().find(item => item.group === group && item.plural === plural);
  const objects = resource === undefined ? [] : api.list(resource);
  for (const object of objects) if (resource !== undefined) remove(api, resource, object);
  if (resource !== undefined && api.list(resource).length > 0) return;
  const finalizers = (crd.metadata.finalizers ?? []).filter(name => name !== cleanupFinalizer);
  api.replace(crds, { ...crd, metadata: { ...crd.metadata, finalizers } });
}

/** The object may have been deleted meanwhile. */
function remove(api: LocalApi, resource: Resource, object: StoredObject): void {
  try {
    api.delete(resource, keyOf(object));
  } catch (error) {
    if (!(error instanceof StatusError) || error.status.code !== 404) throw error;
  }
}
