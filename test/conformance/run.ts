import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { judge, type Verdict } from './judge.ts';
import type { Area, Row } from './row.ts';

/** Runs all rows: those of this repository, or of the folder named by CONFORMANCE_ROWS. Exit code 1 if one fails. */
const folder = process.env['CONFORMANCE_ROWS'] ?? join(import.meta.dirname, 'rows');
const only = process.argv.slice(2);

const areas = (await readdir(folder)).filter(name => name.endsWith('.json')).map(name => name.slice(0, -5));
const verdicts = new Map<string, Verdict[]>();
for (const area of areas.sort().filter(name => only.length === 0 || only.includes(name))) {
  const rows = JSON.parse(await readFile(join(folder, `${area}.json`), 'utf8')) as Row[];
  const { ops, expected } = await loadArea(area);
  verdicts.set(area, await Promise.all(rows.map(row => judge(row, { ops, ...(expected && { expected }) }))));
}
report();

async function loadArea(area: string): Promise<Area> {
  const known = (await readdir(join(import.meta.dirname, 'ops'))).includes(`${area}.ts`);
  return known ? ((await import(`./ops/${area}.ts`)) as Area) : { ops: {} };
}

function report(): void {
  const all = [...verdicts.values()].flat();
  for (const { row, why } of all.filter(verdict => !verdict.passed))
    console.log(`FAIL ${row.id} (${row.name}): ${why}`);
  for (const { row } of all.filter(verdict => verdict.passed && verdict.otherWords))
    console.log(`different wording: ${row.id}`);
  for (const [area, list] of verdicts) console.log(`${area}: ${passed(list)}/${list.length}`);
  console.log(`conformance: ${passed(all)}/${all.length}`);
  process.exitCode = all.length > 0 && passed(all) === all.length ? 0 : 1;
}

function passed(list: readonly Verdict[]): number {
  return list.filter(verdict => verdict.passed).length;
}
