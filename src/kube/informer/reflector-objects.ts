import { apiVersionOf, type KubeResource, type Resource } from '../resource.ts';

/**
 * Prepares an object for a store: adds apiVersion and kind, which lists omit; removes managedFields, a fifth of the
 * memory; freezes all members. Modifies the object. Undefined for an object without a name.
 */
export function prepareObject<T extends KubeResource>(resource: Resource<T>, object: T): T | undefined {
  const metadata = object?.metadata as (T['metadata'] & { managedFields?: unknown }) | undefined;
  if (typeof metadata?.name !== 'string' || metadata.name === '') return undefined;
  if (Object.isFrozen(object)) return object;
  object.apiVersion ??= apiVersionOf(resource);
  object.kind ??= resource.kind;
  delete metadata.managedFields;
  freeze(object);
  return object;
}

/** Without recursion: a custom resource may be nested deeper than the stack allows. */
function freeze(root: object): void {
  const waiting: object[] = [root];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    Object.freeze(next);
    for (const value of Object.values(next)) {
      if (typeof value === 'object' && value !== null) waiting.push(value);
    }
  }
}
