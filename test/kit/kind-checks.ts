import type { Kind, KindContext } from '../../src/sandbox/apiserver/kind.ts';
import type { StoredObject } from '../../src/sandbox/apiserver/ports.ts';
import { Store } from '../../src/sandbox/apiserver/store.ts';

export const now = Date.parse('2026-01-02T03:04:05Z');

/** An object of the kind with the content given. */
export function objectOf(kind: Kind, content: Record<string, unknown> = {}, metadata: object = {}): StoredObject {
  const apiVersion = kind.group === '' ? kind.version : `${kind.group}/${kind.version}`;
  return { apiVersion, kind: kind.kind, metadata: { name: 'a', ...metadata }, ...content };
}

/** The object as the kind stores it when it is new. */
export function created(
  kind: Kind,
  content: Record<string, unknown> = {},
  context: Partial<KindContext> = {},
): StoredObject {
  const user = { username: 'joe', groups: ['devs'], uid: 'u' };
  return kind.prepareCreate(objectOf(kind, content), { user, now, store: new Store(), ...context });
}

/** What is wrong with the content, as field and message. */
export function problems(kind: Kind, content: Record<string, unknown>, old?: Record<string, unknown>): string[] {
  const before = old === undefined ? undefined : objectOf(kind, old);
  return kind.check(objectOf(kind, content), before, '').map(({ field, message }) => `${field}: ${message}`);
}

/** The row of the object in a table, by the names of the columns. */
export function row(kind: Kind, content: Record<string, unknown>, metadata: object = {}): Record<string, unknown> {
  const object = objectOf(kind, content, { creationTimestamp: '2026-01-02T03:03:05Z', ...metadata });
  return Object.fromEntries(kind.columns.map(column => [column.name, column.cell(object, now)]));
}
