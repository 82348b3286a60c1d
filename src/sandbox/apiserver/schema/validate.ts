import { sameData } from '#base/compare.ts';
import { isRecord } from '#base/fields.ts';
import type { StatusCause } from '#kube/api-error.ts';
import { listAt, memberAt, textAt } from '../object.ts';
import { cause } from '../status.ts';
import { hasFormat } from './formats.ts';
import { child, isIntOrString, isSet, memberSchema, type Schema, schemaAt } from './schema.ts';

/** Violations of a schema, in the wording of the API server. */
export function validate(schema: Schema, value: unknown, path: string): StatusCause[] {
  if (value === null && isSet(schema, 'nullable')) return [];
  return [
    ...typeCauses(schema, value, path),
    ...logicCauses(schema, value, path),
    ...(typeof value === 'string' ? textCauses(schema, value, path) : []),
    ...(typeof value === 'number' ? numberCauses(schema, value, path) : []),
    ...(Array.isArray(value) ? listCauses(schema, value, path) : []),
    ...enumCauses(schema, value, path),
    ...(isRecord(value) ? objectCauses(schema, value, path) : []),
  ];
}

function typeCauses(schema: Schema, value: unknown, path: string): StatusCause[] {
  const types = isIntOrString(schema) ? ['integer', 'string'] : [textAt(schema, 'type')];
  const actual = typeName(value);
  if (types[0] === '' || types.includes(actual) || (types[0] === 'number' && actual === 'integer')) return [];
  return [cause.invalid(path, actual, `${path} in body must be of type ${types.join(',')}: "${actual}"`)];
}

function typeName(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  // Integers beyond 64 bits count as floating point.
  if (typeof value === 'number') return Number.isInteger(value) && Math.abs(value) < 2 ** 63 ? 'integer' : 'number';
  return typeof value;
}

/** Keyword, whether it is violated, the message, and the value to show. */
type Limit = readonly [name: string, isViolated: boolean, message: (limit: number) => string, shown?: unknown];

function limitCauses(schema: Schema, path: string, value: unknown, limits: readonly Limit[]): StatusCause[] {
  return limits.flatMap(([name, isViolated, message, shown = value]) => {
    const limit = numberAt(schema, name);
    return limit === undefined || !isViolated
      ? []
      : [cause.invalid(path, shown, `${path} in body should ${message(limit)}`)];
  });
}

function textCauses(schema: Schema, value: string, path: string): StatusCause[] {
  const length = Array.from(value).length;
  const [pattern, format] = [textAt(schema, 'pattern'), textAt(schema, 'format')];
  const matches = pattern === '' || (compilePattern(pattern)?.test(value) ?? true);
  return [
    ...limitCauses(schema, path, value, [
      ['maxLength', length > (numberAt(schema, 'maxLength') ?? length), limit => `be at most ${limit} chars long`],
      ['minLength', length < (numberAt(schema, 'minLength') ?? 0), limit => `be at least ${limit} chars long`],
    ]),
    ...(matches ? [] : [cause.invalid(path, value, `${path} in body should match '${pattern}'`)]),
    ...(hasFormat(format, value)
      ? []
      : [cause.invalid(path, value, `${path} in body must be of type ${format}: ${JSON.stringify(value)}`)]),
  ];
}

