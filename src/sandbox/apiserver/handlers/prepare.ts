import type { StatusCause } from '#kube/api-error.ts';
import type { Call } from '../core.ts';
import type { StoredObject } from '../ports.ts';
import { validateAndPrune } from '../schema/schema-validator.ts';

/** Sets defaults, prunes and validates. */
export function validateContent(
  call: Call,
  object: StoredObject,
  old: StoredObject | undefined,
): { object: StoredObject; causes: StatusCause[] } {
  const { kind, subresource } = call;
  if (kind.schema === undefined) return { object, causes: kind.check(object, old, subresource) };
  const checked = validateAndPrune(kind.schema, object);
  return { object: checked.object, causes: [...checked.causes, ...kind.check(checked.object, old, subresource)] };
}
