/** How strategic merge patch treats a value. */
export type MergeType = PlainType | ReplacedType | ObjectType | ListType;

/** Like a merge patch. */
export interface PlainType {
  is: 'plain';
}

/** Replaced, even if it is an object. */
export interface ReplacedType {
  is: 'replaced';
}

export interface ObjectType {
  is: 'object';
  /** Other members are plain. */
  fields: Readonly<Record<string, MergeType>>;
}

export interface ListType {
  is: 'list';
  item: MergeType;
  /** Merge key; empty for scalars. */
  mergeBy: string;
}

export const plain: PlainType = { is: 'plain' };

export function memberType(type: MergeType, name: string): MergeType {
  const fields = type.is === 'object' ? type.fields : {};
  return (Object.hasOwn(fields, name) ? fields[name] : undefined) ?? plain;
}
