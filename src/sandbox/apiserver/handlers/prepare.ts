import type { StatusCause } from '#kube/api-error.ts';
import type { Call, Core } from '../core.ts';
import type { StoredObject } from '../ports.ts';

/** The object with defaults and without unknown fields, and everything that is wrong with its content. */
export function validateContent(
  core: Core,
  call: Call,
  object: StoredObject,
  old: StoredObject | undefined,
): { object: StoredObject; causes: StatusCause[] } {
  const { kind, subresource } = call;
  if (kind.schema === undefined) return { object, causes: kind.check(object, old, subresource) };
  const checked = core.schemas.validateAndPrune(kind.schema, object);
  return { object: checked.object, causes: [...checked.causes, ...kind.check(checked.object, old, subresource)] };
}
