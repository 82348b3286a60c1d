import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isAppError } from '../src/base/errors.ts';

/** What a file `NAME.bench.ts` exports. */
export interface Benchmark {
  /** One line about what is measured. */
  description: string;
  run: (report: Report, words: readonly string[]) => Promise<void> | void;
}

/** Records one figure. */
export type Report = (figure: string, value: number, unit: string) => void;

interface Figure {
  bench: string;
  figure: string;
  value: number;
  unit: string;
}

/** `npm run bench -- NAME [ARGUMENT…]`: one line of JSON for each figure, and a table at the end. */
async function main([name, ...words]: readonly string[]): Promise<void> {
  if (name === undefined) return list(console.log);
  if (!names().includes(name)) {
    console.error(`There is no benchmark ${JSON.stringify(name)}. There are:`);
    await list(console.error);
    process.exitCode = 2;
    return;
  }
  const figures: Figure[] = [];
  const { run } = await load(name);
  await run((figure, value, unit) => {
    figures.push({ bench: name, figure, value, unit });
    console.log(JSON.stringify(figures.at(-1)));
  }, words);
  console.log(table(figures));
}

function names(): string[] {
  const files = readdirSync(import.meta.dirname).filter(file => file.endsWith('.bench.ts'));
  return files.map(file => file.slice(0, -'.bench.ts'.length)).toSorted();
}

async function load(name: string): Promise<Benchmark> {
  return (await import(join(import.meta.dirname, `${name}.bench.ts`))) as Benchmark;
}

async function list(print: (line: string) => void): Promise<void> {
  for (const name of names()) print(`${name.padEnd(16)} ${(await load(name)).description}`);
}

function table(figures: readonly Figure[]): string {
  const width = Math.max(0, ...figures.map(({ figure }) => figure.length));
  const digits = figures.map(({ value }) => value.toLocaleString('en-GB', { maximumFractionDigits: 3 }));
  const most = Math.max(0, ...digits.map(text => text.length));
  const lines = figures.map(
    ({ figure, unit }, at) => `${figure.padEnd(width)}  ${(digits[at] ?? '').padStart(most)} ${unit}`,
  );
  return ['', ...lines].join('\n');
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  if (!isAppError(error)) throw error;
  console.error(`${error.message}. ${error.remedy}`);
  process.exitCode = 2;
}
