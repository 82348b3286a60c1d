import { labelKeyProblem, labelValueProblem } from './names.ts';
import { badRequest } from './status.ts';

/** One demand on the labels of an object. */
interface Requirement {
  key: string;
  operator: '=' | '!=' | 'in' | 'notin' | 'exists' | '!' | '>' | '<';
  values: readonly string[];
}

export type LabelSelector = readonly Requirement[];

/** Reads a selector in the syntax of list and watch requests; the empty text selects everything. */
export function parseLabelSelector(text: string): LabelSelector {
  const reader = new Reader(tokensOf(text));
  const requirements: Requirement[] = [];
  try {
    while (reader.peek() !== '') {
      requirements.push(requirement(reader));
      separator(reader);
    }
  } catch (error) {
    if (error instanceof SyntaxProblem) throw badRequest(error.message);
    throw error;
  }
  return requirements.toSorted((one, other) => (one.key < other.key ? -1 : Number(one.key > other.key)));
}

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

/** The selector of an object's spec (matchLabels and matchExpressions) as one of ours. */
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

class SyntaxProblem extends Error {}

const wholeNumber = /^[+-]?\d{1,19}$/;

const special = new Set(['=', '==', '!', '!=', '(', ')', ',', '>', '<']);
const operators = new Set(['=', '==', '!=', 'in', 'notin', '>', '<']);

/** Texts and operators in a row; the empty text marks the end. */
function tokensOf(text: string): string[] {
  return text.match(/==|!=|[=!<>(),]|[^\s=!<>(),]+/g) ?? [];
}

class Reader {
  readonly #tokens: string[];
  #next = 0;

  constructor(tokens: string[]) {
    this.#tokens = tokens;
  }

  peek(ahead = 0): string {
    return this.#tokens[this.#next + ahead] ?? '';
  }

  take(): string {
    const token = this.peek();
    this.#next += 1;
    return token;
  }
}

function requirement(reader: Reader): Requirement {
  if (reader.peek() !== '!' && special.has(reader.peek()))
    throw new SyntaxProblem(`found '${reader.peek()}', expected: !, identifier, or 'end of string'`);
  try {
    return requirementAt(reader);
  } catch (error) {
    if (error instanceof SyntaxProblem) throw new SyntaxProblem(`unable to parse requirement: ${error.message}`);
    throw error;
  }
}

function requirementAt(reader: Reader): Requirement {
  const negated = reader.peek() === '!';
  if (negated) reader.take();
  const key = reader.take();
  if (key === '' || special.has(key)) throw new SyntaxProblem(`found '${key}', expected: identifier`);
  const problem = labelKeyProblem(key);
  if (problem !== undefined) throw new SyntaxProblem(`invalid label key "${key}": ${problem}`);
  if (negated) return { key, operator: '!', values: [] };
  if (reader.peek() === '' || reader.peek() === ',') return { key, operator: 'exists', values: [] };
  const operator = reader.take();
  if (!operators.has(operator)) throw new SyntaxProblem(`found '${operator}', expected: '=', '!=', '==', 'in', notin'`);
  const values = operator === 'in' || operator === 'notin' ? valueSet(reader) : [exactValue(reader)];
  checkValues(key, operator, values);
  return { key, operator: (operator === '==' ? '=' : operator) as Requirement['operator'], values };
}

function checkValues(key: string, operator: string, values: readonly string[]): void {
  if ((operator === '>' || operator === '<') && !wholeNumber.test(values[0] ?? ''))
    throw new SyntaxProblem("for 'Gt', 'Lt' operators, the value must be an integer");
  for (const value of values) {
    const problem = labelValueProblem(value);
    if (problem !== undefined) throw new SyntaxProblem(`invalid label value: "${value}": at key: "${key}": ${problem}`);
  }
}

function exactValue(reader: Reader): string {
  if (reader.peek() === '' || reader.peek() === ',') return '';
  const value = reader.take();
  if (special.has(value)) throw new SyntaxProblem(`found '${value}', expected: identifier`);
  return value;
}

/** The values between parentheses; a comma too many stands for the empty value. */
function valueSet(reader: Reader): string[] {
  const open = reader.take();
  if (open !== '(') throw new SyntaxProblem(`found '${open}' expected: '('`);
  const values = new Set<string>();
  for (;;) {
    const token = reader.take();
    if (token === ')') {
      values.add('');
      break;
    }
    if (token === ',') {
      values.add('');
      continue;
    }
    if (token === '' || special.has(token)) throw new SyntaxProblem(`found '${token}', expected: ',', or identifier`);
    values.add(token);
    const after = reader.take();
    if (after === ')') break;
    if (after !== ',') throw new SyntaxProblem(`found '${after}', expected: ',' or ')'`);
  }
  return [...values].sort();
}

function separator(reader: Reader): void {
  const token = reader.take();
  if (token === '') return;
  if (token !== ',') throw new SyntaxProblem(`found '${token}', expected: ',' or 'end of string'`);
  const next = reader.peek();
  if (next !== '!' && (next === '' || special.has(next)))
    throw new SyntaxProblem(`found '${next}', expected: identifier after ','`);
}
