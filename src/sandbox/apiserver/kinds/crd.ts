import { isRecord } from '#base/fields.ts';
import type { StatusCause } from '#kube/api-error.ts';
import { defineKind, type Kind, statusSubresource } from '../kind.ts';
import { listAt, memberAt, recordAt, textAt } from '../object.ts';
import type { StoredObject } from '../ports.ts';
import { crdCauses } from '../schema/check-crd.ts';
import { cause } from '../status.ts';
import { createdColumn, nameColumn } from './columns.ts';

/** Keeps a CRD until its objects are gone. */
export const cleanupFinalizer = 'customresourcecleanup.apiextensions.k8s.io';

/** Wanted by the checks of a CRD; the schemas themselves are checked by whoever knows about schemas. */
export type SchemaCheck = (schema: unknown, path: string) => StatusCause[];

export function crdKind(checkSchema: SchemaCheck): Kind {
  return defineKind({
    group: 'apiextensions.k8s.io',
    version: 'v1',
    plural: 'customresourcedefinitions',
    kind: 'CustomResourceDefinition',
    namespaced: false,
    shortNames: ['crd', 'crds'],
    categories: ['api-extensions'],
    subresources: [statusSubresource],
    countsGenerations: true,
    updatesUnconditionally: false,
    content: {
      spec: {
        group: 'string',
        names: 'object',
        scope: 'string',
        versions: ['object'],
        conversion: 'object',
        preserveUnknownFields: 'boolean',
      },
      status: 'object',
    },
    columns: [nameColumn, createdColumn],
    prepareCreate: object => {
      const spec = withDefaults(recordAt(object, 'spec'));
      const stored = listAt(spec, 'versions').filter(version => memberAt(version, 'storage') === true);
      const storedVersions = stored.map(version => textAt(version, 'name'));
      return {
        ...object,
        spec,
        status: { conditions: null, acceptedNames: { plural: '', kind: '' }, storedVersions },
      };
    },
    prepareUpdate: (next, old, subresource) =>
      subresource === 'status'
        ? { ...next, spec: old['spec'] }
        : { ...next, spec: withDefaults(recordAt(next, 'spec')), status: storedStatus(next, old) },
    check: (object, old) => [
      ...crdCauses(object, checkSchema),
      ...(old === undefined ? [] : changeCauses(object, old)),
    ],
    // Its objects hold it, so that it never goes at once.
    holders: ({ metadata }) =>
      metadata.deletionTimestamp === undefined ? [cleanupFinalizer] : (metadata.finalizers ?? []),
    markDeleted: (object, now) => ({
      ...object,
      metadata: { ...object.metadata, finalizers: [...(object.metadata.finalizers ?? []), cleanupFinalizer] },
      status: {
        ...recordAt(object, 'status'),
        conditions: [
          ...listAt(object, 'status.conditions').filter(item => textAt(item, 'type') !== 'Terminating'),
          {
            type: 'Terminating',
            status: 'True',
            lastTransitionTime: now,
            reason: 'InstanceDeletionPending',
            message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
          },
        ],
      },
    }),
    setsGracePeriod: false,
  });
}

function withDefaults(spec: Record<string, unknown>): Record<string, unknown> {
  const names = recordAt(spec, 'names');
  const kind = textAt(names, 'kind');
  return {
    ...spec,
    names: {
      ...(kind === '' ? {} : { singular: kind.toLowerCase(), listKind: `${kind}List` }),
      ...names,
    },
    conversion: isRecord(spec['conversion']) ? spec['conversion'] : { strategy: 'None' },
  };
}

/** A version that becomes the stored one is remembered in the status. */
function storedStatus(next: StoredObject, old: StoredObject): unknown {
  const before = listAt(old, 'status.storedVersions').map(String);
  const storing = listAt(next, 'spec.versions')
    .filter(version => memberAt(version, 'storage') === true)
    .map(version => textAt(version, 'name'));
  return { ...recordAt(old, 'status'), storedVersions: [...new Set([...before, ...storing])] };
}

function changeCauses(object: StoredObject, old: StoredObject): StatusCause[] {
  const established = listAt(old, 'status.conditions').some(
    item => textAt(item, 'type') === 'Established' && textAt(item, 'status') === 'True',
  );
  const fixed = ['spec.group', 'spec.names.plural', ...(established ? ['spec.scope', 'spec.names.kind'] : [])];
  return fixed
    .filter(path => textAt(object, path) !== textAt(old, path))
    .map(path => cause.invalid(path, textAt(object, path), 'field is immutable'));
}
