import { labelKeyProblem, labelValueProblem } from './names.ts';
import { memberAt } from './object.ts';
import type { StoredObject } from './ports.ts';
import { badRequest, type StatusError } from './status.ts';

interface Requirement {
  key: string;
  operator: '=' | '!=' | 'in' | 'notin' | 'exists' | '!' | '>' | '<';
  values: readonly string[];
}

export type LabelSelector = readonly Requirement[];

/** Parses the `labelSelector` of a request; an empty string selects everything. */
export function parseLabelSelector(text: string): LabelSelector {
  if (text.trim() === '') return [];
  return splitRequirements(text).map(part => parseRequirement(part.trim()));
}

/** Splits at commas, except within the parentheses of a list. */
function splitRequirements(text: string): string[] {
  const parts: string[] = [];
  let isInList = false;
  for (const piece of text.split(',')) {
    parts.push(isInList ? `${parts.pop()},${piece}` : piece);
    isInList = (isInList || piece.includes('(')) && !piece.includes(')');
  }
  return parts;
}

const requirementPattern =
  /^(!?)\s*([^\s=!<>(),]+)(?:\s*(==|=|!=|>|<)\s*([^\s=!<>(),]*)|\s+(in|notin)\s*\(([^=!<>()]*)\))?$/;

function parseRequirement(text: string): Requirement {
  const match = requirementPattern.exec(text);
  if (match === null)
    throw unreadable(`found '${text}', expected: a requirement such as 'a', '!a', 'a=b' or 'a in (b,c)'`);
  const [, negation, key = '', comparison, value = '', set, list = ''] = match;
  const problem = labelKeyProblem(key);
  if (problem !== undefined) throw unreadable(`invalid label key "${key}": ${problem}`);
  const operator = comparison === '==' ? '=' : (comparison ?? set ?? 'exists');
  if (negation === '!' && operator !== 'exists') throw unreadable(`found '${operator}' after '!${key}'`);
  const values = set === undefined ? [value] : list.split(',').map(item => item.trim());
  if (operator === 'exists') return { key, operator: negation === '!' ? '!' : 'exists', values: [] };
  checkValues(key, operator, values);
  return { key, operator: operator as Requirement['operator'], values };
}

function checkValues(key: string, operator: string, values: readonly string[]): void {
  if ((operator === '>' || operator === '<') && !wholeNumber.test(values[0] ?? ''))
    throw unreadable("for 'Gt', 'Lt' operators, the value must be an integer");
  for (const value of values) {
    const problem = labelValueProblem(value);
    if (problem !== undefined) throw unreadable(`invalid label value: "${value}": at key: "${key}": ${problem}`);
  }
}

function unreadable(why: string): StatusError {
  return badRequest(`unable to parse requirement: ${why}`);
}

const wholeNumber = /^[+-]?\d{1,19}$/;

export function matchesLabels(selector: LabelSelector, labels: Readonly<Record<string, string>> = {}): boolean {
  return selector.every(({ key, operator, values }) => {
    const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
    return value === undefined ? matchesAbsent.has(operator) : matchesValue[operator](value, values);
  });
}

const matchesAbsent = new Set(['!', '!=', 'notin']);

const matchesValue: Record<Requirement['operator'], (value: string, values: readonly string[]) => boolean> = {
  exists: () => true,
  '!': () => false,
  '=': (value, values) => values.includes(value),
  in: (value, values) => values.includes(value),
  '!=': (value, values) => !values.includes(value),
  notin: (value, values) => !values.includes(value),
  '>': (value, [bound = '']) => wholeNumber.test(value) && BigInt(value) > BigInt(bound),
  '<': (value, [bound = '']) => wholeNumber.test(value) && BigInt(value) < BigInt(bound),
};

/** Converts matchLabels and matchExpressions. */
export function selectorOfSpec(spec: SpecSelector): LabelSelector {
  const operators = { In: 'in', NotIn: 'notin', Exists: 'exists', DoesNotExist: '!' } as const;
  return [
    ...Object.entries(spec.matchLabels ?? {}).map(
      ([key, value]): Requirement => ({ key, operator: '=', values: [value] }),
    ),
    ...(spec.matchExpressions ?? []).map(
      ({ key, operator, values }): Requirement => ({ key, operator: operators[operator], values: values ?? [] }),
    ),
  ];
}

export interface SpecSelector {
  matchLabels?: Record<string, string>;
  matchExpressions?: { key: string; operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist'; values?: string[] }[];
}

/** Whether `spec.selector` of an object matches the labels. No selector matches nothing, an empty one everything. */
export function specSelects(object: StoredObject, labels: Readonly<Record<string, string>> | undefined): boolean {
  const selector = memberAt(object, 'spec.selector');
  return selector !== undefined && matchesLabels(selectorOfSpec(selector as SpecSelector), labels);
}
