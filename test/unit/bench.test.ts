import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fuzzTargets } from '../kit/fuzz-targets.ts';

const folder = join(import.meta.dirname, '..', '..', 'bench');
const names = readdirSync(folder).flatMap(file => /^(.+)\.bench\.ts$/.exec(file)?.[1] ?? []);

function bench(...words: string[]): { code: number | null; out: string[]; err: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(folder, 'run.ts'), ...words], {
    encoding: 'utf8',
  });
  return { code: status, out: stdout.trimEnd().split('\n'), err: stderr };
}

test('lists every benchmark with a description when no name is given', () => {
  const { code, out } = bench();
  expect(code).toBe(0);
  expect(out.map(line => line.split(/\s/)[0])).toEqual(names.toSorted());
  for (const line of out) expect(line).toMatch(/^\S+\s+\S.{10,}$/);
});

test('rejects an unknown name with the list and exit code 2', () => {
  const { code, out, err } = bench('no-such-benchmark');
  expect([code, out]).toEqual([2, ['']]);
  expect(err).toContain('no benchmark "no-such-benchmark"');
  for (const name of names) expect(err).toContain(`\n${name} `);
});

test('prints every figure as a line of JSON, and a table at the end', () => {
  const { code, out } = bench('fuzz', '20', '7');
  const cut = out.indexOf('');
  const figures = out.slice(0, cut).map(line => JSON.parse(line) as { figure: string });
  expect(code).toBe(0);
  expect(figures).toHaveLength(3 * fuzzTargets.length);
  expect(figures[0]).toEqual({ bench: 'fuzz', figure: 'windows-instances: inputs', value: 20, unit: 'inputs' });
  expect(out.slice(cut + 1)).toHaveLength(figures.length);
  for (const [at, { figure }] of figures.entries()) expect(out[cut + 1 + at]).toMatch(new RegExp(`^${figure} `));
});

test('rejects an invalid argument with a remedy', () => {
  const { code, err } = bench('fuzz', 'many');
  expect(code).toBe(2);
  expect(err).toContain('"many" is not a whole number. Give ');
});