/** Undefined for a pattern that means something else in Go than in JavaScript; it is not checked then. */
function compilePattern(pattern: string): RegExp | undefined {
  if (/\[:|\(\?[^:]|\\[AzpPQ]/.test(pattern)) return undefined;
  try {
    // The flag u makes JavaScript strict about escapes such as \-, which Go allows.
    return new RegExp(pattern, /\\[^\w\\/^$.*+?()[\]{}|]/.test(pattern) ? '' : 'u');
  } catch {
    return undefined;
  }
}

function numberCauses(schema: Schema, value: number, path: string): StatusCause[] {
  const [minimum = value, maximum = value] = [numberAt(schema, 'minimum'), numberAt(schema, 'maximum')];
  const [above, below] = [isSet(schema, 'exclusiveMinimum'), isSet(schema, 'exclusiveMaximum')];
  const multiple = numberAt(schema, 'multipleOf') ?? 0;
  return limitCauses(schema, path, value, [
    ['multipleOf', multiple > 0 && !isWhole(value / multiple), limit => `be a multiple of ${limit}`],
    [
      'maximum',
      below ? value >= maximum : value > maximum,
      limit => `be less than ${below ? '' : 'or equal to '}${limit}`,
    ],
    [
      'minimum',
      above ? value <= minimum : value < minimum,
      limit => `be greater than ${above ? '' : 'or equal to '}${limit}`,
    ],
  ]);
}

/** Allows for rounding errors. */
function isWhole(value: number): boolean {
  return Math.abs(value - Math.round(value)) <= 1e-9 * Math.max(1, Math.abs(value));
}

function listCauses(schema: Schema, value: readonly unknown[], path: string): StatusCause[] {
  const items = schemaAt(schema, 'items');
  const { length } = value;
  return [
    ...(items === undefined ? [] : value.flatMap((item, index) => validate(items, item, `${path}[${index}]`))),
    ...limitCauses(schema, path, length, [
      ['minItems', length < (numberAt(schema, 'minItems') ?? 0), limit => `have at least ${limit} items`],
      ['maxItems', length > (numberAt(schema, 'maxItems') ?? length), limit => `have at most ${limit} items`],
    ]),
  ];
}

function objectCauses(schema: Schema, value: Record<string, unknown>, path: string): StatusCause[] {
  const count = Object.keys(value).length;
  const [least = 0, most = count] = [numberAt(schema, 'minProperties'), numberAt(schema, 'maxProperties')];
  return [
    ...limitCauses(schema, path, count, [
      // The real server shows the limit, not the actual count.
      ['minProperties', count < least, limit => `have at least ${limit} properties`, least],
      ['maxProperties', count > most, limit => `have at most ${limit} properties`, most],
    ]),
    ...listAt(schema, 'required')
      .filter(name => typeof name === 'string' && !Object.hasOwn(value, name))
      .map(name => cause.required(child(path, String(name)))),
    ...Object.entries(value).flatMap(([name, member]) => memberCauses(schema, path, name, member)),
  ];
}

function memberCauses(schema: Schema, path: string, name: string, value: unknown): StatusCause[] {
  const field = child(path, name);
  const found = memberSchema(schema, name);
  if (found?.schema !== undefined) return validate(found.schema, value, field);
  const forbidden = found !== undefined && schema['additionalProperties'] === false;
  return forbidden ? [cause.invalid(path, name, `${field} in body is a forbidden property`)] : [];
}

function enumCauses(schema: Schema, value: unknown, path: string): StatusCause[] {
  const allowed = listAt(schema, 'enum');
  if (allowed.length === 0 || allowed.some(item => sameData(item, value))) return [];
  const shown = allowed.map(item => (typeof item === 'string' ? item : JSON.stringify(item)));
  return [cause.unsupported(path, value, shown)];
}

function logicCauses(schema: Schema, value: unknown, path: string): StatusCause[] {
  const run = (member: string): StatusCause[][] =>
    listAt(schema, member)
      .filter(isRecord)
      .map(part => validate(part, value, path));
  const [anyOf, oneOf, allOf] = [run('anyOf'), run('oneOf'), run('allOf')];
  const [not, valid] = [schemaAt(schema, 'not'), oneOf.filter(isEmpty).length];
  const violation = (text: string): StatusCause => cause.invalid('<nil>', '', `"${path}" must ${text}`);
  const found = valid === 0 ? 'Found none valid' : `Found ${valid} valid alternatives`;
  return [
    ...(anyOf.length === 0 || anyOf.some(isEmpty)
      ? []
      : [violation('validate at least one schema (anyOf)'), ...closest(anyOf)]),
    ...(oneOf.length === 0 || valid === 1
      ? []
      : [violation(`validate one and only one schema (oneOf). ${found}`), ...(valid === 0 ? closest(oneOf) : [])]),
    ...allOf.flat(),
    ...(allOf.every(isEmpty) ? [] : [violation('validate all the schemas (allOf)')]),
    ...(not !== undefined && validate(not, value, path).length === 0
      ? [violation('not validate the schema (not)')]
      : []),
  ];
}

function isEmpty(causes: readonly StatusCause[]): boolean {
  return causes.length === 0;
}

/** Violations of the alternative with the fewest. */
function closest(alternatives: readonly StatusCause[][]): StatusCause[] {
  return alternatives.reduce((best, causes) => (causes.length < best.length ? causes : best));
}

function numberAt(schema: Schema, member: string): number | undefined {
  const value = memberAt(schema, member);
  return typeof value === 'number' ? value : undefined;
}
