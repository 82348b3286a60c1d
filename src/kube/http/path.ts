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

/** Path of one object. An object without its namespace would be looked for, or made, at a place that does not exist. */
export function objectPath(resource: Resource, place: ObjectPlace & { name: string }): string {
  requireNamespace(resource, place);
  return resourcePath(resource, place);
}

export function requireNamespace(resource: Resource, { namespace, name }: ObjectPlace): void {
  if (!resource.namespaced || (namespace !== undefined && namespace !== '')) return;
  throw new AppError('FIELD_INVALID', `${resource.kind} ${shown(name)} is asked for without a namespace`, {
    remedy: 'Name the namespace of the object.',
  });
}

export type QueryValue = string | number | boolean | undefined;

/** A query without the members that are absent; empty when all are. */
export function queryText(values: Readonly<Record<string, QueryValue>>): string {
  const pairs = Object.entries(values)
    .filter(([, value]) => value !== undefined && value !== '')
    .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`);
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

/** An empty name would address the whole collection, a dot or slash something else altogether. */
function segment(resource: Resource, what: string, text: string): string {
  if (text !== '' && text !== '.' && text !== '..' && !text.includes('/')) return encodeURIComponent(text);
  throw new AppError('FIELD_INVALID', `${resource.kind}: ${shown(text)} cannot be a ${what}`, {
    remedy: `Give the ${what} of an object.`,
  });
}
