import { isRecord } from '#base/fields.ts';
import { badRequest } from '../status.ts';
import { isTooDeep } from './depth.ts';
import { jsonPatch } from './json-patch.ts';
import { mergePatch } from './merge-patch.ts';
import type { MergeType } from './merge-type.ts';
import { type Json, strategicMerge } from './strategic-merge.ts';

export type PatchKind = 'merge' | 'json' | 'strategic';

/** Returns the patched object or throws a StatusError; does not validate. */
export function applyPatch(kind: PatchKind, current: Json, body: unknown, type: MergeType): Json {
  if (isTooDeep(body)) throw badRequest('the patch has too many levels');
  const patched = patchBy(kind, current, body, type);
  // Copies can be deeper than the patch itself.
  if (isTooDeep(patched)) throw badRequest('the object would have too many levels');
  return patched;
}

function patchBy(kind: PatchKind, target: Json, body: unknown, type: MergeType): Json {
  if (kind === 'strategic') return strategicMerge(type, target, body);
  if (kind === 'json') return jsonPatch(target, body) as Json;
  if (!isRecord(body)) throw badRequest('a merge patch must be an object');
  return mergePatch(target, body) as Json;
}
