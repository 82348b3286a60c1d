/** Where work is cut short: after which part of the time that it takes, and how. */
export interface Interruption {
  /** 0 to 1. */
  part: number;
  how: 'kill' | 'power cut';
}

/** Numbers from 0 to 1 that are the same for the same seed. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** So many interruptions, one in each equal part of the time, in random order; every second one is a power cut. */
export function drawInterruptions(count: number, random: () => number): Interruption[] {
  const drawn = Array.from({ length: count }, (_, index) => ({
    part: (index + random()) / count,
    how: index % 2 === 0 ? ('kill' as const) : ('power cut' as const),
    order: random(),
  }));
  return drawn.toSorted((one, other) => one.order - other.order).map(({ part, how }) => ({ part, how }));
}
