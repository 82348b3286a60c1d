export interface Due {
  dueMs: number;
  /** Index in the heap, set by the heap; -1 when it is in none. */
  place: number;
}

/** A min-heap by due time that can remove any item. */
export class DueHeap<T extends Due> {
  readonly #items: T[] = [];

  get size(): number {
    return this.#items.length;
  }

  first(): T | undefined {
    return this.#items[0];
  }

  put(item: T, dueMs: number): void {
    if (item.place === -1) {
      item.place = this.#items.length;
      this.#items.push(item);
    }
    item.dueMs = dueMs;
    this.#restore(item);
  }

  remove(item: T): void {
    const { place } = item;
    if (place === -1) return;
    const last = this.#items.pop();
    item.place = -1;
    if (last === undefined || last === item) return;
    this.#set(last, place);
    this.#restore(last);
  }

  #restore(item: T): void {
    this.#rise(item);
    this.#sink(item);
  }

  #rise(item: T): void {
    for (let parent = this.#parentOf(item); parent !== undefined && parent.dueMs > item.dueMs; ) {
      this.#swap(parent, item);
      parent = this.#parentOf(item);
    }
  }

  #sink(item: T): void {
    for (let child = this.#earlierChildOf(item); child !== undefined && child.dueMs < item.dueMs; ) {
      this.#swap(item, child);
      child = this.#earlierChildOf(item);
    }
  }

  #parentOf(item: T): T | undefined {
    return item.place === 0 ? undefined : this.#items[(item.place - 1) >> 1];
  }

  #earlierChildOf(item: T): T | undefined {
    const left = this.#items[2 * item.place + 1];
    const right = this.#items[2 * item.place + 2];
    return right !== undefined && left !== undefined && right.dueMs < left.dueMs ? right : left;
  }

  #swap(one: T, other: T): void {
    const { place } = one;
    this.#set(one, other.place);
    this.#set(other, place);
  }

  #set(item: T, place: number): void {
    this.#items[place] = item;
    item.place = place;
  }
}
