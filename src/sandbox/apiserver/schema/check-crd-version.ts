import { isRecord } from '#base/fields.ts';
import type { StatusCause } from '#kube/api-error.ts';
import { nameProblems } from '../names.ts';
import { listAt, memberAt, recordAt, textAt } from '../object.ts';
import type { SchemaValidator } from '../ports.ts';
import { cause } from '../status.ts';

/** What is wrong with one version of a CRD. */
export function versionCauses(
  version: unknown,
  path: string,
  checkSchema: SchemaValidator['checkSchema'],
): StatusCause[] {
  const name = textAt(version, 'name');
  const problems = nameProblems('dns1035', name);
  const schemaPath = `${path}.schema.openAPIV3Schema`;
  const schema = memberAt(version, 'schema.openAPIV3Schema');
  const hasStatus = memberAt(version, 'subresources.status') !== undefined;
  return [
    ...(problems.length === 0 ? [] : [cause.invalid(`${path}.name`, name, problems.join(','))]),
    ...(schema === undefined ? [cause.required(schemaPath, 'schemas are required')] : checkSchema(schema, schemaPath)),
    ...(hasStatus ? rootCauses(schema, schemaPath) : []),
    ...scaleCauses(version, `${path}.subresources.scale`),
    ...listAt(version, 'additionalPrinterColumns').flatMap((column, index) =>
      columnCauses(column, `${path}.additionalPrinterColumns[${index}]`),
    ),
  ];
}

/** What says nothing about the status as a part of the whole. */
const allowedAtRoot = [
  'description',
  'type',
  'format',
  'title',
  'maximum',
  'exclusiveMaximum',
  'minimum',
  'exclusiveMinimum',
  'maxLength',
  'minLength',
  'pattern',
  'maxItems',
  'minItems',
  'uniqueItems',
  'multipleOf',
  'required',
  'items',
  'properties',
  'externalDocs',
  'example',
  'x-kubernetes-preserve-unknown-fields',
];

/** A status with a subresource of its own is checked alone, so nothing about the object may depend on both. */
function rootCauses(schema: unknown, path: string): StatusCause[] {
  const unfit = isRecord(schema) ? Object.keys(schema).filter(member => !allowedAtRoot.includes(member)) : [];
  const why = `only ${allowedAtRoot.join(', ')} are allowed at the root of the schema if the status subresource is enabled`;
  return unfit.length === 0 ? [] : [cause.invalid(path, unfit, why)];
}

const columnTypes = ['boolean', 'date', 'integer', 'number', 'string'];
const columnFormats = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password'];

function columnCauses(column: unknown, path: string): StatusCause[] {
  const [type, format] = [textAt(column, 'type'), textAt(column, 'format')];
  const oneOf = `must be one of ${columnTypes.join(',')}`;
  return [
    ...(textAt(column, 'name') === '' ? [cause.required(`${path}.name`)] : []),
    ...(type === '' ? [cause.required(`${path}.type`, oneOf)] : []),
    ...(type === '' || columnTypes.includes(type) ? [] : [cause.invalid(`${path}.type`, type, oneOf)]),
    ...(format === '' || columnFormats.includes(format)
      ? []
      : [cause.invalid(`${path}.format`, format, `must be one of ${columnFormats.join(',')}`)]),
    ...pathCauses(textAt(column, 'jsonPath'), `${path}.jsonPath`),
  ];
}

function pathCauses(text: string, field: string, roots: readonly string[] = []): StatusCause[] {
  if (text === '') return [cause.required(field)];
  if (!text.startsWith('.')) return [cause.invalid(field, text, 'must be a simple json path starting with .')];
  if (roots.length === 0 || roots.some(root => text.startsWith(`${root}.`))) return [];
  return [cause.invalid(field, text, `should be a json path under ${roots.join(' or ')}`)];
}

function scaleCauses(version: unknown, path: string): StatusCause[] {
  if (memberAt(version, 'subresources.scale') === undefined) return [];
  const scale = recordAt(version, 'subresources.scale');
  const selector = textAt(scale, 'labelSelectorPath');
  return [
    ...pathCauses(textAt(scale, 'specReplicasPath'), `${path}.specReplicasPath`, ['.spec']),
    ...pathCauses(textAt(scale, 'statusReplicasPath'), `${path}.statusReplicasPath`, ['.status']),
    ...(selector === '' ? [] : pathCauses(selector, `${path}.labelSelectorPath`, ['.spec', '.status'])),
  ];
}
