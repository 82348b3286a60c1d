import { isScalar, parseDocument } from 'yaml';
import { type PayloadLock, unverified } from './lock.ts';

/** The sums that a first download has found, by the place in the lock. */
export interface FoundSums {
  /** Of archives (hex) and images (`sha256:` and hex), by the name of the source. */
  sources: ReadonlyMap<string, string>;
  /** Of files, by path. */
  files: ReadonlyMap<string, string>;
}

interface Change {
  from: number;
  to: number;
  text: string;
}

/** Replaces every `unverified` for which a sum was found, and changes nothing else of the text. Never replaces a sum. */
export function pinLock(text: string, lock: PayloadLock, { sources, files }: FoundSums): string {
  const document = parseDocument(text);
  const changes: Change[] = [];
  for (const [at, { name, origin, files: own }] of lock.sources.entries()) {
    note(['sources', at, origin.kind === 'archive' ? 'sha256' : 'digest'], sources.get(name));
    for (const [index, { path }] of own.entries()) note(['sources', at, 'files', index, 'sha256'], files.get(path));
  }
  return changes
    .toSorted((one, other) => other.from - one.from)
    .reduce((rest, { from, to, text: sum }) => `${rest.slice(0, from)}${sum}${rest.slice(to)}`, text);

  function note(path: readonly (string | number)[], found: string | undefined): void {
    const value = document.getIn(path, true);
    if (found === undefined || !isScalar(value) || value.value !== unverified || !value.range) return;
    const [from, to] = value.range;
    changes.push({ from, to, text: inYaml(found) });
  }
}

/** Digits alone would be a number. */
function inYaml(sum: string): string {
  return /^\d+(?:e\d+)?$/.test(sum) ? `'${sum}'` : sum;
}
