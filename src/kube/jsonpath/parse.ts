import { AppError, shown } from '#base/errors.ts';

export type Literal = string | number | boolean;

export const filterOperators = ['==', '!=', '<', '<=', '>', '>='] as const;
export type FilterOperator = (typeof filterOperators)[number];

/** One step of a path. */
export type Step =
  | { is: 'literal'; value: Literal }
  | { is: 'field'; name: string }
  | { is: 'every' }
  | { is: 'descend' }
  | { is: 'index'; index: number }
  | { is: 'slice'; from: number; to: number | undefined; step: number }
  | { is: 'union'; branches: Step[][] }
  | { is: 'exists'; path: Step[] }
  | { is: 'filter'; left: Step[]; operator: FilterOperator; right: Step[] };

/** A part of a template: text to print, a path to look up, or a part repeated for every value of a path. */
export type Segment =
  | { is: 'text'; text: string }
  | { is: 'path'; steps: Step[] }
  | { is: 'range'; over: Step[]; body: Segment[] };

export interface JsonPath {
  template: string;
  segments: Segment[];
}

const maxTemplateLength = 4096;
const maxNesting = 16;

/** Parses a template of `kubectl -o jsonpath=`; text without braces is literal. */
export function parseJsonPath(template: string): JsonPath {
  const cursor: Cursor = { template, at: 0, nesting: 0 };
  if (template.length > maxTemplateLength) throw invalid(cursor, `is longer than ${maxTemplateLength} characters`);
  const root: Segment[] = [];
  const open: Segment[][] = [root];
  while (cursor.at < template.length) {
    const text = take(cursor, /^[^{]+/);
    if (text !== undefined) open.at(-1)?.push({ is: 'text', text });
    else readAction(cursor, open);
    if (open.length > maxNesting) throw invalid(cursor, `nests {range} more than ${maxNesting} deep`);
  }
  if (open.length > 1) throw invalid(cursor, 'has a {range} without {end}');
  return { template, segments: root };
}

interface Cursor {
  template: string;
  at: number;
  nesting: number;
}

function readAction(cursor: Cursor, open: Segment[][]): void {
  take(cursor, /^\{[ \t]*/);
  const word = take(cursor, /^(?:range|end)(?![\w-])/);
  if (word === 'end') {
    if (open.length === 1) throw invalid(cursor, 'has an {end} without {range}');
    expect(cursor, /^[ \t]*\}/, '"}" after end');
    open.pop();
    return;
  }
  const steps = readSteps(cursor, 'action');
  expect(cursor, /^\}/, '"}"');
  if (word === undefined) {
    open.at(-1)?.push({ is: 'path', steps });
    return;
  }
  const body: Segment[] = [];
  open.at(-1)?.push({ is: 'range', over: steps, body });
  open.push(body);
}

/** The place of a path decides which characters end a field name. */
type Place = 'action' | 'filter';

const fieldName: Record<Place, RegExp> = {
  action: /^(?:\\[^]|[^\\\s.,[\]$@{}])*/,
  filter: /^(?:\\[^]|[^\\\s.,[\]$@{}!<>=()])*/,
};

function readSteps(cursor: Cursor, place: Place): Step[] {
  const steps: Step[] = [];
  for (;;) {
    take(cursor, /^[ \t$@]+/);
    const next = readStep(cursor, place);
    if (next === undefined) return steps;
    if (next[0]?.is === 'descend' && steps.at(-1)?.is === 'descend') throw invalid(cursor, 'descends twice in a row');
    steps.push(...next);
  }
}

