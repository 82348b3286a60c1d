import { type Clock, systemClock } from '#base/clock.ts';
import { messageOf } from '#base/errors.ts';
import { orAborted } from '#base/waiting/abort.ts';
import { windowsInstanceGroup } from '#contract/windows-instance/resource.ts';
import type { Client } from '#kube/client.ts';
import type { Permission } from '#kube/permissions.ts';
import type { KubeResource } from '#kube/resource.ts';
import { customResourceDefinitions, namespaces } from '#kube/resources.ts';

const recentMs = 10_000;

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
 * remove a single host: every removal asks here before its first act, past all caches.
 */
export class Installation {
  readonly #client: Pick<Client, 'find'>;
  readonly #namespace: string;
  readonly #clock: Clock;
  #recent: { readMs: number; problem: Promise<string | undefined> } | undefined;

  constructor(client: Pick<Client, 'find'>, namespace: string, clock: Clock = systemClock) {
    this.#client = client;
    this.#namespace = namespace;
    this.#clock = clock;
  }

  /** As `problem`, read every few seconds for all hosts together: for those that wait. Before it acts, a removal asks `problem`. */
  recentProblem(signal: AbortSignal): Promise<string | undefined> {
    const nowMs = this.#clock.monotonicMs();
    if (this.#recent === undefined || nowMs >= this.#recent.readMs + recentMs) {
      // Not with the signal of one host: others wait for the same read.
      this.#recent = { readMs: nowMs, problem: this.problem(new AbortController().signal) };
    }
    return orAborted(this.#recent.problem, signal);
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
