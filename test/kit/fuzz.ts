import type { FuzzTarget } from './fuzz-targets.ts';
import { mutations } from './mutate.ts';

export interface FuzzResult {
  inputs: number;
  /** Inputs at which something other than an error for users escaped. */
  crashes: { input: string; error: unknown }[];
  /** The input that took longest, and how long it took at best. */
  slowest: { input: string; ms: number };
}

/** No single input may take longer: it would hold up everything else the operator does. */
export const slowMs = 50;

/** Gives a parser its own seeds and then mutated ones. The same seed gives the same inputs. */
export function fuzz(target: FuzzTarget, count: number, seed: number): FuzzResult {
  const result: FuzzResult = { inputs: 0, crashes: [], slowest: { input: '', ms: 0 } };
  for (const input of mutations(target.seeds, seed, target.maxLength)) {
    if (result.inputs >= count) break;
    result.inputs += 1;
    try {
      const ms = bestMs(target, input, result.slowest.ms);
      if (ms > result.slowest.ms) result.slowest = { input, ms };
    } catch (error) {
      result.crashes.push({ input, error });
    }
  }
  return result;
}

/**
 * In time of the processor, so that other work on the machine does not count; and what is done beside, such as collecting
 * garbage, can make any input look slow once, so one that would be the slowest gets three more tries.
 */
function bestMs(target: FuzzTarget, input: string, slowestMs: number): number {
  let best = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < 4 && best > slowestMs; tries += 1) {
    const started = threadMs();
    target.run(input);
    best = Math.min(best, threadMs() - started);
  }
  return best;
}

/** How long this thread has been at work. */
export function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
