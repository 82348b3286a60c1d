import { sameData } from '#base/compare.ts';
import { isRecord } from '#base/fields.ts';
import type { StatusCause } from '#kube/api-error.ts';
import { cause } from '../status.ts';
import { embeddedCauses } from './embedded.ts';
import { prune } from './prune.ts';
import { propertiesOf, type Schema, schemaAt } from './schema.ts';
import { validate } from './validate.ts';

/** Defaults that their own schema would not let pass. Those inside additionalProperties are not looked at. */
export function defaultCauses(schema: Schema, path: string): StatusCause[] {
  const items = schemaAt(schema, 'items');
  return [
    ...ownCauses(schema, `${path}.default`),
    ...(items === undefined ? [] : defaultCauses(items, `${path}.items`)),
    ...Object.entries(propertiesOf(schema)).flatMap(([name, part]) =>
      isRecord(part) ? defaultCauses(part, `${path}.properties[${name}]`) : [],
    ),
  ];
}

function ownCauses(schema: Schema, field: string): StatusCause[] {
  const value = schema['default'];
  if (value === undefined) return [];
  return [
    ...(sameData(prune(schema, value), value) ? [] : [cause.invalid(field, value, 'must not have unknown fields')]),
    ...embeddedCauses(schema, value, field),
    ...validate(schema, value, field),
  ];
}
