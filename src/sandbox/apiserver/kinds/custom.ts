import { isAppError } from '#base/errors.ts';
import { evaluateJsonPath } from '#kube/jsonpath/evaluate.ts';
import { type JsonPath, parseJsonPath } from '#kube/jsonpath/parse.ts';
import { type Column, defineKind, type Kind, scaleSubresource, splitStatus, statusSubresource } from '../kind.ts';
import { listAt, memberAt, numberAt, textAt, withMember } from '../object.ts';
import type { StoredObject } from '../ports.ts';
import { ageColumn, ageOf, nameColumn } from './columns.ts';

/** One kind for each served version, the preferred one first. */
export function customKinds(crd: StoredObject): Kind[] {
  return listAt(crd, 'spec.versions')
    .filter(version => memberAt(version, 'served') === true)
    .toSorted((one, other) => compareVersions(textAt(one, 'name'), textAt(other, 'name')))
    .map(version => customKind(crd, version));
}

/** Sort order of versions: v2, v1, v2beta1, v1beta2, v1alpha1, then others by name. */
export function compareVersions(one: string, other: string): number {
  const [a, b] = [versionRank(one), versionRank(other)];
  for (const [index, rank] of a.entries()) {
    const difference = (b[index] ?? 0) - rank;
    if (difference !== 0) return difference;
  }
  return one < other ? -1 : Number(one > other);
}

function versionRank(version: string): number[] {
  const match = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version);
  if (match === null) return [0, 0, 0];
  const stability = match[2] === undefined ? 3 : match[2] === 'beta' ? 2 : 1;
  return [stability, Number(match[1]), Number(match[3] ?? 0)];
}

function customKind(crd: StoredObject, version: unknown): Kind {
  const [group, plural] = [textAt(crd, 'spec.group'), textAt(crd, 'spec.names.plural')];
  const storing = listAt(crd, 'spec.versions').find(item => memberAt(item, 'storage') === true);
  const storedVersion = `${group}/${textAt(storing, 'name')}`;
  const hasStatus = memberAt(version, 'subresources.status') !== undefined;
  const scale = scaleIn(version);
  return defineKind({
    group,
    version: textAt(version, 'name'),
    plural,
    kind: textAt(crd, 'spec.names.kind'),
    namespaced: textAt(crd, 'spec.scope') === 'Namespaced',
    singular: textAt(crd, 'spec.names.singular'),
    shortNames: listAt(crd, 'spec.names.shortNames').map(String),
    categories: listAt(crd, 'spec.names.categories').map(String),
    subresources: [...(hasStatus ? [statusSubresource] : []), ...(scale === undefined ? [] : [scaleSubresource])],
    scale,
    countsGenerations: true,
    updatesUnconditionally: false,
    custom: true,
    stores: version === storing,
    schema: memberAt(version, 'schema.openAPIV3Schema'),
    columns: [nameColumn, ...columnsOf(version)],
    prepareCreate: object => (hasStatus ? withMember(object, 'status', undefined) : object),
    prepareUpdate: (next, old, subresource) => {
      if (!hasStatus) return next;
      // The status subresource of a custom resource changes only the status.
      const { resourceVersion } = next.metadata;
      const metadata = { ...old.metadata, ...(resourceVersion !== undefined && { resourceVersion }) };
      return splitStatus(subresource === '' ? next : { ...next, metadata }, old, subresource);
    },
    toStored: object => ({ ...object, apiVersion: storedVersion }),
  });
}

/** Paths begin with a dot. */
function scaleIn(version: unknown): Kind['scale'] {
  if (memberAt(version, 'subresources.scale') === undefined) return undefined;
  const path = (name: string) => textAt(version, `subresources.scale.${name}`).slice(1);
  return {
    specReplicas: path('specReplicasPath'),
    statusReplicas: path('statusReplicasPath'),
    selector: path('labelSelectorPath'),
  };
}

function columnsOf(version: unknown): Column[] {
  const columns = listAt(version, 'additionalPrinterColumns');
  return columns.length === 0 ? [{ ...ageColumn, type: 'date' }] : columns.map(columnOf);
}

function columnOf(column: unknown): Column {
  const [name, type, path] = ['name', 'type', 'jsonPath'].map(member => textAt(column, member));
  const parsed = parsePath(path ?? '');
  return {
    name: name ?? '',
    type: (type || 'string') as Column['type'],
    format: textAt(column, 'format'),
    priority: numberAt(column, 'priority'),
    description: textAt(column, 'description') || `Custom resource definition column (in JSONPath format): ${path}`,
    cell: (object, now) => cellOf(parsed, type ?? '', object, now),
  };
}

function parsePath(path: string): JsonPath | undefined {
  try {
    return parseJsonPath(`{${path}}`);
  } catch (error) {
    if (isAppError(error)) return undefined;
    throw error;
  }
}

function cellOf(path: JsonPath | undefined, type: string, object: StoredObject, now: number): unknown {
  if (path === undefined) return null;
  const [value] = evaluateJsonPath(path, object, 'skip').flat();
  if (value === undefined || value === null) return null;
  if (type === 'date') return typeof value === 'string' ? ageOf(value, now) : '<invalid>';
  if (type === 'integer' || type === 'number') return typeof value === 'number' ? value : null;
  if (type === 'boolean') return typeof value === 'boolean' ? value : null;
  return typeof value === 'string' ? value : JSON.stringify(value);
}
