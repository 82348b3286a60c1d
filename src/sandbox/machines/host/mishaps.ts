import type { Mishap } from '../traits.ts';

/** Counts injected failures. */
export class Mishaps {
  readonly #left: { mishap: Mishap; times: number }[];
  #uploadedBytes = 0;

  constructor(mishaps: readonly Mishap[]) {
    this.#left = mishaps.map(mishap => ({ mishap, times: mishap.times }));
  }

  /** The failure at the start of an agent verb, if any. */
  onVerb(verb: string): Mishap['kind'] | undefined {
    return this.#take(({ on }) => on === verb);
  }

  /** The failure after further bytes of an upload, if any. */
  onUpload(bytes: number): Mishap['kind'] | undefined {
    this.#uploadedBytes += bytes;
    const kind = this.#take(({ on, afterBytes = 0 }) => on === 'upload' && this.#uploadedBytes > afterBytes);
    if (kind !== undefined) this.#uploadedBytes = 0;
    return kind;
  }

  #take(isNow: (mishap: Mishap) => boolean): Mishap['kind'] | undefined {
    const found = this.#left.find(({ mishap, times }) => times > 0 && isNow(mishap));
    if (found !== undefined) found.times -= 1;
    return found?.mishap.kind;
  }
}
