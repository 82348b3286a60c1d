import { sameData } from '#base/compare.ts';
import { isRecord } from '#base/fields.ts';
import type { StatusCause } from '#kube/api-error.ts';
import { cause } from '../status.ts';
import { compilePattern } from './pattern.ts';
import {
  isEmbedded,
  isIntOrString,
  preserves,
  propertiesOf,
  type Schema,
  schemaAt,
  schemasAt,
  textAt,
} from './schema.ts';

/**
 * Whether a schema is structural: its fields, types and defaults can be read without looking into anyOf and the like, which
 * may only say more about values.
 */
export function structuralCauses(schema: Schema, path: string): StatusCause[] {
  return [...nodeCauses(schema, path, 'root'), ...incompleteCauses(schema, schema, path, path)];
}

type Level = 'root' | 'item' | 'field';

const untyped: Readonly<Record<Level, string>> = {
  root: 'must not be empty at the root',
  item: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
};

function nodeCauses(schema: Schema, path: string, level: Level): StatusCause[] {
  const [items, additional] = [schemaAt(schema, 'items'), schemaAt(schema, 'additionalProperties')];
  return [
    ...(schema['type'] === 'array' && items === undefined
      ? [cause.required(`${path}.items`, 'must be specified')]
      : []),
    ...(items === undefined ? [] : nodeCauses(items, `${path}.items`, 'item')),
    ...Object.entries(propertiesOf(schema)).flatMap(([name, part]) =>
      isRecord(part) ? nodeCauses(part, `${path}.properties[${name}]`, 'field') : [],
    ),
    ...(level === 'root' && schema['additionalProperties'] !== undefined
      ? [cause.forbidden(`${path}.additionalProperties`, 'must not be used at the root')]
      : []),
    ...(additional === undefined ? [] : nodeCauses(additional, `${path}.additionalProperties`, 'field')),
    ...typeCauses(schema, path, level),
    ...exclusionCauses(schema, path),
    ...valueCauses(schema, path, skippedAnyOf(schema)),
    ...(level === 'root' || isEmbedded(schema) ? headCauses(schema, path) : []),
    ...(level === 'root' ? metadataCauses(schema, path) : []),
  ];
}

function typeCauses(schema: Schema, path: string, level: Level): StatusCause[] {
  const [type, field] = [textAt(schema, 'type'), `${path}.type`];
  if (isEmbedded(schema) && type !== 'object') {
    const why = 'must be object if x-kubernetes-embedded-resource is true';
    return [type === '' ? cause.required(field, why) : cause.invalid(field, type, why)];
  }
  if (type === '') return isIntOrString(schema) || preserves(schema) ? [] : [cause.required(field, untyped[level])];
  return level === 'root' && type !== 'object' ? [cause.invalid(field, type, 'must be object at the root')] : [];
}

/** Extensions that cannot go together. */
function exclusionCauses(schema: Schema, path: string): StatusCause[] {
  const [embedded, exclusive] = [isEmbedded(schema), 'must be false if x-kubernetes-int-or-string is true'];
  const hollow = embedded && !preserves(schema) && Object.keys(propertiesOf(schema)).length === 0;
  return [
    ...(isIntOrString(schema) && preserves(schema)
      ? [cause.invalid(`${path}.x-kubernetes-preserve-unknown-fields`, true, exclusive)]
      : []),
    ...(isIntOrString(schema) && embedded
      ? [cause.invalid(`${path}.x-kubernetes-embedded-resource`, true, exclusive)]
      : []),
    ...(embedded && schema['additionalProperties'] !== undefined
      ? [cause.forbidden(`${path}.additionalProperties`, 'must not be used if x-kubernetes-embedded-resource is set')]
      : []),
    ...(hollow ? [cause.required(`${path}.properties`, hollowEmbedded)] : []),
  ];
}

const hollowEmbedded =
  'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields';

const intOrString = [{ type: 'integer' }, { type: 'string' }];

/** The two ways to say "number or text" by types in anyOf. */
function skippedAnyOf(schema: Schema): Schema | undefined {
  if (sameData(schema['anyOf'], intOrString)) return schema;
  const [first] = schemasAt(schema, 'allOf');
  return first !== undefined && sameData(first['anyOf'], intOrString) ? first : undefined;
}

function valueCauses(schema: Schema, path: string, skipped: Schema | undefined): StatusCause[] {
  const pattern = textAt(schema, 'pattern');
  return [
    ...junctionsOf(schema, path)
      .filter(part => !(schema === skipped && part.junctor === 'anyOf'))
      .flatMap(part => nestedCauses(part.schema, part.path, skipped)),
    ...(pattern !== '' && compilePattern(pattern) === undefined
      ? [cause.invalid(`${path}.pattern`, pattern, "must be a valid regular expression, but isn't")]
      : []),
  ];
}

