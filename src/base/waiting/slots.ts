/** A number of places, each taken by one at a time; whoever asks first gets the next. */
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

  get waiting(): number {
    return this.#waiting.size;
  }

  /** Resolves with the place, which its disposal gives back; rejects with the signal's reason. */
  async take(signal: AbortSignal): Promise<Disposable> {
    signal.throwIfAborted();
    if (this.#taken < this.#count && this.#waiting.size === 0) this.#taken += 1;
    else await this.#wait(signal);
    return this.#place();
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

  #place(): Disposable {
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
