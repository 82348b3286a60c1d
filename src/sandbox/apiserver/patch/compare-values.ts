import { sameData } from '#base/compare.ts';
import { FieldSet } from './field-set.ts';
import { formOf, type MergeType } from './merge-type.ts';
import { type Child, childrenOf } from './value-steps.ts';

/** Where two values differ. Of what came or went, every level is listed; of what changed, only the leaf. */
export interface Comparison {
  added: FieldSet;
  removed: FieldSet;
  modified: FieldSet;
}

export function compareValues(type: MergeType, before: unknown, after: unknown): Comparison {
  const children = (value: unknown): Child[] => childrenOf(type, formOf(type, value), value);
  const pairs = pairUp(children(before), children(after));
  const compared = pairs.map(pair => ({ ...pair, inner: compareValues(pair.type, pair.before, pair.after) }));
  const setOf = (applies: (pair: Pair) => boolean, part: keyof Comparison): FieldSet =>
    FieldSet.of(
      compared.filter(applies).map(({ step }) => step),
      compared.map(({ step, inner }) => [step, inner[part]] as const),
    );
  return {
    added: setOf(pair => pair.before === undefined, 'added'),
    removed: setOf(pair => pair.after === undefined, 'removed'),
    modified: setOf(isModifiedLeaf, 'modified'),
  };
}

interface Pair {
  step: string;
  type: MergeType;
  before: unknown;
  after: unknown;
}

function pairUp(before: readonly Child[], after: readonly Child[]): Pair[] {
  const pairs = new Map<string, Pair>();
  for (const { step, type, value } of before) pairs.set(step, { step, type, before: value, after: undefined });
  for (const { step, type, value } of after) {
    pairs.set(step, { step, type, before: pairs.get(step)?.before, after: value });
  }
  return [...pairs.values()];
}

function isModifiedLeaf({ type, before, after }: Pair): boolean {
  if (before === undefined || after === undefined) return false;
  const forms = [formOf(type, before), formOf(type, after)];
  const isLeaf = forms.includes('leaf') || (isEmpty(before) && isEmpty(after));
  return isLeaf && !sameData(before, after);
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && (value === null || Object.keys(value).length === 0);
}
