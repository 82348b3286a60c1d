import type { Kind } from './kind.ts';
import type { StoredObject } from './ports.ts';
import { badRequest } from './status.ts';

interface Term {
  field: string;
  equal: boolean;
  value: string;
}

export type FieldSelector = readonly Term[];

/** Parses a field selector; rejects fields that the kind does not support. */
export function parseFieldSelector(text: string, kind: Kind): FieldSelector {
  const terms = split(text).map(part => termOf(part, text));
  for (const { field } of terms) if (!isSelectable(field, kind)) throw unsupported(field, kind);
  return terms;
}

export function matchesFields(selector: FieldSelector, object: StoredObject, kind: Kind): boolean {
  return selector.every(({ field, equal, value }) => (valueOf(field, object, kind) === value) === equal);
}

function valueOf(field: string, object: StoredObject, kind: Kind): string {
  if (field === 'metadata.name') return object.metadata.name ?? '';
  if (field === 'metadata.namespace') return object.metadata.namespace ?? '';
  return kind.fields[field]?.(object) ?? '';
}

function isSelectable(field: string, kind: Kind): boolean {
  if (field === 'metadata.name' || Object.hasOwn(kind.fields, field)) return true;
  return field === 'metadata.namespace' && kind.namespaced;
}

function unsupported(field: string, kind: Kind): Error {
  const plain = Object.keys(kind.fields).length === 0 && !kind.custom;
  return badRequest(
    plain
      ? `"${field}" is not a known field selector: only "metadata.name", "metadata.namespace"`
      : `field label not supported: ${field}`,
  );
}

/** Splits at commas that are not escaped. */
function split(text: string): string[] {
  return (text.match(/(?:\\.|[^,\\])+/gs) ?? []).filter(part => part !== '');
}

function termOf(part: string, whole: string): Term {
  const match = /^((?:\\.|[^\\=!])*)(!=|==|=)(.*)$/s.exec(part);
  if (match === null) throw badRequest(`invalid selector: '${whole}'; can't understand '${part}'`);
  const value = (match[3] ?? '').replaceAll(/\\([\\,=])/g, '$1');
  return { field: match[1] ?? '', equal: match[2] !== '!=', value };
}
