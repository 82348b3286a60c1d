import { isRecord } from '#base/fields.ts';
import { apiVersionOf } from '#kube/resource.ts';
import { type Call, type Core, findObject } from '../core.ts';
import { applyPatch, type PatchKind } from '../patch/apply-patch.ts';
import type { StoredObject } from '../ports.ts';
import { cause, invalid, invalidOptions, notFound, StatusError, unsupportedMediaType } from '../status.ts';
import { requireNamespace, storeNew } from './create.ts';
import { decodeObject } from './decode.ts';
import { changeContext } from './prepare.ts';
import { checkNames, checkVersion, type Updated, updateObject } from './update.ts';

export interface PatchRequest {
  type: PatchKind;
  body: unknown;
  /** Undefined when the client does not say. */
  force: boolean | undefined;
}

const mediaTypes: Record<string, PatchKind> = {
  'application/json-patch+json': 'json',
  'application/merge-patch+json': 'merge',
  'application/strategic-merge-patch+json': 'strategic',
  'application/apply-patch+yaml': 'apply',
};

/** The form of a patch by its content type, which must be one the kind knows. */
export function patchKindOf(contentType: string, call: Pick<Call, 'kind'>): PatchKind {
  const type = mediaTypes[contentType.split(';')[0]?.trim().toLowerCase() ?? ''];
  if (type === undefined)
    throw new StatusError({
      code: 415,
      reason: 'UnsupportedMediaType',
      message: '415: Unsupported Media Type',
      details: {},
    });
  // Only built-in kinds say how their lists are merged.
  if (type === 'strategic' && call.kind.custom)
    throw unsupportedMediaType(Object.keys(mediaTypes).filter(name => mediaTypes[name] !== 'strategic'));
  return type;
}

export function patchObject(core: Core, call: Call, request: PatchRequest): Updated {
  checkOptions(call, request);
  const current = findObject(core, call);
  if (current === undefined) return { object: createByApply(core, call, request), created: true };
  const patched = decodePatched(call, request.type, patchedBody(core, call, request, call.kind.fromStored(current)));
  checkNames(call, patched);
  if (patched.metadata.resourceVersion !== current.metadata.resourceVersion) checkVersion(call, patched, current);
  return { object: updateObject(core, call, current, patched), created: false };
}

function checkOptions(call: Call, { type, force }: PatchRequest): void {
  const causes = [
    ...(type === 'apply' && call.fieldManager === ''
      ? [cause.required('fieldManager', 'is required for apply patch')]
      : []),
    ...(type !== 'apply' && force !== undefined
      ? [cause.forbidden('force', 'may not be specified for non-apply patch')]
      : []),
  ];
  if (causes.length > 0) throw invalidOptions('PatchOptions', causes);
}

function createByApply(core: Core, call: Call, request: PatchRequest): StoredObject {
  if (request.type !== 'apply' || call.subresource !== '') throw notFound(call.kind, call.name);
  const sent = decodeObject(call.kind, patchedBody(core, call, request, undefined));
  checkNames(call, sent);
  if (call.kind.namespaced) requireNamespace(core, call, call.name);
  const metadata = { ...sent.metadata, ...(call.namespace === '' ? {} : { namespace: call.namespace }) };
  return storeNew(core, call, { ...sent, metadata });
}

function patchedBody(core: Core, call: Call, request: PatchRequest, current: StoredObject | undefined): unknown {
  const context = { ...changeContext(core, call), force: request.force ?? false };
  // An absent name in an applied configuration is refused before anything else is looked at.
  if (request.type === 'apply' && isRecord(request.body)) checkNames(call, bareObject(call, request.body));
  return applyPatch(request.type, current, request.body, context);
}

function bareObject(call: Call, body: Record<string, unknown>): StoredObject {
  const metadata = isRecord(body['metadata']) ? body['metadata'] : {};
  return { apiVersion: apiVersionOf(call.kind), kind: call.kind.kind, metadata };
}

/** A patch whose result is no object of the kind is the patch's fault. */
function decodePatched(call: Call, type: PatchKind, patched: unknown): StoredObject {
  try {
    return decodeObject(call.kind, patched);
  } catch (error) {
    if (!(error instanceof StatusError) || error.status.code !== 400 || type === 'apply') throw error;
    throw invalid({ group: '', kind: '' }, '', [cause.invalid('patch', JSON.stringify(patched), error.message)]);
  }
}
