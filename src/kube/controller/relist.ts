import type { Key } from '../resource.ts';

/**
 * Finds again what a full queue had to refuse: goes through all keys there are, as many at a time as there is room
 * for, and from the beginning once more if something was refused meanwhile.
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

  /** A key was refused that is among all keys. True for the first since the last look. */
  missed(): boolean {
    const isFirst = !this.#hasMissed;
    this.#hasMissed = true;
    return isFirst;
  }

  /** Goes on until the queue is full again, or nothing is missing. */
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
