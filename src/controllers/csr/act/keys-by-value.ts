import type { Key } from '#kube/resource.ts';

/** Finds keys by values that are known only after an object was read. Each entry must be removed with its object. */
export class KeysByValue {
  readonly #entries = new Map<string, { key: Key; values: readonly string[] }>();
  /** Value -> uid -> key. */
  readonly #keys = new Map<string, Map<string, Key>>();

  set(uid: string, key: Key, values: readonly string[]): void {
    this.delete(uid);
    this.#entries.set(uid, { key, values });
    for (const value of values) this.#keys.set(value, (this.#keys.get(value) ?? new Map()).set(uid, key));
  }

  has(uid: string): boolean {
    return this.#entries.has(uid);
  }

  delete(uid: string): void {
    for (const value of this.#entries.get(uid)?.values ?? []) {
      const keys = this.#keys.get(value);
      keys?.delete(uid);
      if (keys?.size === 0) this.#keys.delete(value);
    }
    this.#entries.delete(uid);
  }

  *keysOf(values: Iterable<string>): Iterable<Key> {
    for (const value of new Set(values)) yield* this.#keys.get(value)?.values() ?? [];
  }
}
