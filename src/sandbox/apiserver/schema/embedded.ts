import { isRecord } from '#base/fields.ts';
import type { StatusCause } from '#kube/api-error.ts';
import { newMetadataCauses, readMetadata } from '../metadata.ts';
import { nameProblems } from '../names.ts';
import { cause } from '../status.ts';
import { child, isEmbedded, memberSchema, type Schema, schemaAt } from './schema.ts';

/** What is wrong with the apiVersion, kind and metadata of objects inside the object. */
export function embeddedCauses(schema: Schema | undefined, value: unknown, path: string): StatusCause[] {
  if (schema === undefined) return [];
  if (Array.isArray(value)) {
    const items = schemaAt(schema, 'items');
    return value.flatMap((item, index) => embeddedCauses(items, item, `${path}[${index}]`));
  }
  if (!isRecord(value)) return [];
  const members = Object.entries(value).flatMap(([name, member]) =>
    embeddedCauses(memberSchema(schema, name)?.schema, member, child(path, name)),
  );
  return isEmbedded(schema) ? [...headCauses(value, path), ...members] : members;
}

function headCauses(value: Record<string, unknown>, path: string): StatusCause[] {
  const missing = ['apiVersion', 'kind'].filter(name => !Object.hasOwn(value, name));
  return [
    ...missing.map(name => cause.required(child(path, name), 'must not be empty')),
    ...apiVersionCauses(value['apiVersion'], child(path, 'apiVersion')),
    ...kindCauses(value['kind'], child(path, 'kind')),
    ...metadataCauses(value['metadata'], path),
  ];
}

function apiVersionCauses(value: unknown, field: string): StatusCause[] {
  if (value === undefined) return [];
  if (typeof value !== 'string') return [cause.invalid(field, value, 'must be a string')];
  if (value === '') return [cause.invalid(field, value, 'must not be empty')];
  return value.split('/').length > 2 ? [cause.invalid(field, value, `unexpected GroupVersion string: ${value}`)] : [];
}

function kindCauses(value: unknown, field: string): StatusCause[] {
  if (value === undefined) return [];
  if (typeof value !== 'string') return [cause.invalid(field, value, 'must be a string')];
  if (value === '') return [cause.invalid(field, value, 'must not be empty')];
  const problems = nameProblems('dns1035', value.toLowerCase());
  if (problems.length === 0) return [];
  return [cause.invalid(field, value, `may have mixed case, but should otherwise match: ${problems.join(',')}`)];
}

/** An embedded object needs no name. */
function metadataCauses(value: unknown, path: string): StatusCause[] {
  if (value === undefined) return [];
  const metadata = readMetadata(value);
  if (metadata === undefined)
    return [cause.invalid(child(path, 'metadata'), value, 'must be the metadata of an object')];
  const named = { ...metadata, name: metadata.name ?? 'unnamed' };
  return newMetadataCauses(named, { nameRule: 'path', group: '', custom: true }).map(found => ({
    ...found,
    field: child(path, found.field ?? ''),
  }));
}
