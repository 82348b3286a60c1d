import { isRecord } from '#base/fields.ts';

/**
 * How the values at one place of an object are merged by strategic merge patch and owned by managers of server-side apply.
 * Made from a table for built-in kinds and from the schema for custom resources.
 */
export type MergeType = LeafType | FreeType | ObjectType | ListType;

/** Belongs together whatever it holds, such as a selector. */
export interface LeafType {
  is: 'leaf';
  /** Whether even strategic merge patch replaces it as a whole. */
  replaced?: true;
}

/** The value decides: objects are merged member by member, everything else belongs together. */
export interface FreeType {
  is: 'free';
  /** Whether members of such objects are fields of a type, or keys of a map that somebody chose. */
  named: boolean;
}

export interface ObjectType {
  is: 'object';
  fields: Readonly<Record<string, MergeType>>;
  /** For members that are not among the fields; undefined where there may be none. */
  others: MergeType | undefined;
}

/** A list of items that are told apart by keys; other lists are leaves. */
export interface ListType {
  is: 'list';
  item: MergeType;
  /** Members that make an item unique; none for a set of scalars. */
  keys: readonly string[];
  /** Values of keys that an item may leave out. */
  defaults?: Readonly<Record<string, unknown>>;
  /** The one member by which strategic merge patch finds items, empty for scalars; absent where it replaces the list. */
  mergeBy?: string;
}

export const leaf: LeafType = { is: 'leaf' };

/** The type of a member, and whether its name is that of a field. Undefined for a member that may not be there. */
export function memberType(type: MergeType, name: string): { type: MergeType; named: boolean } | undefined {
  if (type.is === 'free') return { type, named: type.named };
  if (type.is !== 'object') return { type: leaf, named: true };
  const field = Object.hasOwn(type.fields, name) ? type.fields[name] : undefined;
  if (field !== undefined) return { type: field, named: true };
  if (type.others === undefined) return undefined;
  return { type: type.others, named: type.others.is === 'free' && type.others.named };
}

export type Form = 'leaf' | 'object' | 'list';

/** What a value is under a type. A value that does not fit its type belongs together; null counts as an empty container. */
export function formOf(type: MergeType, value: unknown): Form {
  const absent = value === null || value === undefined;
  if (type.is === 'list') return absent || Array.isArray(value) ? 'list' : 'leaf';
  if (type.is === 'object') return absent || isRecord(value) ? 'object' : 'leaf';
  return type.is === 'free' && isRecord(value) ? 'object' : 'leaf';
}
