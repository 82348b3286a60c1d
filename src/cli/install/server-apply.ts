import { isApiError, type StatusCause } from '#kube/api-error.ts';
import type { Client } from '#kube/client.ts';
import { objectPath, queryText, resourcePath } from '#kube/http/path.ts';
import type { KubeResource } from '#kube/resource.ts';
import { nameOf, resourceOf } from './kinds.ts';

/** Under which the API server records the fields of an installation. */
export const fieldManager = 'wmco-install';

export interface ApplyDeps {
  client: Pick<Client, 'raw'>;
  signal: AbortSignal;
  isForced: boolean;
}

/** A field that another manager has set to another value. */
export interface FieldConflict {
  object: string;
  field: string;
  manager: string;
}

export type ApplyResult = { object: KubeResource } | { conflicts: FieldConflict[] };

/** Server-side apply: the server keeps fields of others, and refuses to change them. */
export async function applyOnServer(
  manifest: KubeResource,
  { client, signal, isForced }: ApplyDeps,
  dryRun: boolean,
): Promise<ApplyResult> {
  const { name = '', namespace } = manifest.metadata;
  const query = queryText({
    fieldManager,
    force: isForced ? true : undefined,
    dryRun: dryRun ? 'All' : undefined,
  });
  const path = `${objectPath(resourceOf(manifest), { name, namespace })}${query}`;
  const options = { signal, body: manifest, contentType: 'application/apply-patch+yaml' };
  try {
    return { object: await client.raw<KubeResource>('PATCH', path, options) };
  } catch (error) {
    const conflicts = isApiError(error, 'Conflict') ? conflictsIn(error.details.causes ?? [], manifest) : [];
    if (conflicts.length === 0) throw error;
    return { conflicts };
  }
}

/** Lets the server check an object whose namespace does not exist yet; nothing is stored. */
export async function checkElsewhere(manifest: KubeResource, { client, signal }: ApplyDeps): Promise<void> {
  const { name: _, ...metadata } = manifest.metadata;
  const namespace = 'default';
  const path = `${resourcePath(resourceOf(manifest), { namespace })}${queryText({ dryRun: 'All', fieldManager })}`;
  const body = { ...manifest, metadata: { ...metadata, namespace, generateName: 'wmco-' } };
  await client.raw('POST', path, { signal, body });
}

/** `conflict with "kubectl" using apps/v1` and `.spec.replicas`. */
function conflictsIn(causes: readonly StatusCause[], manifest: KubeResource): FieldConflict[] {
  return causes
    .filter(({ reason }) => reason === 'FieldManagerConflict')
    .map(({ message = '', field = '' }) => ({
      object: nameOf(manifest),
      field,
      manager: /"([^"]*)"/.exec(message)?.[1] ?? 'another manager',
    }));
}
