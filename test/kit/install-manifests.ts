import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments, parse } from 'yaml';
import { isAlreadyExists, isNotFound } from '../../src/kube/api-error.ts';
import type { Client } from '../../src/kube/client.ts';
import type { KubeResource, Resource } from '../../src/kube/resource.ts';
import type { ClusterKind } from '../../src/sandbox/machines/initial-objects/objects.ts';
import type { Manifest } from '../../src/operator/rbac-manifests.ts';

const folder = join(import.meta.dirname, '..', '..', 'deploy');

/** The objects that `kubectl apply -k deploy/KIND` applies, read from the files themselves. */
export function installManifests(kind: ClusterKind): Manifest[] {
  const base = join(folder, kind);
  const { resources } = parse(readFileSync(join(base, 'kustomization.yaml'), 'utf8')) as { resources: string[] };
  return resources.flatMap(name =>
    parseAllDocuments(readFileSync(join(base, name), 'utf8')).map(each => each.toJS() as Manifest),
  );
}

const kindsOfRights = ['ServiceAccount', 'ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding'];

/** Those that say who the operator is and what it may do. */
export function installedRights(kind: ClusterKind): Manifest[] {
  return installManifests(kind).filter(each => kindsOfRights.includes(each.kind));
}

/**
 * Creates them in their order, like a kubectl for any kind that the API server serves. Gives those whose kind it does not serve;
 * what exists already is left as it is.
 */
export async function applyManifests(admin: Client, manifests: readonly Manifest[]): Promise<Manifest[]> {
  const unknown: Manifest[] = [];
  for (const manifest of manifests) {
    const resource = await resourceOf(admin, manifest);
    if (resource === undefined) unknown.push(manifest);
    else await createOnce(admin, resource, manifest);
  }
  return unknown;
}

async function createOnce(admin: Client, resource: Resource, object: KubeResource): Promise<void> {
  try {
    await admin.create(resource, object);
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}

async function resourceOf(admin: Client, { apiVersion, kind }: Manifest): Promise<Resource | undefined> {
  const path = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const [group, version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
  try {
    const { resources } = await admin.raw<{ resources: Served[] }>('GET', path);
    const found = resources.find(each => each.kind === kind && !each.name.includes('/'));
    if (found === undefined) return undefined;
    return { group: group ?? '', version: version ?? '', kind, plural: found.name, namespaced: found.namespaced };
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

interface Served {
  name: string;
  kind: string;
  namespaced: boolean;
}

/** The rights in a file of `deploy/rbac`, for clusters that have something more. */
export function optionalRights(name: 'cluster-api'): Manifest[] {
  const text = readFileSync(join(folder, 'rbac', `${name}.yaml`), 'utf8');
  return parseAllDocuments(text).map(each => each.toJS() as Manifest);
}
