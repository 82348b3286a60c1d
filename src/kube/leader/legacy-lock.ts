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
  /** ConfigMap whose owner leads as long as its pod exists. */
  name: string;
  /** The own pod; without it the lock is awaited but not taken. */
  pod?: { name: string; uid: string };
  /** Annotation that marks a lock of this operator, whose replicas also have a Lease. */
  mark: string;
  clock?: Clock;
  random?: () => number;
  log?: Log;
}

const waits = { firstMs: 1000, maxMs: 16_000 };
const callMs = 10_000;

/**
 * The leader-for-life lock of the Go operator: a ConfigMap owned by the leading pod. Waits while the owner exists, then
 * takes the lock, so that a Go operator that a rollback brings back does not lead at the same time.
 */
export class LegacyLock {
  readonly #options: Required<Omit<LegacyLockOptions, 'pod'>> & Pick<LegacyLockOptions, 'pod'>;
  readonly #label: string;
  #held: ConfigMap | undefined;

  constructor(options: LegacyLockOptions) {
    this.#options = { clock: systemClock, random: Math.random, log: silentLog, ...options };
    this.#label = `ConfigMap ${options.namespace}/${options.name}`;
  }

  /** Resolves when no Go operator leads. */
  async take(signal: AbortSignal): Promise<void> {
    const { clock, random, log } = this.#options;
    for (let attempt = 1; ; attempt += 1) {
      try {
        if (await this.#tryTake(signal)) return;
      } catch (error) {
        signal.throwIfAborted();
        // Another process wrote at the same time; the next attempt reads the result.
        if (!isConflict(error) && !isAlreadyExists(error) && !isNotFound(error))
          log.warn('Reading or writing the legacy lock failed; retrying', { lock: this.#label, error });
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
      // Another process has it already.
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
        log.info('Waiting for the owner of the legacy lock', { lock: this.#label, owner: owner.name });
        return false;
      }
    }
    await this.#own(lock, signal);
    return true;
  }

  /** A finished pod does not run any more. An owner that is not a pod counts as alive. */
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
    // Not adopted: the garbage collector may be about to delete it, because its owner is gone.
    if (lock !== undefined) await this.#delete(lock, signal);
    const ownerReferences = [{ apiVersion: 'v1', kind: 'Pod', name: pod.name, uid: pod.uid }];
    const metadata = { name, namespace, annotations: { [mark]: pod.name }, ownerReferences };
    const lockOfPod: ConfigMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata };
    this.#held = await client.create(configMaps, lockOfPod, { signal, timeoutMs: callMs });
  }

  async #delete({ metadata }: ConfigMap, signal: AbortSignal): Promise<void> {
    const { client, namespace, name } = this.#options;
    const { uid = '', resourceVersion = '' } = metadata;
    const preconditions = { uid, resourceVersion };
    await client.delete(configMaps, name, { namespace, signal, preconditions, timeoutMs: callMs });
  }
}

/** Leadership that starts when no Go operator leads. */
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
