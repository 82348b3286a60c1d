import { vi } from 'vitest';
import { isNotFound, unless } from '../../../src/kube/api-error.ts';
import { apiVersionOf, type KubeResource, type Resource } from '../../../src/kube/resource.ts';
import type { Client } from '../../../src/kube/client.ts';

interface ServedKind {
  name: string;
  kind: string;
  namespaced: boolean;
  verbs: string[];
}

/** Every object that the server has, as `Kind namespace/name`, whatever kinds it serves; without events. */
export async function allObjects(client: Client): Promise<string[]> {
  const lists = await Promise.all((await servedResources(client)).map(resource => namesOf(client, resource)));
  return lists.flat().sort();
}

/** The same when the controllers have made what they make in a new cluster and in new namespaces. */
export async function settledObjects(client: Client): Promise<string[]> {
  let seen: string[] = [];
  let sameReads = 0;
  await vi.waitUntil(
    async () => {
      const before = seen;
      seen = await allObjects(client);
      const count = (pattern: RegExp) => seen.filter(each => pattern.test(each)).length;
      const namespaces = count(/^Namespace /);
      // API servers before 1.24 have a token for each account.
      const tokens = count(/^Secret \S+\/default-token-/);
      const isComplete = count(/\/kube-root-ca\.crt$/) === namespaces && [0, namespaces].includes(tokens);
      sameReads = isComplete && before.join() === seen.join() ? sameReads + 1 : 0;
      return sameReads === 3;
    },
    { timeout: 60_000, interval: 200 },
  );
  return seen;
}

async function servedResources(client: Client): Promise<Resource[]> {
  const { groups } = await client.raw<{ groups: { versions: { groupVersion: string }[] }[] }>('GET', '/apis');
  // Versions of one kind show the same objects.
  const groupVersions = ['v1', ...groups.map(({ versions }) => versions[0]?.groupVersion ?? '')];
  const lists = await Promise.all(groupVersions.map(version => servedIn(client, version)));
  return lists.flat().filter(({ kind }) => kind !== 'Event');
}

async function servedIn(client: Client, groupVersion: string): Promise<Resource[]> {
  const [group = '', version = ''] = groupVersion.includes('/') ? groupVersion.split('/') : ['', groupVersion];
  const path = group === '' ? '/api/v1' : `/apis/${groupVersion}`;
  // The list of groups still has that of a CRD that was just deleted.
  const list = await client.raw<{ resources: ServedKind[] }>('GET', path).catch(unless(isNotFound));
  return (list?.resources ?? [])
    .filter(({ name, verbs }) => !name.includes('/') && verbs.includes('list'))
    .map(({ name, kind, namespaced }) => ({ group, version, plural: name, kind, namespaced }));
}

async function namesOf(client: Client, resource: Resource): Promise<string[]> {
  const { items } = await client.listAll<KubeResource>(resource);
  const kind = resource.group === '' || resource.group.endsWith('.k8s.io') ? resource.kind : kindIn(resource);
  return items.map(({ metadata: { namespace = '', name } }) => `${kind} ${namespace}/${name}`);
}

/** Kinds of different groups may have the same name. */
function kindIn(resource: Resource): string {
  return `${resource.kind}.${apiVersionOf(resource)}`;
}
