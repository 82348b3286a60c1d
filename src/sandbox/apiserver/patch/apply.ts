import { isRecord } from '#base/fields.ts';
import { apiVersionOf } from '#kube/resource.ts';
import { badRequest, internal, StatusError } from '../status.ts';
import { problemOf } from './check-applied.ts';
import { FieldSet, printPath } from './field-set.ts';
import { allowedByLastApplied, lastAppliedManager, withLastApplied } from './last-applied.ts';
import { type Manager, managerId, printManager } from './managers.ts';
import { mergeValues, removeFields } from './merge-values.ts';
import type { MergeType } from './merge-type.ts';
import { fieldsOf, withNamedFields } from './owned-fields.ts';
import { compareWithin, conflictsOf, disown, ownable, reachOf } from './ownership.ts';
import {
  type ChangeContext,
  fittedManagers,
  type Json,
  managersOf,
  typeOf,
  updatedManagers,
  withManagers,
  withoutManagers,
} from './track-update.ts';

export interface ApplyContext extends ChangeContext {
  /** Takes over fields that others own, instead of failing with a conflict. */
  force: boolean;
}

/**
 * Server-side apply: the object with everything the configuration says, and without what the same manager said before and
 * does not say any more, unless somebody else owns it too. Fails with 409 when a field that others own would change.
 */
export function applyConfiguration(current: Json | undefined, body: unknown, context: ApplyContext): Json {
  const type = typeOf(context);
  const config = checkedConfiguration(body, type, context);
  const live = withoutManagers(current ?? { apiVersion: config['apiVersion'], kind: config['kind'], metadata: {} });
  const managers = fittedManagers(type, live, startingManagers(current, live, context));
  const applier = applierOf(context);
  const id = managerId(applier);
  const last = managers.find(manager => managerId(manager) === id);
  const others = managers.filter(manager => manager !== last);
  const reach = reachOf(context.subresource, context.statusApart);
  const claimed = fieldsOf(type, config).filter(reach);
  const merged = mergeValues(type, live, config) as Json;
  const owned = others.reduce((all, { fields }) => all.union(fields), claimed);
  const next = last === undefined ? merged : prune(type, merged, last.fields, owned);
  const comparison = compareWithin(reach, type, live, next);
  if (!context.force) refuseConflicts(conflictsOf(others, id, comparison), context, { type, live });
  const isSame = Object.values(comparison).every(({ isEmpty }) => isEmpty);
  const time = isSame ? (last?.time ?? context.now) : context.now;
  const mine = [{ ...applier, time, fields: ownable(claimed) }].filter(({ fields }) => !fields.isEmpty);
  const result = withManagers(next, [...disown(others, id, comparison), ...mine]);
  return context.fieldManager === lastAppliedManager ? withLastApplied(result, config) : result;
}

function applierOf({ resource, subresource, fieldManager }: ApplyContext): Omit<Manager, 'time' | 'fields'> {
  return { name: fieldManager, operation: 'Apply', apiVersion: apiVersionOf(resource), subresource };
}

function checkedConfiguration(body: unknown, type: MergeType, { resource }: ApplyContext): Json {
  if (!isRecord(body)) throw badRequest('error decoding YAML: an applied configuration must be an object');
  const expected = apiVersionOf(resource);
  const { apiVersion, kind, metadata } = body;
  if (apiVersion !== expected) {
    const given = typeof apiVersion === 'string' ? apiVersion : '';
    throw badRequest(
      `Incorrect version specified in apply patch. Specified patch version: ${given}, expected: ${expected}`,
    );
  }
  if (kind !== resource.kind) {
    const given = typeof kind === 'string' ? kind : '';
    throw badRequest(
      `Incorrect kind specified in apply patch. Specified patch kind: ${given}, expected: ${resource.kind}`,
    );
  }
  if (isRecord(metadata) && (metadata['managedFields'] ?? undefined) !== undefined) {
    throw badRequest('metadata.managedFields must be nil');
  }
  const problem = problemOf(type, body);
  if (problem !== undefined) throw internal(`failed to create typed patch object: ${problem}`);
  return body;
}

/** What an object without owners holds belongs to nobody in particular, but an applier must not take it unasked. */
function startingManagers(current: Json | undefined, live: Json, context: ApplyContext): Manager[] {
  const managers = managersOf(current);
  if (managers === undefined) throw internal('failed to decode managed fields');
  if (managers.length > 0 || current === undefined) return managers;
  const whole = { ...context, fieldManager: 'before-first-apply', subresource: '', statusApart: false };
  return updatedManagers([], undefined, live, whole);
}

/** Takes away what the manager has owned and nobody owns any more. What nobody owned before stays. */
function prune(type: MergeType, merged: Json, last: FieldSet, owned: FieldSet): Json {
  const named = (set: FieldSet): FieldSet => withNamedFields(type, set);
  const mergedFields = named(fieldsOf(type, merged));
  const without = (set: FieldSet): Json => removeFields(type, merged, set) as Json;
  const fieldsLeft = (object: Json): FieldSet => named(fieldsOf(type, object));
  const pruned = without(mergedFields.difference(fieldsLeft(without(named(last))).union(named(owned))));
  return without(mergedFields.difference(fieldsLeft(pruned)).intersection(named(last)));
}

function refuseConflicts(
  conflicts: readonly { manager: Manager; fields: FieldSet }[],
  context: ApplyContext,
  { type, live }: { type: MergeType; live: Json },
): void {
  const apiVersion = apiVersionOf(context.resource);
  const allowed =
    context.fieldManager === lastAppliedManager ? allowedByLastApplied(type, live, apiVersion) : FieldSet.empty;
  const refused = conflicts
    .map(({ manager, fields }) => ({
      who: printManager(manager),
      paths: fields.difference(allowed).paths().map(printPath),
    }))
    .filter(({ paths }) => paths.length > 0);
  if (refused.length === 0) return;
  const causes = refused.flatMap(({ who, paths }) =>
    paths.map(field => ({ reason: 'FieldManagerConflict', message: `conflict with ${who}`, field })),
  );
  throw new StatusError({ code: 409, reason: 'Conflict', message: conflictMessage(refused), details: { causes } });
}

function conflictMessage(refused: readonly { who: string; paths: readonly string[] }[]): string {
  const count = refused.reduce((sum, { paths }) => sum + paths.length, 0);
  if (count === 1) return `Apply failed with 1 conflict: conflict with ${refused[0]?.who}: ${refused[0]?.paths[0]}`;
  const lines = refused.flatMap(({ who, paths }) => [`conflicts with ${who}:`, ...paths.map(path => `- ${path}`)]);
  return `Apply failed with ${count} conflicts: ${lines.join('\n')}`;
}
