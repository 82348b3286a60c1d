import { isRecord } from '#base/fields.ts';
import type { StatusCause } from '#kube/api-error.ts';
import type { StoredObject } from '../ports.ts';
import { fillDefaults } from './fill-defaults.ts';
import { listTypeCauses } from './list-types.ts';
import { prune } from './prune.ts';
import { headMembers, type Schema } from './schema.ts';
import { validate } from './validate.ts';

/** Prunes, sets defaults, then validates, in the order of the API server. */
export function validateAndPrune(
  schema: unknown,
  object: StoredObject,
): { object: StoredObject; causes: StatusCause[] } {
  const root: Schema = isRecord(schema) ? schema : {};
  const { head, body } = split(object);
  const content = fillDefaults(root, prune(root, body)) as Record<string, unknown>;
  const result = { ...head, ...content } as StoredObject;
  const causes = [...validate(root, result, ''), ...listTypeCauses(root, content, '')];
  return { object: result, causes };
}

/** The metadata of the object itself is validated like that of every kind. */
function split(object: StoredObject): { head: Record<string, unknown>; body: Record<string, unknown> } {
  const entries = Object.entries(object);
  const isHead = ([name]: [string, unknown]): boolean => headMembers.includes(name);
  return {
    head: Object.fromEntries(entries.filter(isHead)),
    body: Object.fromEntries(entries.filter(entry => !isHead(entry))),
  };
}
