import type { InstanceObject } from '#cluster/windows-instances.ts';

/** Takes what a host is called by its own words, heard over a connection to the very host we know. */
export type HearName = (instance: InstanceObject, name: string) => void;

/** Passes on what journeys hear, so that nobody has to ask a host again for what it has just said. */
export class HeardNames {
  readonly #listeners = new Set<HearName>();

  readonly tell: HearName = (instance, name) => {
    for (const listener of this.#listeners) listener(instance, name);
  };

  /** Gives how to end it. */
  onName(listener: HearName): () => void {
    // Two who listen with the same function are two.
    const own: HearName = (instance, name) => listener(instance, name);
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }
}
