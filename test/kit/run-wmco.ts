import { join } from 'node:path';
import { main } from '../../src/cli/main.ts';

export interface Run {
  code: number;
  out: string;
  err: string;
}

export const repositoryRoot = join(import.meta.dirname, '..', '..');

/** Halves the start of a process from sources; it is written by processes that end by themselves. */
export const compileCache = { NODE_COMPILE_CACHE: join(repositoryRoot, 'node_modules', '.cache', 'compiled') };

/** Runs the command line inside this process, with its output caught. */
export async function runWmco(words: readonly string[], stdin = ''): Promise<Run> {
  const run: Run = { code: -1, out: '', err: '' };
  run.code = await main(words, {
    out: text => {
      run.out += text;
    },
    err: text => {
      run.err += text;
    },
    stdin: () => Promise.resolve(stdin),
    version: () => '11.0.0-abc1234',
    runtime: 'v26.10.0 linux/x64',
  });
  return run;
}
