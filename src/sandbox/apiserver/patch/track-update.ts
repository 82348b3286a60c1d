import { isRecord } from '#base/fields.ts';
import { apiVersionOf, type Resource } from '#kube/resource.ts';
import { builtInType, emptyObject } from './built-in-types.ts';
import type { MergeType } from './merge-type.ts';
import { capUpdaters, type Manager, managerId, parseManagers, printManagers } from './managers.ts';
import { fittedFields } from './owned-fields.ts';
import { compareWithin, disown, ownable, reachOf } from './ownership.ts';
import { customType } from './schema-type.ts';

/** An object as JSON has it. */
export type Json = Record<string, unknown>;

/** Who changes an object of which kind, and by which way. */
export interface ChangeContext {
  resource: Resource;
  /** Empty for the object itself. */
  subresource: string;
  /** Whether the status is written by a subresource of its own. */
  statusApart: boolean;
  /** OpenAPI schema of a custom resource; undefined for a built-in kind. */
  schema: unknown;
  fieldManager: string;
  /** RFC 3339, to the second. */
  now: string;
}

/**
 * Writes into metadata.managedFields who owns what after a create, a replace or a patch other than apply. `before` is
 * undefined for a create. The owners the client has sent count, unless there are none.
 */
export function trackUpdate(before: Json | undefined, after: Json, context: ChangeContext): Json {
  const managers = managersBefore(before, after, context.subresource);
  // Whoever took all owners away wants none until the next apply.
  if (managers.length === 0 && before !== undefined) return withManagers(after, []);
  return withManagers(after, capUpdaters(updatedManagers(managers, before, after, context)));
}

/** The owners after a change by an updater. */
export function updatedManagers(
  managers: readonly Manager[],
  before: Json | undefined,
  after: Json,
  context: ChangeContext,
): Manager[] {
  const { resource, subresource, statusApart, fieldManager, now } = context;
  const self = {
    name: fieldManager,
    operation: 'Update',
    apiVersion: apiVersionOf(resource),
    subresource,
  } as const;
  const start =
    before ?? (context.schema === undefined ? emptyObject(resource.group, resource.kind) : { metadata: {} });
  const reach = reachOf(subresource, statusApart);
  const type = typeOf(context);
  const comparison = compareWithin(reach, type, withoutManagers(start), withoutManagers(after));
  const mine = ownable(comparison.modified.union(comparison.added));
  const others = disown(fittedManagers(type, start, managers), '', comparison);
  if (mine.isEmpty) return others;
  const previous = others.find(manager => managerId(manager) === managerId(self));
  const updated = { ...self, time: now, fields: previous === undefined ? mine : mine.union(previous.fields) };
  return [...others.filter(manager => manager !== previous), updated];
}

/** Managers with their fields in terms of the type as it is now. */
export function fittedManagers(type: MergeType, object: Json, managers: readonly Manager[]): Manager[] {
  return managers.map(manager => ({ ...manager, fields: fittedFields(type, object, manager.fields) }));
}

/** How objects of the kind are merged. */
export function typeOf({ resource, schema }: ChangeContext): MergeType {
  return schema === undefined ? builtInType(resource.group, resource.kind) : customType(schema);
}

export function withManagers(object: Json, managers: readonly Manager[]): Json {
  const bare = withoutManagers(object);
  if (managers.length === 0) return bare;
  return { ...bare, metadata: { ...(bare['metadata'] as Json), managedFields: printManagers(managers) } };
}

export function withoutManagers(object: Json): Json {
  const { metadata } = object;
  if (!isRecord(metadata) || !Object.hasOwn(metadata, 'managedFields')) return object;
  const entries = Object.entries(metadata).filter(([name]) => name !== 'managedFields');
  return { ...object, metadata: Object.fromEntries(entries) };
}

export function managersOf(object: Json | undefined): Manager[] | undefined {
  const metadata = object?.['metadata'];
  return isRecord(metadata) ? parseManagers(metadata['managedFields']) : [];
}

function managersBefore(before: Json | undefined, after: Json, subresource: string): Manager[] {
  const live = managersOf(before) ?? [];
  if (subresource !== '') return live;
  if (isReset(after)) return [];
  const sent = managersOf(after) ?? [];
  return sent.length === 0 ? live : sent;
}

/** An empty list, or one empty entry, takes all owners away. */
function isReset({ metadata }: Json): boolean {
  const sent = isRecord(metadata) ? metadata['managedFields'] : undefined;
  if (!Array.isArray(sent) || sent.length > 1) return false;
  return sent.length === 0 || (isRecord(sent[0]) && Object.keys(sent[0]).length === 0);
}
