import { timestamp } from '#base/clock.ts';
import type { StatusCause } from '#kube/api-error.ts';
import type { Call, Core } from '../core.ts';
import { type ChangeContext, trackUpdate } from '../patch/track-update.ts';
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

/** Notes in the metadata who owns which field; an apply has already done so. */
export function trackManagers(
  core: Core,
  call: Call,
  object: StoredObject,
  old: StoredObject | undefined,
): StoredObject {
  if (call.applies) return object;
  return trackUpdate(old, object, changeContext(core, call)) as StoredObject;
}

export function changeContext(core: Core, { kind, subresource, fieldManager }: Call): ChangeContext {
  return {
    resource: kind,
    subresource,
    statusApart: kind.subresources.some(({ name }) => name === 'status'),
    schema: kind.schema,
    fieldManager,
    now: timestamp(core.clock.now()),
  };
}
