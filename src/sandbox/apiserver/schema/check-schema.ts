import { isRecord } from '#base/fields.ts';
import type { StatusCause } from '#kube/api-error.ts';
import { isTooDeep } from '../patch/depth.ts';
import { cause } from '../status.ts';
import { defaultCauses } from './check-defaults.ts';
import { extensionCauses } from './check-extensions.ts';
import { memberTypeCauses } from './check-members.ts';
import { structuralCauses } from './check-structure.ts';
import { isEmbedded, isSet, propertiesOf, type Schema, schemaAt, schemasAt, textAt } from './schema.ts';

/** What is wrong with the schema of a version of a CRD. Defaults are looked at only when everything else is right. */
export function checkSchema(schema: unknown, path: string): StatusCause[] {
  if (!isRecord(schema)) return [cause.invalid(path, schema, 'must be an object')];
  if (isTooDeep(schema)) return [cause.forbidden(path, 'must not have so many levels')];
  const malformed = memberTypeCauses(schema, path);
  if (malformed.length > 0) return malformed;
  const causes = [
    ...(isSet(schema, 'nullable') ? [cause.forbidden(`${path}.nullable`, 'nullable cannot be true at the root')] : []),
    ...keywordCauses(schema, path, { isRoot: true, insideMetadata: false, noDefaults: undefined }),
    ...structuralCauses(schema, path),
  ];
  return causes.length > 0 ? causes : defaultCauses(schema, path);
}

/** Where in a schema we are. */
interface Place {
  isRoot: boolean;
  insideMetadata: boolean;
  /** Why defaults are not allowed here. */
  noDefaults: string | undefined;
}

const types = ['array', 'boolean', 'integer', 'number', 'object', 'string'];

const unsupported = ['id', 'additionalItems', 'patternProperties', 'definitions', 'dependencies', '$ref'];

/** Keywords that a CRD may not use, or not so, wherever they stand. */
function keywordCauses(schema: Schema, path: string, place: Place): StatusCause[] {
  const { type, additionalProperties } = schema;
  const mixed = additionalProperties !== undefined && additionalProperties !== true;
  return [
    ...(type === undefined || types.includes(textAt(schema, 'type'))
      ? []
      : [cause.unsupported(`${path}.type`, type, types)]),
    ...(schema['default'] !== undefined && place.noDefaults !== undefined
      ? [cause.forbidden(`${path}.default`, `must not be set ${place.noDefaults}`)]
      : []),
    ...unsupported
      .filter(name => schema[name] !== undefined)
      .map(name => cause.forbidden(`${path}.${name}`, `${name} is not supported`)),
    ...(type === 'null'
      ? [cause.forbidden(`${path}.type`, 'type cannot be set to null, use nullable as an alternative')]
      : []),
    ...(Array.isArray(schema['items'])
      ? [cause.forbidden(`${path}.items`, 'items must be a schema object and not an array')]
      : []),
    ...(place.insideMetadata && isEmbedded(schema)
      ? [cause.forbidden(`${path}.x-kubernetes-embedded-resource`, 'must not be used inside of resource meta')]
      : []),
    ...(isSet(schema, 'uniqueItems') ? [cause.forbidden(`${path}.uniqueItems`, quadratic)] : []),
    ...(mixed && Object.keys(propertiesOf(schema)).length > 0
      ? [cause.forbidden(`${path}.additionalProperties`, 'additionalProperties and properties are mutual exclusive')]
      : []),
    ...extensionCauses(schema, path),
    ...partsOf(schema, path, place).flatMap(part => keywordCauses(part.schema, part.path, part.place)),
  ];
}

const quadratic = 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic';

/** The schemas inside a schema. */
function partsOf(schema: Schema, path: string, place: Place): { schema: Schema; path: string; place: Place }[] {
  const inner: Place = { ...place, isRoot: false };
  const insideMap = place.insideMetadata ? 'inside additionalProperties applying to object metadata' : inner.noDefaults;
  const one = (name: string, at: Place = inner): { schema: Schema; path: string; place: Place }[] => {
    const part = schemaAt(schema, name);
    return part === undefined ? [] : [{ schema: part, path: `${path}.${name}`, place: at }];
  };
  const many = (name: string): { schema: Schema; path: string; place: Place }[] =>
    schemasAt(schema, name).map((part, index) => ({ schema: part, path: `${path}.${name}[${index}]`, place: inner }));
  const properties = Object.entries(propertiesOf(schema)).flatMap(([name, part]) =>
    isRecord(part) ? [{ schema: part, path: `${path}.properties[${name}]`, place: placeOf(name, schema, place) }] : [],
  );
  return [
    ...one('additionalProperties', { ...inner, noDefaults: insideMap }),
    ...properties,
    ...one('not'),
    ...['allOf', 'oneOf', 'anyOf'].flatMap(many),
    ...one('items'),
  ];
}

function placeOf(name: string, parent: Schema, place: Place): Place {
  const isHead = ['apiVersion', 'kind', 'metadata'].includes(name) && (place.isRoot || isEmbedded(parent));
  if (!isHead) return { ...place, isRoot: false };
  const noDefaults = place.isRoot ? `in top-level ${name}` : place.noDefaults;
  return { isRoot: false, insideMetadata: true, noDefaults };
}
