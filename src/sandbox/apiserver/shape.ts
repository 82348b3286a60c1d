import { fromBase64 } from '#base/bytes.ts';
import { isRecord } from '#base/fields.ts';

/**
 * Fields of a built-in kind: a type, a list of one shape, or members by name. Other members are dropped, as the
 * API server drops unknown fields; below `any` and `object` everything is kept.
 */
export type Shape = keyof typeof leaves | readonly [Shape] | { readonly [member: string]: Shape };

const leaves = {
  any: () => true,
  object: isRecord,
  string: (value: unknown) => typeof value === 'string',
  boolean: (value: unknown) => typeof value === 'boolean',
  integer: (value: unknown) => Number.isSafeInteger(value),
  /** A number or a percentage. */
  intOrString: (value: unknown) => typeof value === 'string' || Number.isSafeInteger(value),
  strings: (value: unknown) => isRecord(value) && Object.values(value).every(item => typeof item === 'string'),
  base64: (value: unknown) =>
    isRecord(value) && Object.values(value).every(item => typeof item === 'string' && fromBase64(item) !== undefined),
  bytes: (value: unknown) => typeof value === 'string' && fromBase64(value) !== undefined,
  time: (value: unknown) => typeof value === 'string' && !Number.isNaN(Date.parse(value)),
};

/** A value of the wrong type. */
export class ShapeMismatch extends Error {}

/** Drops unknown members; throws for a value of the wrong type. */
export function fitShape(shape: Shape, value: unknown, path = ''): unknown {
  if (typeof shape === 'string') {
    if (!leaves[shape](value)) throw new ShapeMismatch(`${path}: expects ${shape}, but found ${kindOf(value)}`);
    return value;
  }
  if (Array.isArray(shape)) return fitList(shape[0] as Shape, value, path);
  if (!isRecord(value)) throw new ShapeMismatch(`${path}: expects an object, but found ${kindOf(value)}`);
  const members = shape as { readonly [member: string]: Shape };
  const fitting: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) {
    if (member === null || !Object.hasOwn(members, name)) continue;
    const fitted = fitShape(members[name] ?? 'any', member, path === '' ? name : `${path}.${name}`);
    if (!isEmptyCollection(members[name], fitted)) fitting[name] = fitted;
  }
  return fitting;
}

function fitList(item: Shape, value: unknown, path: string): unknown[] {
  if (!Array.isArray(value)) throw new ShapeMismatch(`${path}: expects a list, but found ${kindOf(value)}`);
  return value.map((member, index) => fitShape(item, member, `${path}[${index}]`));
}

/** Drops empty lists and maps, but not empty objects. */
function isEmptyCollection(shape: Shape | undefined, value: unknown): boolean {
  const collection = shape === 'strings' || shape === 'base64' || Array.isArray(shape);
  return collection && Object.keys(value as object).length === 0;
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  return value === null ? 'null' : typeof value;
}
