import type { HostLocks } from '#agent/ports.ts';
import { pathKey } from '#contract/host-path.ts';

/** The locks of a simulated host: each is free when its process has ended. */
export class SimulatedLocks implements HostLocks {
  readonly #holders = new Map<string, { isAlive: boolean }>();

  tryLock(path: string): Promise<Disposable | undefined> {
    return this.#tryLock(path, { isAlive: true });
  }

  /** The locks as one process sees them. */
  of(process: { isAlive: boolean }): HostLocks {
    return { tryLock: path => this.#tryLock(path, process) };
  }

  /** All processes have ended, as in a reboot. */
  clear(): void {
    this.#holders.clear();
  }

  async #tryLock(path: string, process: { isAlive: boolean }): Promise<Disposable | undefined> {
    const key = pathKey(path);
    if (this.#holders.get(key)?.isAlive === true) return undefined;
    // Tells this hold of the lock from a later one.
    const holder = {
      get isAlive() {
        return process.isAlive;
      },
    };
    this.#holders.set(key, holder);
    return {
      [Symbol.dispose]: () => {
        if (this.#holders.get(key) === holder) this.#holders.delete(key);
      },
    };
  }
}
