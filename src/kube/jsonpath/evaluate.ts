import { byteOrder } from '#base/compare.ts';
import { AppError, isAppError, shown } from '#base/errors.ts';
import { isRecord } from '#base/fields.ts';
import type { FilterOperator, JsonPath, Literal, Segment, Step } from './parse.ts';

/** Whether a missing field is an error, or no value (as in `kubectl get`). */
export type MissingKeys = 'refuse' | 'skip';

/** The values of each segment of the template; plain text is its own value. */
export function evaluateJsonPath(path: JsonPath, data: unknown, missingKeys: MissingKeys = 'refuse'): unknown[][] {
  return evaluateSegments(path.segments, data, { template: path.template, missingKeys, visitsLeft: maxVisits });
}

/** Bounds the time for hostile templates, such as nested ranges. */
const maxVisits = 100_000;

interface Evaluation {
  template: string;
  missingKeys: MissingKeys;
  visitsLeft: number;
}

function evaluateSegments(segments: readonly Segment[], data: unknown, evaluation: Evaluation): unknown[][] {
  return segments.flatMap(segment => {
    visit(evaluation);
    if (segment.is === 'text') return [[segment.text]];
    if (segment.is === 'path') return [walk([data], segment.steps, evaluation)];
    return walk([data], segment.over, evaluation).flatMap(item => evaluateSegments(segment.body, item, evaluation));
  });
}

function walk(values: unknown[], steps: readonly Step[], evaluation: Evaluation): unknown[] {
  let current = values;
  for (const step of steps) {
    visit(evaluation, current.length);
    current = take[step.is](current, step as never, evaluation);
  }
  return current;
}

type Take<K> = (values: unknown[], step: Extract<Step, { is: K }>, evaluation: Evaluation) => unknown[];

const take: { [K in Step['is']]: Take<K> } = {
  literal: (_, step) => [step.value],
  field: selectField,
  every: (values, _, evaluation) => present(values).flatMap(value => counted(children(value), evaluation)),
  descend: (values, _, evaluation) => values.flatMap(value => descend(value, evaluation)),
  index: (values, step, evaluation) => lists(values, evaluation).map(list => elementAt(list, step.index, evaluation)),
  slice: (values, step, evaluation) => lists(values, evaluation).flatMap(list => slice(list, step, evaluation)),
  union: (values, step, evaluation) =>
    step.branches.flatMap(branch => counted(walk(values, branch, evaluation), evaluation)),
  exists: (values, step, evaluation) =>
    lists(values, evaluation).flatMap(list => list.filter(item => exists(item, step.path, evaluation))),
  filter: (values, step, evaluation) =>
    lists(values, evaluation).flatMap(list => list.filter(item => passes(item, step, evaluation))),
};

function selectField(values: unknown[], { name }: { name: string }, evaluation: Evaluation): unknown[] {
  const found = values.filter(isRecord).filter(value => Object.hasOwn(value, name));
  if (found.length === 0 && values.length > 0 && evaluation.missingKeys === 'refuse') {
    throw noValue(evaluation, `${shown(name)} is not found`);
  }
  return found.map(value => value[name]);
}

/** Members sorted by name, so that equal objects have equal results. */
function children(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  return isRecord(value)
    ? Object.keys(value)
        .sort(byteOrder)
        .map(key => value[key])
    : [];
}

/** The value and everything below it that has members, parents first. */
function descend(root: unknown, evaluation: Evaluation): unknown[] {
  const found: unknown[] = [];
  const open = [root];
  while (open.length > 0) {
    const value = open.pop();
    visit(evaluation);
    const below = children(value);
    if (below.length === 0) continue;
    found.push(value);
    for (const child of below.toReversed()) open.push(child);
  }
  return found;
}

function present(values: unknown[]): unknown[] {
  return values.filter(value => value !== null && value !== undefined);
}

function lists(values: unknown[], evaluation: Evaluation): unknown[][] {
  return present(values).map(value => {
    if (!Array.isArray(value)) throw noValue(evaluation, `${shown(value)} is not a list`);
    return counted(value, evaluation);
  });
}

function elementAt(list: unknown[], index: number, evaluation: Evaluation): unknown {
  const at = index < 0 ? index + list.length : index;
  if (at >= 0 && at < list.length) return list[at];
  throw noValue(evaluation, `index ${index} is outside of a list of length ${list.length}`);
}

function slice(list: unknown[], bounds: Extract<Step, { is: 'slice' }>, evaluation: Evaluation): unknown[] {
  const from = bounds.from < 0 ? bounds.from + list.length : bounds.from;
  const end = bounds.to ?? list.length;
  const to = end < 0 ? end + list.length : end;
  if (bounds.step < 1) throw noValue(evaluation, `the step of a slice is ${bounds.step}, not 1 or more`);
  if (from === to) return [];
  if (from < 0 || to > list.length || from > to) {
    throw noValue(evaluation, `slice ${bounds.from}:${end} is outside of a list of length ${list.length}`);
  }
  return list.slice(from, to).filter((_, index) => index % bounds.step === 0);
}

function exists(item: unknown, path: readonly Step[], evaluation: Evaluation): boolean {
  try {
    return walk([item], path, evaluation).length > 0;
  } catch (error) {
    if (isAppError(error, 'JSONPATH_NO_VALUE') && evaluation.visitsLeft >= 0) return false;
    throw error;
  }
}

function passes(item: unknown, step: Extract<Step, { is: 'filter' }>, evaluation: Evaluation): boolean {
  const [left, right] = [step.left, step.right].map(path => walk([item], path, evaluation));
  if (left === undefined || right === undefined || left.length === 0 || right.length === 0) return false;
  if (left.length > 1 || right.length > 1) throw noValue(evaluation, 'a filter compares more than one value');
  return compare(left[0], step.operator, right[0], evaluation);
}

function compare(left: unknown, operator: FilterOperator, right: unknown, evaluation: Evaluation): boolean {
  if (!isLiteral(left) || !isLiteral(right) || typeof left !== typeof right) {
    throw noValue(evaluation, `${shown(left)} cannot be compared with ${shown(right)}`);
  }
  const order = typeof left === 'string' ? byteOrder(left, String(right)) : Number(left) - Number(right);
  return orders[operator](order);
}

const orders: Record<FilterOperator, (order: number) => boolean> = {
  '==': order => order === 0,
  '!=': order => order !== 0,
  '<': order => order < 0,
  '<=': order => order <= 0,
  '>': order => order > 0,
  '>=': order => order >= 0,
};

function isLiteral(value: unknown): value is Literal {
  return ['string', 'number', 'boolean'].includes(typeof value);
}

function counted(values: unknown[], evaluation: Evaluation): unknown[] {
  visit(evaluation, values.length);
  return values;
}

function visit(evaluation: Evaluation, count = 1): void {
  evaluation.visitsLeft -= count;
  if (evaluation.visitsLeft < 0) throw noValue(evaluation, `more than ${maxVisits} values to visit`);
}

function noValue(evaluation: Evaluation, why: string): AppError {
  return new AppError('JSONPATH_NO_VALUE', `JSONPath ${shown(evaluation.template)}: ${why}`, {
    remedy: 'Check the template against the object with kubectl get -o jsonpath.',
  });
}
