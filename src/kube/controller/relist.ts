import type { Key } from '../resource.ts';

/**
 * Enqueues all keys again after a full queue has rejected some: as many at a time as there is room for, and once more
 * if keys were rejected meanwhile.
 */
export class Relist {
  readonly #allKeys: () => Iterable<Key>;
  readonly #add: (key: Key) => boolean;
  #rest: Iterator<Key> | undefined;
  #refused: Key | undefined;
  #hasMissed = false;

  constructor(allKeys: () => Iterable<Key>, add: (key: Key) => boolean) {
    this.#allKeys = allKeys;
    this.#add = add;
  }

  /** Records a rejected key. True for the first one since the last relist. */
  missed(): boolean {
    const isFirst = !this.#hasMissed;
    this.#hasMissed = true;
    return isFirst;
  }

  /** Continues until the queue is full again or all keys are enqueued. */
  resume(): void {
    for (let rest = this.#current(); rest !== undefined; rest = this.#current()) {
      for (let key = this.#next(rest); key !== undefined; key = this.#next(rest)) {
        if (this.#add(key)) continue;
        this.#refused = key;
        return;
      }
      this.#rest = undefined;
    }
  }

  #current(): Iterator<Key> | undefined {
    if (this.#rest === undefined && this.#hasMissed) {
      this.#hasMissed = false;
      this.#rest = this.#allKeys()[Symbol.iterator]();
    }
    return this.#rest;
  }

  #next(rest: Iterator<Key>): Key | undefined {
    const refused = this.#refused;
    this.#refused = undefined;
    if (refused !== undefined) return refused;
    const next = rest.next();
    return next.done === true ? undefined : next.value;
  }
}
