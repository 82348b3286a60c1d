import { isRecord } from '#base/fields.ts';
import { ApiError } from '#kube/api-error.ts';
import type { Client } from '#kube/client.ts';
import type { KubeResource, Resource } from '#kube/resource.ts';
import { customResourceDefinitions, namespaces, secrets } from '#kube/resources.ts';
import { installedKinds, nameOf, resourceOf } from './kinds.ts';
import { listLabelled, type ManagedObject } from './labelled-objects.ts';
import { applyOnServer, checkElsewhere, type ApplyDeps, type FieldConflict, fieldManager } from './server-apply.ts';

export interface PlannedObject {
  object: KubeResource;
  is: 'new' | 'changed' | 'unchanged';
  /** Paths of what changes. */
  fields: string[];
}

export interface InstallPlan {
  planned: PlannedObject[];
  conflicts: FieldConflict[];
  /** Of a former version, which this one does not have. */
  obsolete: KubeResource[];
}

interface PlanDeps extends ApplyDeps {
  client: Client;
  hasNamespace: boolean;
  namespace: string;
}

/** Lets the API server check and default every object, without storing any. */
export async function planInstall(objects: readonly KubeResource[], deps: PlanDeps): Promise<InstallPlan> {
  const planned: PlannedObject[] = [];
  const conflicts: FieldConflict[] = [];
  for (const object of objects) {
    const isHomeless = object.metadata.namespace === deps.namespace && !deps.hasNamespace;
    if (isHomeless) {
      await checkElsewhere(object, deps);
      planned.push({ object, is: 'new', fields: [] });
      continue;
    }
    const { name = '', namespace } = object.metadata;
    const { client, signal } = deps;
    const place = { signal, ...(namespace !== undefined && { namespace }) };
    const before = await client.find(resourceOf(object), name, place);
    const result = await applyOnServer(object, deps, true);
    if ('conflicts' in result) conflicts.push(...result.conflicts);
    else planned.push(compare(object, before, result.object));
  }
  return { planned, conflicts, obsolete: await findObsolete(objects, deps) };
}

function compare(object: KubeResource, before: KubeResource | undefined, after: KubeResource): PlannedObject {
  if (before === undefined) return { object, is: 'new', fields: [] };
  const fields = differences(contentOf(before), contentOf(after), '');
  return { object, is: fields.length > 0 ? 'changed' : 'unchanged', fields };
}

/** Without what the server writes. */
function contentOf({ metadata, ...rest }: KubeResource): unknown {
  const { name, namespace, labels, annotations, ownerReferences, finalizers } = metadata;
  const { status: _, ...content } = rest as Record<string, unknown>;
  return { ...content, metadata: { name, namespace, labels, annotations, ownerReferences, finalizers } };
}

function differences(before: unknown, after: unknown, path: string): string[] {
  if (isRecord(before) && isRecord(after)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    return names.flatMap(name => differences(before[name], after[name], `${path}.${name}`));
  }
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length)
    return before.flatMap((each, index) => differences(each, after[index], `${path}[${index}]`));
  return JSON.stringify(before) === JSON.stringify(after) ? [] : [path];
}

/** Objects with the label of the operator that were applied by this command, and are no part of this version. */
async function findObsolete(objects: readonly KubeResource[], { client, signal }: PlanDeps): Promise<KubeResource[]> {
  const wanted = new Set(objects.map(nameOf));
  const kept: readonly Resource[] = [customResourceDefinitions, namespaces, secrets];
  const kinds = installedKinds.filter(each => !kept.includes(each));
  const noneIfForbidden = (error: unknown) => {
    if (error instanceof ApiError && error.code === 403) return [];
    throw error;
  };
  const lists = await Promise.all(kinds.map(each => listLabelled(client, each, signal).catch(noneIfForbidden)));
  return lists.flat().filter(each => isApplied(each) && !wanted.has(nameOf(each)));
}

function isApplied({ metadata }: ManagedObject): boolean {
  return (metadata.managedFields ?? []).some(
    ({ manager, operation }) => manager === fieldManager && operation === 'Apply',
  );
}
