import { sameData } from '#base/compare.ts';
import { isRecord } from '#base/fields.ts';
import { badRequest, StatusError } from '../status.ts';
import { listIndex, memberOf, parsePointer, valueAt } from './json-pointer.ts';

/** JSON patch, RFC 6902. Does not change the document; all operations succeed or none is applied. */
export function jsonPatch(document: unknown, body: unknown): unknown {
  return operationsOf(body).reduce<unknown>(applyOperation, document);
}

function operationsOf(body: unknown): Record<string, unknown>[] {
  if (body === null) return [];
  if (!Array.isArray(body)) throw badRequest('a JSON patch must be a list of operations');
  return body.map((operation: unknown) => {
    if (!isRecord(operation)) throw badRequest('every operation of a JSON patch must be an object');
    return operation;
  });
}

function applyOperation(document: unknown, operation: Record<string, unknown>): unknown {
  const path = pointerOf(operation['path']);
  const value = operation['value'] ?? null;
  switch (operation['op']) {
    case 'add':
      return add(document, path, value);
    case 'remove':
      return remove(document, path);
    case 'replace':
      return replace(document, path, value);
    case 'move': {
      const from = pointerOf(operation['from']);
      return add(remove(document, from), path, valueOrThrow(document, from));
    }
    case 'copy':
      return add(document, path, valueOrThrow(document, pointerOf(operation['from'])));
    case 'test':
      return test(document, path, value);
    default:
      throw inapplicable();
  }
}

function add(document: unknown, path: readonly string[], value: unknown): unknown {
  return changeParent(document, path, (parent, token) => {
    if (!Array.isArray(parent)) return { ...parent, [token]: value };
    // The index may also be the length of the list.
    const index = token === '-' ? parent.length : listIndex(token, parent.length + 1);
    if (index === undefined) throw inapplicable();
    return parent.toSpliced(index, 0, value);
  });
}

function remove(document: unknown, path: readonly string[]): unknown {
  return changeParent(document, path, (parent, token) => {
    valueOrThrow(parent, [token]);
    if (Array.isArray(parent)) return parent.toSpliced(listIndex(token, parent.length) ?? 0, 1);
    return Object.fromEntries(Object.entries(parent).filter(([name]) => name !== token));
  });
}

function replace(document: unknown, path: readonly string[], value: unknown): unknown {
  return changeParent(document, path, (parent, token) => {
    valueOrThrow(parent, [token]);
    return withMember(parent, token, value);
  });
}

/** A missing member equals null, as in the API server. */
function test(document: unknown, path: readonly string[], value: unknown): unknown {
  const parent = path.length === 0 ? { value: document } : valueAt(document, path.slice(0, -1));
  const found = valueAt(document, path);
  const absent = found === undefined && isRecord(parent?.value);
  if (!sameData(absent ? null : found?.value, value)) throw inapplicable();
  return document;
}

type Container = unknown[] | Record<string, unknown>;

/** Changes the container of the last token. The document itself cannot be the target. */
function changeParent(
  document: unknown,
  path: readonly string[],
  change: (parent: Container, token: string) => unknown,
): unknown {
  const [token, ...rest] = path;
  if (token === undefined || !isContainer(document)) throw inapplicable();
  if (rest.length === 0) return change(document, token);
  const child = memberOf(document, token);
  if (child === undefined) throw inapplicable();
  return withMember(document, token, changeParent(child.value, rest, change));
}

function withMember(container: Container, token: string, value: unknown): Container {
  if (!Array.isArray(container)) return { ...container, [token]: value };
  return container.with(listIndex(token, container.length) ?? 0, value);
}

function isContainer(value: unknown): value is Container {
  return Array.isArray(value) || isRecord(value);
}

function valueOrThrow(document: unknown, path: readonly string[]): unknown {
  const found = valueAt(document, path);
  if (found === undefined) throw inapplicable();
  return found.value;
}

function pointerOf(text: unknown): string[] {
  const tokens = typeof text === 'string' ? parsePointer(text) : undefined;
  if (tokens === undefined) throw inapplicable();
  return tokens;
}

/** The API server does not report which operation failed. */
function inapplicable(): StatusError {
  const message = 'the server rejected our request due to an error in our request';
  return new StatusError({ code: 422, reason: 'Invalid', message, details: {} });
}
