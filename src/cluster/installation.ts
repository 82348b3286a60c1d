import { messageOf } from '#base/errors.ts';
import { windowsInstanceGroup } from '#contract/windows-instance/resource.ts';
import type { Client } from '#kube/client.ts';
import type { Permission } from '#kube/permissions.ts';
import type { KubeResource } from '#kube/resource.ts';
import { customResourceDefinitions, namespaces } from '#kube/resources.ts';

const crdName = `windowsinstances.${windowsInstanceGroup}`;

/** For controllers that remove hosts. */
export const installationPermissions: readonly Permission[] = [
  { in: 'own namespace', group: '', resources: ['namespaces'], verbs: ['get'] },
  {
    in: 'cluster',
    group: 'apiextensions.k8s.io',
    resources: ['customresourcedefinitions'],
    verbs: ['get'],
    names: [crdName],
  },
];

/**
 * Whether the operator itself is being uninstalled. Deleting its namespace or its CRD deletes all instances and entries, and must not
 * remove a single host: every removal asks here first, past all caches.
 */
export class Installation {
  readonly #client: Pick<Client, 'find'>;
  readonly #namespace: string;

  constructor(client: Pick<Client, 'find'>, namespace: string) {
    this.#client = client;
    this.#namespace = namespace;
  }

  /** Why no host may be removed now; undefined when it may. With `deleted`, why its deletion was part of an uninstallation. */
  async problem(signal: AbortSignal, deleted?: KubeResource): Promise<string | undefined> {
    try {
      const found = await Promise.all([
        this.#client.find(namespaces, this.#namespace, { signal }),
        this.#client.find(customResourceDefinitions, crdName, { signal }),
      ]);
      const names = [`Namespace ${this.#namespace}`, `CustomResourceDefinition ${crdName}`];
      return found
        .map((object, index) => problemOf(names[index] ?? '', object, deleted))
        .find(each => each !== undefined);
    } catch (error) {
      signal.throwIfAborted();
      return `Namespace and CustomResourceDefinition cannot be read: ${messageOf(error)}`;
    }
  }
}

function problemOf(name: string, object: KubeResource | undefined, deleted?: KubeResource): string | undefined {
  if (object === undefined) return `${name} does not exist`;
  const { deletionTimestamp, creationTimestamp = '' } = object.metadata;
  if (deletionTimestamp !== undefined) return `${name} is being deleted`;
  // An object that is older than its CRD or namespace was deleted together with the former one.
  const isOlder =
    deleted !== undefined && Date.parse(deleted.metadata.creationTimestamp ?? '') < Date.parse(creationTimestamp);
  return isOlder ? `${name} was deleted and created again` : undefined;
}
