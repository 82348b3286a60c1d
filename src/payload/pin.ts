import { parseDocument } from 'yaml';
import { type PayloadLock, unverified } from './lock.ts';

/** The sums that a first download has found, by the place in the lock. */
export interface FoundSums {
  /** Of archives (hex) and images (`sha256:` and hex), by the name of the source. */
  sources: ReadonlyMap<string, string>;
  /** Of files, by path. */
  files: ReadonlyMap<string, string>;
}

/** Replaces every `unverified` for which a sum was found; keeps comments and order. Never replaces a sum. */
export function pinLock(text: string, lock: PayloadLock, { sources, files }: FoundSums): string {
  const document = parseDocument(text);
  for (const [at, { name, origin, files: own }] of lock.sources.entries()) {
    const key = origin.kind === 'archive' ? 'sha256' : 'digest';
    pin(['sources', at, key], sources.get(name));
    for (const [index, { path }] of own.entries()) pin(['sources', at, 'files', index, 'sha256'], files.get(path));
  }
  return document.toString({ lineWidth: 0 });

  function pin(path: readonly (string | number)[], found: string | undefined): void {
    if (found !== undefined && document.getIn(path) === unverified) document.setIn(path, found);
  }
}
