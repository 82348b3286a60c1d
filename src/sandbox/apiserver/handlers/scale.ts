import { type Call, type Core, requireObject } from '../core.ts';
import type { Kind } from '../kind.ts';
import { memberAt, numberAt, withValueAt } from '../object.ts';
import { applyPatch, type PatchKind } from '../patch/apply-patch.ts';
import type { StoredObject } from '../ports.ts';
import { badRequest, cause, conflict, invalid } from '../status.ts';
import { updateObject } from './update.ts';

export function scaleOf({ scale }: Pick<Kind, 'scale'>, object: StoredObject): Record<string, unknown> {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const selector = memberAt(object, scale?.selector ?? '');
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    spec: { replicas: numberAt(object, scale?.specReplicas ?? '') },
    status: {
      replicas: numberAt(object, scale?.statusReplicas ?? ''),
      ...(typeof selector === 'string' && selector !== '' && { selector }),
    },
  };
}

export function readScale(core: Core, call: Call): Record<string, unknown> {
  return scaleOf(call.kind, requireObject(core, call));
}

export function replaceScale(core: Core, call: Call, body: unknown): Record<string, unknown> {
  const object = requireObject(core, call);
  const version = memberAt(body, 'metadata.resourceVersion');
  if (typeof version === 'string' && version !== '' && version !== object.metadata.resourceVersion) {
    throw conflict(call.kind, call.name);
  }
  const replicas = memberAt(body, 'spec.replicas') ?? 0;
  if (!Number.isSafeInteger(replicas)) throw badRequest('Scale: spec.replicas is not a whole number');
  if (Number(replicas) < 0) {
    const subject = { group: 'autoscaling', kind: 'Scale' };
    throw invalid(subject, call.name, [cause.invalid('spec.replicas', replicas, 'must be greater than or equal to 0')]);
  }
  const next = withValueAt(call.kind.fromStored(object), call.kind.scale?.specReplicas ?? '', replicas);
  return scaleOf(call.kind, updateObject(core, { ...call, subresource: '' }, object, next));
}

export function patchScale(core: Core, call: Call, type: PatchKind, body: unknown): Record<string, unknown> {
  return replaceScale(core, call, applyPatch(type, readScale(core, call), body, { is: 'plain' }));
}
