import { inspect } from 'node:util';
import { AppError } from '../src/base/errors.ts';
import { fuzz, slowMs } from '../test/kit/fuzz.ts';
import { fuzzTargets } from '../test/kit/fuzz-targets.ts';
import type { Report } from './run.ts';

export const description = 'damaged inputs for every parser: crashes and the slowest input [INPUTS-PER-TARGET] [SEED]';

/** Exit code 1 if an exception other than AppError escaped, or if an input was always too slow. */
export function run(report: Report, [inputs = '50000', seed = '1']: readonly string[]): void {
  const [count, from] = [wholeNumber(inputs), wholeNumber(seed)];
  for (const target of fuzzTargets) {
    const result = fuzz(target, count, from);
    report(`${target.name}: inputs`, result.inputs, 'inputs');
    report(`${target.name}: crashes`, result.crashes.length, 'inputs');
    report(`${target.name}: slowest input`, result.slowest.ms, 'ms');
    for (const { input, error } of result.crashes.slice(0, 3)) {
      console.error(`${target.name}: ${inspect(error)}\n  at ${JSON.stringify(input)}`);
    }
    if (result.slowest.ms > slowMs) {
      console.error(`${target.name}: slow at ${JSON.stringify(result.slowest.input)}`);
    }
    if (result.crashes.length > 0 || result.slowest.ms > slowMs) process.exitCode = 1;
  }
}

function wholeNumber(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new AppError('USAGE', `${JSON.stringify(text)} is not a whole number`, {
    remedy: 'Give the inputs for each target, and a seed.',
  });
}
