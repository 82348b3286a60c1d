/** How strategic merge patch merges the values at one place of an object of a built-in kind. */
export type MergeType = PlainType | ReplacedType | ObjectType | ListType;

/** As merge patch does: objects are merged member by member, everything else is replaced. */
export interface PlainType {
  is: 'plain';
}

/** Even an object is replaced as a whole. */
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
  /** The member by which items are matched, empty for scalars. */
  mergeBy: string;
}

export const plain: PlainType = { is: 'plain' };

export function memberType(type: MergeType, name: string): MergeType {
  const fields = type.is === 'object' ? type.fields : {};
  return (Object.hasOwn(fields, name) ? fields[name] : undefined) ?? plain;
}
