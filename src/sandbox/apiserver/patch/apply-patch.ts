import { isRecord } from '#base/fields.ts';
import { badRequest } from '../status.ts';
import { type ApplyContext, applyConfiguration } from './apply.ts';
import { isTooDeep } from './depth.ts';
import { jsonPatch } from './json-patch.ts';
import { mergePatch } from './merge-patch.ts';
import { strategicMerge } from './strategic-merge.ts';
import { type Json, typeOf } from './track-update.ts';

export type PatchKind = 'merge' | 'json' | 'strategic' | 'apply';

/**
 * The object after a patch, or a StatusError. Only apply works without a current object and writes managedFields itself;
 * after the others comes `trackUpdate`. The result is not checked against the kind.
 */
export function applyPatch(kind: PatchKind, current: Json | undefined, body: unknown, context: ApplyContext): Json {
  if (isTooDeep(body)) throw badRequest('the patch has too many levels');
  const patched =
    kind === 'apply' ? applyConfiguration(current, body, context) : patchedBy(kind, current ?? {}, body, context);
  // Copies of a JSON patch can go deeper than the patch itself.
  if (isTooDeep(patched)) throw badRequest('the object would have too many levels');
  return patched;
}

function patchedBy(kind: Exclude<PatchKind, 'apply'>, target: Json, body: unknown, context: ApplyContext): Json {
  if (kind === 'strategic') return strategicMerge(typeOf(context), target, body);
  if (kind === 'json') return jsonPatch(target, body) as Json;
  if (!isRecord(body)) throw badRequest('a merge patch must be an object');
  return mergePatch(target, body) as Json;
}
