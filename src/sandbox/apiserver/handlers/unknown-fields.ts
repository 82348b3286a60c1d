import { isRecord } from '#base/fields.ts';
import type { Call } from '../core.ts';
import type { Kind } from '../kind.ts';
import { metadataShape } from '../metadata.ts';
import { child, headMembers, isEmbedded, memberSchema, preserves, type Schema, schemaAt } from '../schema/schema.ts';
import type { Shape } from '../shape.ts';
import { badRequest } from '../status.ts';

/** Rejects unknown fields if the client requested `fieldValidation=Strict`. */
export function rejectUnknownFields({ kind, isStrict }: Pick<Call, 'kind' | 'isStrict'>, body: unknown): void {
  if (!isStrict || !isRecord(body)) return;
  const unknown = unknownFields(kind, body).map(path => `unknown field "${path}"`);
  if (unknown.length === 0) return;
  const where = `${kind.kind} in version "${kind.version}" cannot be handled as a ${kind.kind}`;
  throw badRequest(`${where}: strict decoding error: ${unknown.join(', ')}`);
}

function unknownFields(kind: Kind, body: Record<string, unknown>): string[] {
  const content = Object.fromEntries(Object.entries(body).filter(([name]) => !headMembers.includes(name)));
  const own = kind.custom
    ? outsideSchema(isRecord(kind.schema) ? kind.schema : {}, content, '', false)
    : outsideShape(kind.content ?? 'any', content, '');
  return [...outsideShape(acceptedMetadata, body['metadata'], 'metadata'), ...own];
}

/** The last two are accepted but not stored. */
const acceptedMetadata: Shape = { ...metadataShape, selfLink: 'any', managedFields: 'any' };

/** Values of the wrong type are reported by the decoder. */
function outsideShape(shape: Shape, value: unknown, path: string): string[] {
  if (typeof shape === 'string') return [];
  if (Array.isArray(shape)) {
    if (!Array.isArray(value)) return [];
    return value.flatMap((item, index) => outsideShape(shape[0] as Shape, item, `${path}[${index}]`));
  }
  if (!isRecord(value)) return [];
  const members = shape as { readonly [member: string]: Shape };
  return Object.entries(value).flatMap(([name, member]) => {
    const at = child(path, name);
    return Object.hasOwn(members, name) ? outsideShape(members[name] ?? 'any', member, at) : [at];
  });
}

function outsideSchema(schema: Schema | undefined, value: unknown, path: string, keepsUnknown: boolean): string[] {
  const keeps = keepsUnknown || preserves(schema);
  if (Array.isArray(value)) {
    const items = schemaAt(schema, 'items');
    return value.flatMap((item, index) => outsideSchema(items, item, `${path}[${index}]`, keeps));
  }
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    if (isEmbedded(schema) && headMembers.includes(name)) return [];
    const found = memberSchema(schema, name);
    if (found === undefined) return keeps ? [] : [child(path, name)];
    return outsideSchema(found.schema, member, child(path, name), false);
  });
}
