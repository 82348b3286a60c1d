import { boundNode, type WindowsInstance, windowsInstances } from '#cluster/windows-instance-resource.ts';
import { configMapName, managedByLabel } from '#contract/names.ts';
import { type Grant, grantedJourneys, parseGrants, printGrants, type RolloutGrants } from '#contract/rollout-grants.ts';
import { isAlreadyExists, isConflict, isNotFound } from '#kube/api-error.ts';
import type { Client } from '#kube/client.ts';
import { type ConfigMap, configMaps } from '#kube/resources.ts';
import { hostUpgrade, isUpgradeOpen } from './version-rollout.ts';

export interface GrantStoreParts {
  client: Pick<Client, 'find' | 'create' | 'patch' | 'listAll'>;
  /** Of the operator. */
  namespace: string;
}

export interface StoredGrants extends RolloutGrants {
  /** Undefined when it does not exist; the grants are then those of the journeys that run. */
  map: ConfigMap | undefined;
}

const name = configMapName.rolloutGrants;

/** The ConfigMap `windows-rollout-grants`, read and written past the cache. */
export class GrantStore {
  readonly #parts: GrantStoreParts;

  constructor(parts: GrantStoreParts) {
    this.#parts = parts;
  }

  /** `held` are grants that this process has taken: their journeys may not be in the status yet. */
  async read(
    held: readonly Grant[],
    isInService: (node: string) => boolean,
    signal: AbortSignal,
  ): Promise<StoredGrants> {
    const { client, namespace } = this.#parts;
    const map = await client.find(configMaps, name, { namespace, signal });
    const stored = parseGrants(map?.data);
    if (map !== undefined && stored.unreadable.length === 0) return { ...stored, map };
    const { items } = await client.listAll(windowsInstances, { namespace, signal });
    const lost = items.filter(({ metadata }) => map === undefined || stored.unreadable.includes(metadata.name ?? ''));
    const rebuilt = lost.flatMap(instance => rebuiltGrant(instance, held, isInService));
    // No instance tells of a replaced Machine any more.
    const present = new Set(items.map(({ metadata }) => metadata.uid));
    const isReplaced = ({ journey, uid }: Grant) => journey === 'replace' && !present.has(uid);
    const replaced = map === undefined ? held.filter(isReplaced) : [];
    return { ...stored, grants: [...stored.grants, ...rebuilt, ...replaced], map };
  }

  /** False when another process has written meanwhile. */
  async write(before: StoredGrants, after: Omit<RolloutGrants, 'unreadable'>, signal: AbortSignal): Promise<boolean> {
    const { client, namespace } = this.#parts;
    const data = printGrants(after);
    const { map } = before;
    try {
      if (map === undefined) {
        const labels = { [managedByLabel.key]: managedByLabel.value };
        await client.create(configMaps, { metadata: { name, namespace, labels }, data }, { signal });
        return true;
      }
      const removed = Object.keys(map.data ?? {}).filter(key => !Object.hasOwn(data, key));
      const body = {
        metadata: { resourceVersion: map.metadata.resourceVersion, uid: map.metadata.uid },
        data: { ...data, ...Object.fromEntries(removed.map(key => [key, null])) },
      };
      await client.patch(configMaps, name, { type: 'merge', body }, { namespace, signal, answer: 'metadata' });
      return true;
    } catch (error) {
      if (isConflict(error) || isAlreadyExists(error) || isNotFound(error)) return false;
      throw error;
    }
  }
}

/** A journey that has taken its node out of service has a grant, and a node that soaks. */
function rebuiltGrant(
  instance: WindowsInstance,
  held: readonly Grant[],
  isInService: (node: string) => boolean,
): Grant[] {
  const { metadata, spec, status = {} } = instance;
  const [node, uid = ''] = [boundNode(instance), metadata.uid];
  const known = held.find(grant => grant.uid === uid);
  if (known !== undefined) return [known];
  if (node === undefined || spec.paused === true) return [];
  const grant = (journey: Grant['journey'], started = '') => {
    const sinceMs = Date.parse(started);
    return [{ instance: metadata.name ?? '', uid, node, journey, sinceMs: Number.isNaN(sinceMs) ? 0 : sinceMs }];
  };
  const { upgrade } = status;
  // Its grant ended with the soak, if it failed after that.
  if (isUpgradeOpen(hostUpgrade(instance)) && upgrade?.soaked === undefined)
    return grant('upgrade', upgrade?.activated);
  const { name: journey, started } = status.journey ?? {};
  if (journey === undefined || !grantedJourneys.has(journey)) return [];
  return latePermissions.has(journey) && isInService(node) ? [] : grant(journey, started);
}

/** These journeys work on a node in service first, and ask for a grant when they cordon it. */
const latePermissions: ReadonlySet<Grant['journey']> = new Set<Grant['journey']>(['upgrade', 'rollback', 'reboot']);
