import { type Key, keyText } from '#kube/resource.ts';

interface Waiting {
  key: Key;
  /** Increases with every request. */
  order: number;
}

/** A host that failed before, or one that is tried for the first time. */
type Line = 'retry' | 'first';

/**
 * Limits the hosts with an open journey. The host that waits longest comes first. Hosts that failed before get at most a quarter of
 * the places: hosts that do not answer, however many, keep no others waiting.
 */
export class JourneyPlaces {
  readonly #count: number;
  readonly #wake: (key: Key) => void;
  /** Who has a place, or one reserved. */
  readonly #taken = new Map<string, Line>();
  /** Places for hosts that were woken and have not come yet. */
  readonly #reserved = new Set<string>();
  readonly #waiting: Readonly<Record<Line, Map<string, Waiting>>> = { retry: new Map(), first: new Map() };
  #retries = 0;
  #orders = 0;

  /** `wake` is called with the key of a host that had to wait, when a place is reserved for it. */
  constructor(count: number, wake: (key: Key) => void) {
    this.#count = count;
    this.#wake = wake;
  }

  get waiting(): number {
    return this.#waiting.first.size + this.#waiting.retry.size;
  }

  /** A place, to be disposed of at the end of the journey; undefined when the host has to wait. */
  take(key: Key, line: Line): Disposable | undefined {
    const text = keyText(key);
    if (!this.#reserved.delete(text)) {
      if (!this.#hasRoom(line)) {
        this.#wait(text, key, line);
        return undefined;
      }
      this.#leaveLine(text);
      this.#enter(text, line);
    }
    let isHeld = true;
    return {
      [Symbol.dispose]: () => {
        if (isHeld) this.#free(text);
        isHeld = false;
      },
    };
  }

  /** The host needs no journey any more. */
  leave(key: Key): void {
    const text = keyText(key);
    this.#leaveLine(text);
    if (this.#reserved.delete(text)) this.#free(text);
  }

  #hasRoom(line: Line): boolean {
    return this.#taken.size < this.#count && (line === 'first' || this.#retries < Math.ceil(this.#count / 4));
  }

  /** A host keeps its turn, also when an administrator ended its backoff. */
  #wait(text: string, key: Key, line: Line): void {
    const known = this.#waiting.first.get(text) ?? this.#waiting.retry.get(text);
    if (this.#waiting[line].has(text)) return;
    this.#leaveLine(text);
    this.#waiting[line].set(text, known ?? { key, order: (this.#orders += 1) });
  }

  #leaveLine(text: string): void {
    this.#waiting.first.delete(text);
    this.#waiting.retry.delete(text);
  }

  #enter(text: string, line: Line): void {
    this.#taken.set(text, line);
    if (line === 'retry') this.#retries += 1;
  }

  #free(text: string): void {
    if (this.#taken.get(text) === 'retry') this.#retries -= 1;
    this.#taken.delete(text);
    this.#wakeNext();
  }

  #wakeNext(): void {
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      const text = keyText(next.key);
      this.#leaveLine(text);
      this.#enter(text, next.line);
      this.#reserved.add(text);
      this.#wake(next.key);
    }
  }

  /** Of those for whom there is room, the one that waits longest. */
  #next(): (Waiting & { line: Line }) | undefined {
    const heads = (['first', 'retry'] as const).flatMap(line => {
      const [head] = this.#waiting[line].values();
      return head === undefined || !this.#hasRoom(line) ? [] : [{ ...head, line }];
    });
    return heads.toSorted((one, other) => one.order - other.order)[0];
  }
}
