import { apiVersionOf, type KubeResource, type Resource } from '../resource.ts';

/**
 * Makes an object fit for a store: with apiVersion and kind, which servers leave out in lists; without managedFields, which
 * nobody reads and which take a fifth of the memory; and frozen to the last member. Undefined for what has no name and so
 * cannot be stored. Changes the object itself.
 */
export function admit<T extends KubeResource>(resource: Resource<T>, object: T): T | undefined {
  const metadata = object?.metadata as (T['metadata'] & { managedFields?: unknown }) | undefined;
  if (typeof metadata?.name !== 'string' || metadata.name === '') return undefined;
  if (Object.isFrozen(object)) return object;
  object.apiVersion ??= apiVersionOf(resource);
  object.kind ??= resource.kind;
  delete metadata.managedFields;
  freeze(object);
  return object;
}

/** Without recursion, since a custom resource may be nested deeper than the stack. */
function freeze(root: object): void {
  const waiting: object[] = [root];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    Object.freeze(next);
    for (const value of Object.values(next)) {
      if (typeof value === 'object' && value !== null) waiting.push(value);
    }
  }
}
