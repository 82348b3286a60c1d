import { isRecord } from '#base/fields.ts';
import { FieldSet } from './field-set.ts';
import { formOf, type MergeType } from './merge-type.ts';
import { type Child, childrenOf, typeBelow } from './value-steps.ts';

/** The paths somebody lays claim to by applying a value: its leaves, the items of its lists and the keys of its maps. */
export function fieldsOf(type: MergeType, value: unknown): FieldSet {
  const form = formOf(type, value);
  const children = childrenOf(type, form, value);
  return FieldSet.of(
    children.filter(child => !child.named || isClaim(child)).map(({ step }) => step),
    children.map(child => [child.step, fieldsOf(child.type, child.value)] as const),
  );
}

/** An object without members can be claimed only as such. */
function isClaim({ type, value }: Child): boolean {
  return formOf(type, value) === 'leaf' || value === null || (isRecord(value) && Object.keys(value).length === 0);
}

/** The set with every field of a type below which something is owned, so that an object left empty goes with its content. */
export function withNamedFields(type: MergeType, set: FieldSet): FieldSet {
  return set.map((step, { member, below }) => {
    const child = typeBelow(type, step);
    return { member: member || (child.named && !below.isEmpty), below: withNamedFields(child.type, below) };
  });
}

/**
 * The set in terms of a type that may have changed since it was written: who owned a part of something that now belongs
 * together owns the whole; who owned the whole of something that now has parts owns all of them.
 */
export function fittedFields(type: MergeType, value: unknown, set: FieldSet): FieldSet {
  const children = new Map(childrenOf(type, formOf(type, value), value).map(child => [child.step, child]));
  return set.map((step, { member, below }) => {
    const child = { ...typeBelow(type, step), value: children.get(step)?.value };
    if (child.type.is === 'free' && !child.type.named) return { member, below };
    if (child.type.is === 'leaf') return { member: true, below: FieldSet.empty };
    const whole = member && below.isEmpty;
    return { member, below: whole ? fieldsOf(child.type, child.value) : fittedFields(child.type, child.value, below) };
  });
}
