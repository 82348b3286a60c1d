import type { AccessRequest } from '../ports.ts';
import { forbidden, StatusError } from '../status.ts';

/** The 403 for a request, with the reason of the authorizer. */
export function accessForbidden(request: AccessRequest, reason: string): StatusError {
  const message = `${escapeHtml(describe(request))}${reason === '' ? '' : `: ${reason}`}`;
  if (request.path === '') return forbidden({ group: request.group, plural: request.resource }, request.name, message);
  return new StatusError({ code: 403, reason: 'Forbidden', message: `forbidden: ${message}`, details: {} });
}

function describe({ user, verb, path, group, resource, subresource, namespace }: AccessRequest): string {
  const who = `User ${JSON.stringify(user.username)} cannot ${verb}`;
  if (path !== '') return `${who} path ${JSON.stringify(path)}`;
  const what = subresource === '' ? resource : `${resource}/${subresource}`;
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace ${JSON.stringify(namespace)}`;
  return `${who} resource ${JSON.stringify(what)} in API group ${JSON.stringify(group)} ${where}`;
}

/** User input must not become markup in a browser. */
function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
