import { isTrue } from './list-options.ts';
import type { AccessRequest, UserInfo } from './ports.ts';

/** A request as its method and path describe it. Strings are empty where they do not apply. */
export interface RequestInfo extends Omit<AccessRequest, 'user'> {
  /** Path segments after the subresource. */
  rest: readonly string[];
}

const verbs: Record<string, string> = { POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' };

/** Parses an API path; everything outside /api/v1 and /apis is a non-resource path. */
export function readRequestInfo(method: string, path: string, query: URLSearchParams): RequestInfo {
  const parts = path
    .split('/')
    .filter(part => part !== '')
    .map(percentDecode);
  const head = parts[0] === 'api' ? 2 : parts[0] === 'apis' ? 3 : parts.length;
  if (parts.length <= head) return nonResource(method, path);
  const [group = '', version = ''] = parts[0] === 'api' ? ['', parts[1]] : [parts[1], parts[2]];
  const target = targetOf(parts.slice(head));
  if (target.resource === '') return nonResource(method, path);
  const verb = verbOf(method, target.name, isTrue(query.get('watch')));
  // Listing by metadata.name counts as access to that object.
  const name = target.name === '' && ['list', 'watch'].includes(verb) ? nameInSelector(query) : target.name;
  const fieldSelector = query.get('fieldSelector') ?? '';
  return { verb, path: '', group, version, ...target, name, ...(fieldSelector !== '' && { fieldSelector }) };
}

/** The request for the authorizer; a Namespace is in the namespace of its own name. */
export function accessOf(info: RequestInfo, user: UserInfo): AccessRequest {
  const { rest: _, ...access } = info;
  const { group, resource, name } = info;
  const namespace = group === '' && resource === 'namespaces' ? name : info.namespace;
  return { user, ...access, namespace };
}

function nonResource(method: string, path: string): RequestInfo {
  const none = { group: '', version: '', resource: '', subresource: '', namespace: '', name: '', rest: [] };
  return { verb: method.toLowerCase(), path, ...none };
}

type Target = Pick<RequestInfo, 'namespace' | 'resource' | 'name' | 'subresource' | 'rest'>;

function targetOf(parts: readonly string[]): Target {
  const own = parts[2] === undefined || ['status', 'finalize'].includes(parts[2]);
  const inNamespace = parts[0] === 'namespaces' && !own;
  const [resource = '', name = '', subresource = '', ...rest] = inNamespace ? parts.slice(2) : parts;
  return { namespace: inNamespace ? (parts[1] ?? '') : '', resource, name, subresource, rest };
}

function verbOf(method: string, name: string, watches: boolean): string {
  if (method === 'GET' || method === 'HEAD') return name !== '' ? 'get' : watches ? 'watch' : 'list';
  if (method === 'DELETE' && name === '') return 'deletecollection';
  return verbs[method] ?? '';
}

function nameInSelector(query: URLSearchParams): string {
  return /(?:^|,)metadata\.name==?([^,=!\\]+)(?:,|$)/.exec(query.get('fieldSelector') ?? '')?.[1] ?? '';
}

/** Keeps malformed input. */
export function percentDecode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
