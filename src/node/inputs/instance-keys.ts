import type { Clock } from '#base/clock.ts';
import { setRecent } from '#base/recent-map.ts';
import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { publicKeyHash } from '#host/keys/public-key.ts';
import type { Client } from '#kube/client.ts';
import { loadInstanceKey } from './private-key.ts';

/** The Secrets that instances name are not watched, because the operator cannot list all Secrets. */
const lookEveryMs = 300_000;
const maxKnown = 10_000;

/** Hashes of the keys of instances that have one of their own, as last read. */
export class InstanceKeys {
  readonly #client: Pick<Client, 'find'>;
  readonly #clock: Clock;
  readonly #known = new Map<string, { hash: string | undefined; atMs: number }>();

  constructor(client: Pick<Client, 'find'>, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  hash(instance: WindowsInstance): string | undefined {
    return this.#known.get(nameOf(instance))?.hash;
  }

  /** Reads the Secret at most every five minutes. A key that cannot be read is reported by the acceptance. */
  async look(instance: WindowsInstance, signal: AbortSignal): Promise<void> {
    const nowMs = this.#clock.monotonicMs();
    const name = nameOf(instance);
    const { atMs = -Infinity, hash } = this.#known.get(name) ?? {};
    if (nowMs - atMs < lookEveryMs) return;
    setRecent(this.#known, name, { hash, atMs: nowMs }, maxKnown);
    const key = await loadInstanceKey(instance, this.#client, signal).catch(() => undefined);
    signal.throwIfAborted();
    if (key !== undefined) setRecent(this.#known, name, { hash: publicKeyHash(key.publicKey), atMs: nowMs }, maxKnown);
  }
}

function nameOf({ spec }: WindowsInstance): string {
  return JSON.stringify([spec.keySecret?.name, spec.keySecret?.key]);
}
