import { isRecord } from '#base/fields.ts';
import type { StatusCause } from '#kube/api-error.ts';
import { defineKind, type Kind, statusSubresource } from '../kind.ts';
import { hasCondition, listAt, memberAt, recordAt, textAt } from '../object.ts';
import type { StoredObject } from '../ports.ts';
import { isTooDeep } from '../patch/depth.ts';
import { cause } from '../status.ts';
import { createdColumn, nameColumn } from './columns.ts';

export const cleanupFinalizer = 'customresourcecleanup.apiextensions.k8s.io';

export const crdKind: Kind = defineKind({
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
  check: (object, old) => [...crdCauses(object), ...(old === undefined ? [] : changeCauses(object, old))],
  // A CRD always waits for its objects to be deleted.
  deletionBlockers: ({ metadata }) =>
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

/** Checks only what this server relies on; the schema itself is not checked, because CRDs are tested on a real server. */
function crdCauses(crd: StoredObject): StatusCause[] {
  const versions = listAt(crd, 'spec.versions');
  const storing = versions.filter(version => memberAt(version, 'storage') === true);
  const name = `${textAt(crd, 'spec.names.plural')}.${textAt(crd, 'spec.group')}`;
  const schemas = versions.map(version => memberAt(version, 'schema.openAPIV3Schema'));
  const scope = textAt(crd, 'spec.scope');
  const missing = ['plural', 'singular', 'kind', 'listKind'].map(member => `spec.names.${member}`);
  return [
    ...(crd.metadata.name === name
      ? []
      : [cause.invalid('metadata.name', crd.metadata.name, 'must be spec.names.plural+"."+spec.group')]),
    ...(scopes.includes(scope) ? [] : [cause.unsupported('spec.scope', scope, scopes)]),
    ...missing.filter(path => textAt(crd, path) === '').map(path => cause.required(path)),
    ...(storing.length === 1
      ? []
      : [cause.invalid('spec.versions', versions, 'must have exactly one version marked as storage version')]),
    ...schemas.flatMap((schema, index) => schemaCauses(schema, `spec.versions[${index}].schema.openAPIV3Schema`)),
  ];
}

const scopes = ['Cluster', 'Namespaced'];

function schemaCauses(schema: unknown, path: string): StatusCause[] {
  if (!isRecord(schema)) return [cause.required(path)];
  return isTooDeep(schema) ? [cause.forbidden(path, 'must not have so many levels')] : [];
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

/** Adds a new storage version to status.storedVersions. */
function storedStatus(next: StoredObject, old: StoredObject): unknown {
  const before = listAt(old, 'status.storedVersions').map(String);
  const storing = listAt(next, 'spec.versions')
    .filter(version => memberAt(version, 'storage') === true)
    .map(version => textAt(version, 'name'));
  return { ...recordAt(old, 'status'), storedVersions: [...new Set([...before, ...storing])] };
}

function changeCauses(object: StoredObject, old: StoredObject): StatusCause[] {
  const established = hasCondition(old, 'Established', 'True');
  const fixed = ['spec.group', 'spec.names.plural', ...(established ? ['spec.scope', 'spec.names.kind'] : [])];
  return fixed
    .filter(path => textAt(object, path) !== textAt(old, path))
    .map(path => cause.invalid(path, textAt(object, path), 'field is immutable'));
}
