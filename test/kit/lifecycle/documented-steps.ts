import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { shortDuration } from '../../../src/base/short-duration.ts';
import type { Step } from '../../../src/node/lifecycle/step.ts';

/** Rows of the table of a journey in docs/lifecycle.md, without their numbers. */
export function documentedSteps(journey: string): string[][] {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/lifecycle.md'), 'utf8');
  const [, section = ''] = page.split(`## The steps of \`${journey}\`\n`);
  return (section.split('\n## ', 1)[0] ?? '')
    .split('\n')
    .filter(line => /^\| \d+ \|/.test(line))
    .map(line =>
      line
        .split('|')
        .map(cell => cell.trim())
        .slice(2, -1),
    );
}

/** The rows as they should be. */
export function stepRows<J>(steps: readonly Step<J>[]): string[][] {
  return steps.map(({ name, description, usualMs, limitMs, timeout }) => [
    name,
    description,
    usualMs === undefined ? '' : shortDuration(usualMs),
    shortDuration(limitMs),
    `\`${timeout?.code ?? 'STEP_TIMEOUT'}\``,
  ]);
}
