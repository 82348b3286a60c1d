/** A semaphore; slots are given in the order of requests. */
export class Slots {
  readonly #count: number;
  #taken = 0;
  readonly #waiting = new Set<() => void>();

  constructor(count: number) {
    this.#count = count;
  }

  get taken(): number {
    return this.#taken;
  }

  get free(): number {
    return this.#count - this.#taken;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** Disposing the slot returns it. Rejects with the signal's reason when that is aborted first. */
  async take(signal: AbortSignal): Promise<Disposable> {
    signal.throwIfAborted();
    if (this.#taken < this.#count && this.#waiting.size === 0) this.#taken += 1;
    else await this.#wait(signal);
    return this.#newSlot();
  }

  #wait(signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const give = () => {
      signal.removeEventListener('abort', leave);
      resolve();
    };
    const leave = () => {
      this.#waiting.delete(give);
      reject(signal.reason);
    };
    this.#waiting.add(give);
    signal.addEventListener('abort', leave, { once: true });
    return promise;
  }

  #newSlot(): Disposable {
    let isHeld = true;
    return {
      [Symbol.dispose]: () => {
        if (!isHeld) return;
        isHeld = false;
        const [next] = this.#waiting;
        if (next === undefined) this.#taken -= 1;
        else {
          this.#waiting.delete(next);
          next();
        }
      },
    };
  }
}
