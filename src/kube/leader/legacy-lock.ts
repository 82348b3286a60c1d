import { type Clock, systemClock } from '#base/clock.ts';
import { type Log, silentLog } from '#base/log.ts';
import { backoffMs } from '#base/waiting/backoff.ts';
import { isAlreadyExists, isConflict, isNotFound } from '../api-error.ts';
import type { Client } from '../client.ts';
import type { Leadership } from '../controller/manager.ts';
import type { OwnerReference } from '../resource.ts';
import { type ConfigMap, configMaps, pods } from '../resources.ts';

export interface LegacyLockOptions {
  client: Pick<Client, 'find' | 'create' | 'delete'>;
  namespace: string;
  /** Name of the ConfigMap whose owner leads for as long as its pod lives. */
  name: string;
  /** The pod we are; without it we only wait for others, and hold nobody up. */
  pod?: { name: string; uid: string };
  /** Annotation by which processes of our generation, who have a lease among themselves, know each other's lock. */
  mark: string;
  clock?: Clock;
  random?: () => number;
  log?: Log;
}

const waits = { firstMs: 1000, maxMs: 16_000 };
const callMs = 10_000;

/**
 * The lock of an earlier generation that knows no leases: a ConfigMap owned by the leading pod. While the owner lives we
 * wait; then we own it ourselves, so that nobody of the earlier generation, come back by a rollback, leads beside us.
 */
export class LegacyLock {
  readonly #options: Required<Omit<LegacyLockOptions, 'pod'>> & Pick<LegacyLockOptions, 'pod'>;
  readonly #label: string;
  #held: ConfigMap | undefined;

  constructor(options: LegacyLockOptions) {
    this.#options = { clock: systemClock, random: Math.random, log: silentLog, ...options };
    this.#label = `ConfigMap ${options.namespace}/${options.name}`;
  }

  /** Resolves when nobody of the earlier generation leads. */
  async take(signal: AbortSignal): Promise<void> {
    const { clock, random, log } = this.#options;
    for (let attempt = 1; ; attempt += 1) {
      try {
        const isOurs = await this.#tryTake(signal);
        if (isOurs) return;
      } catch (error) {
        signal.throwIfAborted();
        // Somebody else wrote at the same time; what they wrote is looked at next time.
        if (!isConflict(error) && !isAlreadyExists(error) && !isNotFound(error))
          log.warn('Lock of the earlier generation cannot be read or written', { lock: this.#label, error });
      }
      await clock.sleep(backoffMs(waits, attempt) * (1 + 0.2 * random()), signal);
    }
  }

  async release(signal: AbortSignal): Promise<void> {
    const held = this.#held;
    this.#held = undefined;
    try {
      if (held !== undefined) await this.#delete(held, signal);
    } catch (error) {
      // Somebody else has it by now.
      if (!isNotFound(error) && !isConflict(error)) throw error;
    }
  }

  async #tryTake(signal: AbortSignal): Promise<boolean> {
    const { client, namespace, name, mark, log } = this.#options;
    const lock = await client.find(configMaps, name, { namespace, signal, timeoutMs: callMs });
    const { ownerReferences: owners = [], annotations = {} } = lock?.metadata ?? {};
    if (!Object.hasOwn(annotations, mark)) {
      for (const owner of owners) {
        if (!(await this.#isAlive(owner, signal))) continue;
        log.info('Waiting for the leader of the earlier generation', { lock: this.#label, owner: owner.name });
        return false;
      }
    }
    await this.#own(lock, signal);
    return true;
  }

  /** A pod that has finished runs nothing, though it is still there. What is no pod cannot be judged. */
  async #isAlive({ kind, name, uid }: OwnerReference, signal: AbortSignal): Promise<boolean> {
    const { client, namespace, pod: own } = this.#options;
    if (kind !== 'Pod') return true;
    if (own?.uid === uid) return false;
    const pod = await client.find(pods, name, { namespace, signal, timeoutMs: callMs });
    return pod?.metadata.uid === uid && pod.status?.phase !== 'Succeeded' && pod.status?.phase !== 'Failed';
  }

  async #own(lock: ConfigMap | undefined, signal: AbortSignal): Promise<void> {
    const { client, namespace, name, pod, mark } = this.#options;
    if (pod === undefined) return;
    if (lock !== undefined && lock.metadata.ownerReferences?.[0]?.uid === pod.uid) {
      this.#held = lock;
      return;
    }
    // Not taken over: the garbage collector may be about to delete what belonged to a pod that is gone.
    if (lock !== undefined) await this.#delete(lock, signal);
    const ownerReferences = [{ apiVersion: 'v1', kind: 'Pod', name: pod.name, uid: pod.uid }];
    const metadata = { name, namespace, annotations: { [mark]: pod.name }, ownerReferences };
    const mine: ConfigMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata };
    this.#held = await client.create(configMaps, mine, { signal, timeoutMs: callMs });
  }

  async #delete({ metadata }: ConfigMap, signal: AbortSignal): Promise<void> {
    const { client, namespace, name } = this.#options;
    const { uid = '', resourceVersion = '' } = metadata;
    const preconditions = { uid, resourceVersion };
    await client.delete(configMaps, name, { namespace, signal, preconditions, timeoutMs: callMs });
  }
}

/** Leadership that begins when no leader of the earlier generation is left. */
export function afterLegacyLock(leadership: Leadership, lock: LegacyLock): Leadership {
  return {
    acquire: async (onLost, signal) => {
      const lost = new AbortController();
      const lose = (why: Error): void => {
        lost.abort(why);
        onLost(why);
      };
      await leadership.acquire(lose, signal);
      try {
        await lock.take(AbortSignal.any([signal, lost.signal]));
      } catch (error) {
        await leadership.release('free', AbortSignal.timeout(callMs)).catch(() => undefined);
        throw error;
      }
    },
    release: async (how, signal) => {
      try {
        if (how === 'free') await lock.release(signal);
      } finally {
        await leadership.release(how, signal);
      }
    },
  };
}
