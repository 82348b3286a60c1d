import { type Call, type Core, requireObject } from '../core.ts';
import { applyPatch, type PatchKind } from '../patch/apply-patch.ts';
import { builtInType } from '../patch/built-in-types.ts';
import type { StoredObject } from '../ports.ts';
import { cause, invalid, invalidOptions, StatusError, unsupportedMediaType } from '../status.ts';
import { decodeObject } from './decode.ts';
import { rejectUnknownFields } from './unknown-fields.ts';
import { checkNames, checkVersion, updateObject } from './update.ts';

export interface PatchRequest {
  type: PatchKind;
  body: unknown;
  /** Undefined if not set. */
  force: boolean | undefined;
}

const mediaTypes: Record<string, PatchKind> = {
  'application/json-patch+json': 'json',
  'application/merge-patch+json': 'merge',
  'application/strategic-merge-patch+json': 'strategic',
};

export function isApply(contentType: string): boolean {
  return contentType.split(';')[0]?.trim().toLowerCase() === 'application/apply-patch+yaml';
}

/** The patch type of a content type that the kind supports. */
export function patchKindOf(contentType: string, call: Pick<Call, 'kind'>): PatchKind {
  const type = mediaTypes[contentType.split(';')[0]?.trim().toLowerCase() ?? ''];
  if (type === undefined)
    throw new StatusError({
      code: 415,
      reason: 'UnsupportedMediaType',
      message: '415: Unsupported Media Type',
      details: {},
    });
  // Only built-in kinds have merge keys.
  if (type === 'strategic' && call.kind.custom)
    throw unsupportedMediaType(Object.keys(mediaTypes).filter(name => mediaTypes[name] !== 'strategic'));
  return type;
}

export function patchObject(core: Core, call: Call, request: PatchRequest): StoredObject {
  if (request.force !== undefined)
    throw invalidOptions('PatchOptions', [cause.forbidden('force', 'may not be specified for non-apply patch')]);
  const current = requireObject(core, call);
  const type = builtInType(call.kind.group, call.kind.kind);
  const result = applyPatch(request.type, call.kind.fromStored(current), request.body, type);
  rejectUnknownFields(call, result);
  const patched = decodePatched(call, result);
  checkNames(call, patched);
  if (patched.metadata.resourceVersion !== current.metadata.resourceVersion) checkVersion(call, patched, current);
  return updateObject(core, call, current, patched);
}

/** Reports an undecodable result as an invalid patch. */
function decodePatched(call: Call, patched: unknown): StoredObject {
  try {
    return decodeObject(call.kind, patched);
  } catch (error) {
    if (!(error instanceof StatusError) || error.status.code !== 400) throw error;
    throw invalid({ group: '', kind: '' }, '', [cause.invalid('patch', JSON.stringify(patched), error.message)]);
  }
}
