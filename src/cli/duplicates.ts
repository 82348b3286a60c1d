import { isDeepStrictEqual } from 'node:util';
import { AppError } from '#base/errors.ts';
import { type KubeObject, objectLabel } from '#contract/object.ts';

interface PlacedValue {
  value: unknown;
  /** File, document and item. */
  place: string;
}

/** The first object of each group, kind, namespace and name. */
export type FirstOfName = Map<string, PlacedValue>;

/** No command uses objects of OLM, and `examples/olm` has alternatives. */
const olmGroup = 'operators.coreos.com';

/** Remembers a new object; for another one of the same name, whether its content is the same. */
export function compareWithFirst(seen: FirstOfName, object: KubeObject, found: PlacedValue): 'new' | 'same' | AppError {
  const { kind, meta } = object;
  if (meta.name === '' || groupOf(object) === olmGroup) return 'new';
  const key = JSON.stringify([groupOf(object), kind, meta.namespace, meta.name]);
  const first = seen.get(key);
  if (first === undefined) {
    seen.set(key, found);
    return 'new';
  }
  if (isDeepStrictEqual(first.value, found.value)) return 'same';
  const label = objectLabel(kind, meta);
  return new AppError('INPUT_DUPLICATE', `${label} differs in ${first.place} and ${found.place}; the first is used`, {
    remedy: 'Pass only the file with the current content, or remove one of the two objects.',
  });
}

function groupOf({ apiVersion }: KubeObject): string {
  return apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';
}
