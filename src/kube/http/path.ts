import { AppError, shown } from '#base/errors.ts';
import { apiVersionOf, type Resource } from '../resource.ts';

export interface ObjectPlace {
  namespace?: string | undefined;
  name?: string | undefined;
  subresource?: string | undefined;
}

/** Path of a collection, an object or a subresource. */
export function resourcePath(resource: Resource, { namespace, name, subresource }: ObjectPlace): string {
  const parts = [resource.group === '' ? 'api' : 'apis', apiVersionOf(resource)];
  if (resource.namespaced && namespace !== undefined && namespace !== '')
    parts.push('namespaces', segment(resource, 'namespace', namespace));
  parts.push(resource.plural);
  if (name !== undefined) parts.push(segment(resource, 'name', name));
  if (subresource !== undefined) parts.push(segment(resource, 'subresource', subresource));
  return `/${parts.join('/')}`;
}

/** Path of one object. Fails when a namespaced object has no namespace. */
export function objectPath(resource: Resource, place: ObjectPlace & { name: string }): string {
  requireNamespace(resource, place);
  return resourcePath(resource, place);
}

export function requireNamespace(resource: Resource, { namespace, name }: ObjectPlace): void {
  if (!resource.namespaced || (namespace !== undefined && namespace !== '')) return;
  throw new AppError('FIELD_INVALID', `${resource.kind} ${shown(name)} has no namespace`, {
    remedy: 'Set the namespace of the object.',
  });
}

export type QueryValue = string | number | boolean | undefined;

/** A query without empty members; '' when all are empty. */
export function queryText(values: Readonly<Record<string, QueryValue>>): string {
  const pairs = Object.entries(values)
    .filter(([, value]) => value !== undefined && value !== '')
    .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`);
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

/** An empty name would address the whole collection, a dot or slash another path. */
function segment(resource: Resource, what: string, text: string): string {
  if (text !== '' && text !== '.' && text !== '..' && !text.includes('/')) return encodeURIComponent(text);
  throw new AppError('FIELD_INVALID', `${resource.kind}: ${shown(text)} is not a valid ${what}`, {
    remedy: `Set the ${what} of the object.`,
  });
}
