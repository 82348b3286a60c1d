import { messageOf } from '#base/errors.ts';
import { windowsInstanceGroup } from '#contract/windows-instance/resource.ts';
import type { Client } from '#kube/client.ts';
import type { Permission } from '#kube/permissions.ts';
import type { KubeResource } from '#kube/resource.ts';
import { customResourceDefinitions, namespaces } from '#kube/resources.ts';

const crdName = `windowsinstances.${windowsInstanceGroup}`;

export const permissions: readonly Permission[] = [
  { in: 'own namespace', group: '', resources: ['namespaces'], verbs: ['get'] },
  {
    in: 'cluster',
    group: customResourceDefinitions.group,
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
  /** UIDs at the first look: objects of a CRD or namespace that was created again are not ours to judge. */
  #uids: readonly string[] | undefined;

  constructor(client: Pick<Client, 'find'>, namespace: string) {
    this.#client = client;
    this.#namespace = namespace;
  }

  /** Called before the instances are read for the first time. */
  async start(signal: AbortSignal): Promise<void> {
    await this.problem(signal);
  }

  /** Why no host may be removed now; undefined when it may. */
  async problem(signal: AbortSignal): Promise<string | undefined> {
    try {
      const found = await Promise.all([
        this.#client.find(namespaces, this.#namespace, { signal }),
        this.#client.find(customResourceDefinitions, crdName, { signal }),
      ]);
      const names = [`Namespace ${this.#namespace}`, `CustomResourceDefinition ${crdName}`];
      const problem = found
        .map((object, index) => goneProblem(names[index] ?? '', object))
        .find(each => each !== undefined);
      if (problem !== undefined) return problem;
      const uids = found.map(object => object?.metadata.uid ?? '');
      this.#uids ??= uids;
      const changed = uids.findIndex((uid, index) => uid !== this.#uids?.[index]);
      return changed === -1 ? undefined : `${names[changed]} was created again since the operator started`;
    } catch (error) {
      signal.throwIfAborted();
      return `Namespace and CustomResourceDefinition cannot be read: ${messageOf(error)}`;
    }
  }
}

function goneProblem(name: string, object: KubeResource | undefined): string | undefined {
  if (object === undefined) return `${name} does not exist`;
  return object.metadata.deletionTimestamp === undefined ? undefined : `${name} is being deleted`;
}
