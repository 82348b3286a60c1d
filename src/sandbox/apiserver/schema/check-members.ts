import { isRecord } from '#base/fields.ts';
import type { StatusCause } from '#kube/api-error.ts';
import { cause } from '../status.ts';
import type { Schema } from './schema.ts';

const isText = (value: unknown): boolean => typeof value === 'string';
const isNumber = (value: unknown): boolean => typeof value === 'number';
const isFlag = (value: unknown): boolean => typeof value === 'boolean';
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText);

type Check = readonly [fits: (value: unknown) => boolean, is: string];

const text: Check = [isText, 'a text'];
const number: Check = [isNumber, 'a number'];
const flag: Check = [isFlag, 'true or false'];
const texts: Check = [isTexts, 'a list of texts'];

/** Members of a schema that hold no schemas themselves. Others than those listed say nothing to us. */
const plain: Readonly<Record<string, Check>> = {
  type: text,
  format: text,
  title: text,
  description: text,
  pattern: text,
  'x-kubernetes-list-type': text,
  'x-kubernetes-map-type': text,
  maximum: number,
  minimum: number,
  multipleOf: number,
  maxLength: number,
  minLength: number,
  maxItems: number,
  minItems: number,
  maxProperties: number,
  minProperties: number,
  exclusiveMaximum: flag,
  exclusiveMinimum: flag,
  nullable: flag,
  uniqueItems: flag,
  'x-kubernetes-embedded-resource': flag,
  'x-kubernetes-int-or-string': flag,
  'x-kubernetes-preserve-unknown-fields': flag,
  required: texts,
  'x-kubernetes-list-map-keys': texts,
  enum: [Array.isArray, 'a list'],
};

/** Members of the wrong type, at every depth. */
export function memberTypeCauses(schema: Schema, path: string): StatusCause[] {
  return Object.entries(schema).flatMap(([name, value]) => {
    const field = `${path}.${name}`;
    if (value === null) return [];
    const check = Object.hasOwn(plain, name) ? plain[name] : undefined;
    if (check !== undefined) return check[0](value) ? [] : [cause.invalid(field, value, `must be ${check[1]}`)];
    return partCauses(name, value, field);
  });
}

function partCauses(name: string, value: unknown, field: string): StatusCause[] {
  switch (name) {
    case 'additionalProperties':
      return isFlag(value) ? [] : schemaCauses(value, field);
    case 'items':
      return Array.isArray(value) ? listCauses(value, field) : schemaCauses(value, field);
    case 'not':
      return schemaCauses(value, field);
    case 'allOf':
    case 'anyOf':
    case 'oneOf':
      return listCauses(value, field);
    case 'properties':
      if (!isRecord(value)) return [cause.invalid(field, value, 'must be an object')];
      return Object.entries(value).flatMap(([key, part]) => schemaCauses(part, `${field}[${key}]`));
    default:
      return [];
  }
}

function listCauses(value: unknown, field: string): StatusCause[] {
  if (!Array.isArray(value)) return [cause.invalid(field, value, 'must be a list')];
  return value.flatMap((part, index) => schemaCauses(part, `${field}[${index}]`));
}

function schemaCauses(value: unknown, field: string): StatusCause[] {
  return isRecord(value) ? memberTypeCauses(value, field) : [cause.invalid(field, value, 'must be an object')];
}
