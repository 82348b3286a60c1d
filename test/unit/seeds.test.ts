import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { repositoryRoot as root } from '../kit/run-wmco.ts';
import { seedProblems, seedRows } from '../kit/seed-rows.ts';

const texts = new Map<string, string>();
function readTest(path: string): string | undefined {
  if (!texts.has(path) && existsSync(join(root, path))) texts.set(path, readFileSync(join(root, path), 'utf8'));
  return texts.get(path);
}
const page = readFileSync(join(root, 'docs/seeds.md'), 'utf8');

test('every row has a statement, a state, and a test that exists or a reason', () => {
  expect(seedProblems(page, readTest)).toEqual([]);
});

test('all documents are there', () => {
  const documents = new Set(seedRows(page).map(({ id }) => id.slice(0, 1)));
  expect([[...documents].join(''), seedRows(page).length > 250]).toEqual(['ABCDE', true]);
});

const good = '| A1 | it runs | works | `a.test.ts` "runs" |';
const cases: [what: string, rows: string, problems: string[]][] = [
  ['a row that works', good, []],
  ['a row that differs, and one like it', '| A1 | x | differs | not yet |\n| A2 | y | as A1 | |', []],
  ['an empty row', '| A1 | | | |', ['A1: has no statement', 'A1: "" is no state', 'A1: names neither test nor reason']],
  ['a row without a state', '| A1 | it runs | | `a.test.ts` "runs" |', ['A1: "" is no state']],
  ['another state', '| A1 | it runs | maybe | we think so |', ['A1: "maybe" is no state']],
  ['a row without a reason', '| A1 | it runs | differs | - |', ['A1: names neither test nor reason']],
  ['a bar in a cell', '| A1 | it runs | differs | a | b |', ['A1: names neither test nor reason']],
  ['a test that does not exist', '| A1 | x | works | `none.test.ts` "x" |', ['A1: none.test.ts does not exist']],
  ['a missing test of a row that differs', '| A1 | x | differs | `b.test.ts` |', ['A1: b.test.ts does not exist']],
  ['a title that does not exist', '| A1 | x | works | `a.test.ts` "walks" |', ['A1: a.test.ts has no "walks"']],
  ['a test without a title', '| A1 | x | works | `a.test.ts` |', ['A1: works, but names no test with its title']],
  ['a gap', `${good}\n| A3 | x | differs | not yet |`, ['A3 is not A2']],
  ['a row twice', `${good}\n${good}`, ['A1 is not A2']],
  ['a reference to nothing', '| A1 | x | as B7 | |', ['A1: there is no row B7']],
  [
    'a reference to a reference',
    `${good}\n| A2 | x | as A1 | |\n| A3 | x | as A2 | |`,
    ['A3: A2 is a reference itself'],
  ],
];
for (const [what, rows, problems] of cases) {
  test(`${what}: ${problems.length === 0 ? 'accepted' : 'refused'}`, () => {
    expect(seedProblems(rows, path => (path === 'a.test.ts' ? "test('runs', …)" : undefined))).toEqual(problems);
  });
}