interface Part {
  junctor: string;
  schema: Schema;
  path: string;
}

function junctionsOf(schema: Schema, path: string): Part[] {
  const not = schemaAt(schema, 'not');
  const many = ['anyOf', 'allOf', 'oneOf'].flatMap(junctor =>
    schemasAt(schema, junctor).map((part, index) => ({ junctor, schema: part, path: `${path}.${junctor}[${index}]` })),
  );
  return not === undefined ? many : [...many, { junctor: 'not', schema: not, path: `${path}.not` }];
}

/** Members that shape an object, with the word for what they have to be below anyOf and the like. */
const shaping: readonly (readonly [member: string, must: string])[] = [
  ['type', 'empty'],
  ['additionalProperties', 'undefined'],
  ['default', 'undefined'],
  ['title', 'empty'],
  ['description', 'empty'],
  ['nullable', 'false'],
  ['x-kubernetes-preserve-unknown-fields', 'false'],
  ['x-kubernetes-embedded-resource', 'false'],
  ['x-kubernetes-int-or-string', 'false'],
  ['x-kubernetes-list-map-keys', 'empty'],
  ['x-kubernetes-list-type', 'undefined'],
  ['x-kubernetes-map-type', 'undefined'],
];

function nestedCauses(schema: Schema, path: string, skipped: Schema | undefined): StatusCause[] {
  const items = schemaAt(schema, 'items');
  const properties = propertiesOf(schema);
  return [
    ...valueCauses(schema, path, skipped),
    ...(items === undefined ? [] : nestedCauses(items, `${path}.items`, undefined)),
    ...Object.entries(properties).flatMap(([name, part]) =>
      isRecord(part) ? nestedCauses(part, `${path}.properties[${name}]`, undefined) : [],
    ),
    ...shaping
      .filter(([member]) => ![undefined, null, false, ''].includes(schema[member] as string))
      .map(([member, must]) => cause.forbidden(`${path}.${member}`, `must be ${must} to be structural`)),
    ...(Object.hasOwn(properties, 'metadata')
      ? [cause.forbidden(`${path}.properties[metadata]`, 'must not be specified in a nested context')]
      : []),
  ];
}

function headCauses(schema: Schema, path: string): StatusCause[] {
  const properties = propertiesOf(schema);
  const wanted = { kind: 'string', apiVersion: 'string', metadata: 'object' };
  return Object.entries(wanted).flatMap(([name, type]) => {
    const given = textAt(schemaAt(properties, name), 'type');
    if (!Object.hasOwn(properties, name) || given === type) return [];
    return [cause.invalid(`${path}.properties[${name}].type`, given, `must be ${type}`)];
  });
}

/** Of the object's own metadata only the names can be restricted. */
function metadataCauses(schema: Schema, path: string): StatusCause[] {
  const metadata = schemaAt(propertiesOf(schema), 'metadata');
  if (metadata === undefined) return [];
  const others = Object.keys(metadata).filter(member => !['type', 'properties', 'default'].includes(member));
  const names = Object.keys(propertiesOf(metadata)).filter(name => name !== 'name' && name !== 'generateName');
  if (others.length + names.length === 0) return [];
  const why = 'must not specify anything other than name and generateName, but metadata is implicitly specified';
  return [cause.forbidden(`${path}.properties[metadata]`, why)];
}

/** Fields that only anyOf and the like mention. The API server looks for them at the root only, and so do we. */
function incompleteCauses(nested: Schema, schema: Schema, nestedPath: string, path: string): StatusCause[] {
  return junctionsOf(nested, nestedPath).flatMap(part => missingCauses(part.schema, schema, part.path, path));
}

function missingCauses(nested: Schema, schema: Schema, nestedPath: string, path: string): StatusCause[] {
  const items = schemaAt(nested, 'items');
  const below = (part: Schema, known: Schema | undefined, step: string): StatusCause[] =>
    known === undefined
      ? [cause.required(`${path}${step}`, `because it is defined in ${nestedPath}${step}`)]
      : missingCauses(part, known, `${nestedPath}${step}`, `${path}${step}`);
  return [
    ...incompleteCauses(nested, schema, nestedPath, path),
    ...(items === undefined ? [] : below(items, schemaAt(schema, 'items'), '.items')),
    ...Object.entries(propertiesOf(nested)).flatMap(([name, part]) =>
      isRecord(part) ? below(part, schemaAt(propertiesOf(schema), name), `.properties[${name}]`) : [],
    ),
  ];
}