function readStep(cursor: Cursor, place: Place): Step[] | undefined {
  const rest = cursor.template[cursor.at];
  if (take(cursor, /^\.\./) !== undefined) return [{ is: 'descend' }, ...fieldStep(cursor, place)];
  if (take(cursor, /^\./) !== undefined) return fieldStep(cursor, place);
  if (take(cursor, /^\[\?\(/) !== undefined) return [readFilter(cursor)];
  if (take(cursor, /^\[/) !== undefined) return readBrackets(cursor);
  if (rest === '"' || rest === "'") return [{ is: 'literal', value: unescapeText(cursor, readQuoted(cursor)) }];
  const number = take(cursor, /^[+-]?\d+(?:\.\d+)?/);
  if (number !== undefined) return [{ is: 'literal', value: Number(number) }];
  const word = take(cursor, /^[A-Za-z_][\w-]*/);
  if (word === undefined) return undefined;
  if (word !== 'true' && word !== 'false') throw invalid(cursor, `has the unknown word ${shown(word)}`);
  return [{ is: 'literal', value: word === 'true' }];
}

function fieldStep(cursor: Cursor, place: Place): Step[] {
  return keyStep(take(cursor, fieldName[place]) ?? '');
}

/** `*` is every member; an empty name is the value itself, as in `{.}`. */
function keyStep(raw: string): Step[] {
  if (raw === '') return [];
  return raw === '*' ? [{ is: 'every' }] : [{ is: 'field', name: raw.replaceAll(/\\([^])/g, '$1') }];
}

function readFilter(cursor: Cursor): Step {
  cursor.nesting += 1;
  if (cursor.nesting > maxNesting) throw invalid(cursor, `nests filters more than ${maxNesting} deep`);
  const left = readSteps(cursor, 'filter');
  const sign = take(cursor, /^[!<>=]+/);
  const right = sign === undefined ? [] : readSteps(cursor, 'filter');
  expect(cursor, /^\)[ \t]*\]/, '")]" at the end of the filter');
  cursor.nesting -= 1;
  if (sign === undefined) return { is: 'exists', path: left };
  const operator = filterOperators.find(known => known === sign);
  if (operator === undefined) throw invalid(cursor, `has the unknown filter operator ${shown(sign)}`);
  return { is: 'filter', left, operator, right };
}

function readBrackets(cursor: Cursor): Step[] {
  const branches: Step[][] = [];
  do branches.push(readSubscript(cursor));
  while (take(cursor, /^,/) !== undefined);
  expect(cursor, /^\]/, '"]"');
  return branches.length === 1 ? (branches[0] ?? []) : [{ is: 'union', branches }];
}

const sliceForm = /^(-?\d{1,9})?(?:(:)(-?\d{1,9})?(?::(-?\d{1,9})?)?)?$/;

function readSubscript(cursor: Cursor): Step[] {
  take(cursor, /^[ \t]+/);
  const quote = cursor.template[cursor.at];
  const quoted = quote === "'" || quote === '"' ? readQuoted(cursor) : undefined;
  const text = quoted === undefined ? (take(cursor, /^[*\d:+-]+/) ?? '') : '';
  take(cursor, /^[ \t]+/);
  // kubectl parses a quoted key as a path, so a dot in a name must be escaped here as well.
  if (quoted !== undefined) return (quoted.match(/(?:\\[^]|[^\\.])+/g) ?? []).flatMap(keyStep);
  const match = text === '*' ? [':', '', ':'] : sliceForm.exec(text);
  if (match === null || text === '') throw invalid(cursor, `has the invalid index ${shown(text)}`);
  const [, from, isSlice, to, step] = match;
  if (isSlice === undefined) return [{ is: 'index', index: Number(from) }];
  return [{ is: 'slice', from: Number(from ?? 0), to: to === undefined ? to : Number(to), step: Number(step ?? 1) }];
}

/** The text between quotes, with its escapes. */
function readQuoted(cursor: Cursor): string {
  const text = take(cursor, /^(?:"(?:\\[^]|[^"\\])*"|'(?:\\[^]|[^'\\])*')/);
  if (text === undefined) throw invalid(cursor, 'has a quote that is not closed');
  return text.slice(1, -1);
}

const escapes: Record<string, string> = { n: '\n', t: '\t', r: '\r', '\\': '\\', '"': '"', "'": "'" };

function unescapeText(cursor: Cursor, raw: string): string {
  return raw.replaceAll(/\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[^])/g, (_, code: string) => {
    if (code.length > 1) return String.fromCodePoint(Number.parseInt(code.slice(1), 16));
    const text = escapes[code];
    if (text === undefined) throw invalid(cursor, `has the unknown escape ${shown(`\\${code}`)}`);
    return text;
  });
}

/** Consumes what the pattern matches at the current place. Patterns are anchored with ^. */
function take(cursor: Cursor, pattern: RegExp): string | undefined {
  const text = pattern.exec(cursor.template.slice(cursor.at))?.[0];
  if (text === undefined || text === '') return undefined;
  cursor.at += text.length;
  return text;
}

function expect(cursor: Cursor, pattern: RegExp, what: string): void {
  if (take(cursor, pattern) === undefined) throw invalid(cursor, `lacks ${what}`);
}

function invalid(cursor: Cursor, why: string): AppError {
  return new AppError('JSONPATH_INVALID', `JSONPath ${shown(cursor.template)} ${why} (at character ${cursor.at + 1})`, {
    remedy: 'Write the template as for kubectl -o jsonpath, for example {.metadata.name}.',
  });
}
