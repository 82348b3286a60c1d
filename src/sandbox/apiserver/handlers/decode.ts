import { isRecord } from '#base/fields.ts';
import { apiVersionOf } from '#kube/resource.ts';
import type { Kind } from '../kind.ts';
import { readMetadata } from '../metadata.ts';
import type { StoredObject } from '../ports.ts';
import { fitShape, ShapeMismatch } from '../shape.ts';
import { badRequest, cause, invalid } from '../status.ts';

/** Decodes an object in the version of the client; drops unknown fields. */
export function decodeObject(kind: Kind, body: unknown): StoredObject {
  if (!isRecord(body)) throw badRequest(`the object provided is unrecognized (must be of type ${kind.kind})`);
  return kind.custom ? decodeCustom(kind, body) : decodeBuiltIn(kind, body);
}

function decodeBuiltIn(kind: Kind, body: Record<string, unknown>): StoredObject {
  const apiVersion = apiVersionOf(kind);
  const [sentVersion, sentKind] = [textOf(body['apiVersion']) || apiVersion, textOf(body['kind']) || kind.kind];
  if (sentVersion !== apiVersion || sentKind !== kind.kind)
    throw badRequest(`${cannotHandle(sentKind, kind)}: it is of apiVersion "${sentVersion}" and kind "${sentKind}"`);
  const metadata = readMetadata(body['metadata'] ?? {});
  if (metadata === undefined) throw badRequest(`${cannotHandle(kind.kind, kind)}: metadata cannot be read`);
  try {
    const content = fitShape(kind.content ?? 'any', withoutHead(body)) as Record<string, unknown>;
    return { apiVersion, kind: kind.kind, metadata, ...content };
  } catch (error) {
    if (error instanceof ShapeMismatch) throw badRequest(`${cannotHandle(kind.kind, kind)}: ${error.message}`);
    throw error;
  }
}

function decodeCustom(kind: Kind, body: Record<string, unknown>): StoredObject {
  const apiVersion = apiVersionOf(kind);
  const [sentVersion, sentKind] = [textOf(body['apiVersion']), textOf(body['kind'])];
  if (sentKind === '') throw badRequest(`${cannotHandle(kind.kind, kind)}: Object 'Kind' is missing`);
  if (sentVersion !== apiVersion)
    throw badRequest(
      `the API version in the data (${sentVersion}) does not match the expected API version (${apiVersion})`,
    );
  const metadata = readMetadata(body['metadata'] ?? {});
  if (metadata === undefined) throw badRequest(`${cannotHandle(kind.kind, kind)}: metadata cannot be read`);
  if (sentKind !== kind.kind)
    throw invalid({ group: kind.group, kind: sentKind }, metadata.name ?? '', [
      cause.invalid('kind', sentKind, `must be ${kind.kind}`),
    ]);
  return { ...withoutHead(body), apiVersion, kind: kind.kind, metadata };
}

function cannotHandle(sent: string, kind: Kind): string {
  return `${sent} in version "${kind.version}" cannot be handled as a ${kind.kind}`;
}

function withoutHead(body: Record<string, unknown>): Record<string, unknown> {
  const rest = { ...body };
  for (const name of ['apiVersion', 'kind', 'metadata']) delete rest[name];
  return rest;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
