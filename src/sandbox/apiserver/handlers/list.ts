import type { Call, Core } from '../core.ts';
import { isSelected, type ListOptions } from '../list-options.ts';
import type { StoredObject } from '../ports.ts';
import { badRequest, versionTooLarge } from '../status.ts';

export interface Page {
  resourceVersion: string;
  items: StoredObject[];
  /** Continue token; empty on the last page. */
  continue: string;
  /** Undefined for lists with selectors. */
  remaining: number | undefined;
}

type Scope = Pick<Call, 'kind' | 'namespace'>;

/** One page of a list, in the requested version. */
export function listObjects(core: Core, scope: Scope, options: ListOptions): Page {
  const start = options.continue === '' ? undefined : readToken(options);
  const revision = start?.revision ?? wantedRevision(core, options);
  const { storageKey } = scope.kind;
  const all =
    revision === undefined
      ? core.store.list(storageKey, scope.namespace)
      : core.store.listAt(storageKey, revision, scope.namespace);
  const shown = revision ?? core.store.revision;
  const rest = start === undefined ? all : all.filter(object => keyWithin(object, scope.namespace) >= start.key);
  return { resourceVersion: String(shown), ...firstPage(rest, shown, scope, options) };
}

function firstPage(
  rest: readonly StoredObject[],
  revision: number,
  { kind, namespace }: Scope,
  options: ListOptions,
): Omit<Page, 'resourceVersion'> {
  const limit = options.limit === 0 ? Number.POSITIVE_INFINITY : options.limit;
  const items: StoredObject[] = [];
  let seen = 0;
  for (const object of rest) {
    if (items.length === limit) break;
    seen += 1;
    if (isSelected(options, object, kind)) items.push(kind.fromStored(object));
  }
  const last = rest[seen - 1];
  if (seen === rest.length || last === undefined) return { items, continue: '', remaining: undefined };
  const plain = options.labels.length === 0 && options.fields.length === 0;
  const token = printToken(revision, `${keyWithin(last, namespace)}\u0000`);
  return { items, continue: token, remaining: plain ? rest.length - seen : undefined };
}

/** The exact revision to list; undefined for the latest. */
function wantedRevision(core: Core, { resourceVersion = 0, match, limit }: ListOptions): number | undefined {
  const { revision } = core.store;
  if (resourceVersion > revision) throw versionTooLarge(resourceVersion, revision);
  const exact = match === 'Exact' || (match === '' && limit > 0);
  return exact && resourceVersion > 0 ? resourceVersion : undefined;
}

function keyWithin({ metadata }: StoredObject, namespace: string): string {
  const { namespace: own = '', name = '' } = metadata;
  return namespace !== '' || own === '' ? name : `${own}/${name}`;
}

function printToken(revision: number, start: string): string {
  const text = JSON.stringify({ v: 'meta.k8s.io/v1', rv: revision, start });
  return Buffer.from(text).toString('base64url');
}

function readToken(options: ListOptions): { revision: number; key: string } {
  if ((options.resourceVersion ?? 0) !== 0)
    throw badRequest('specifying resource version is not allowed when using continue');
  const token = parseToken(options.continue);
  if (typeof token.rv !== 'number' || typeof token.start !== 'string' || token.v !== 'meta.k8s.io/v1')
    throw badRequest('invalid continue token: continue key is not valid');
  return { revision: token.rv, key: token.start };
}

function parseToken(token: string): { v?: unknown; rv?: unknown; start?: unknown } {
  try {
    const value: unknown = JSON.parse(Buffer.from(token, 'base64url').toString());
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}
