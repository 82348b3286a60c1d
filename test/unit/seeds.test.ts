import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { repositoryRoot as root } from '../kit/run-wmco.ts';

const read = (path: string) => readFileSync(join(root, path), 'utf8');
const page = read('docs/seeds.md');

interface Row {
  id: string;
  statement: string;
  state: string;
  why: string;
}

const rows: Row[] = page
  .split('\n')
  .filter(line => /^\| [A-E]\d+ \|/.test(line))
  .map(line => {
    const [id = '', statement = '', state = '', why = '', ...more] = line.slice(2, -1).split(' | ');
    return { id, statement, state, why: more.length > 0 ? 'has a bar in a cell' : why.trim() };
  });
const ids = new Set(rows.map(({ id }) => id));
const reference = /^as ([A-E])(\d+)(?: to \1(\d+))?$/;

/** A file of tests, and a part of a title in it where one is named. */
function testsOf({ why }: Row): { path: string; title: string | undefined }[] {
  return [...why.matchAll(/`([\w./-]+\.test\.ts)`(?: "([^"]+)")?/g)].map(([, path = '', title]) => ({ path, title }));
}

test('every document has its rows, numbered without a gap', () => {
  expect(rows.length).toBeGreaterThan(250);
  for (const document of 'ABCDE') {
    const own = rows.filter(({ id }) => id.startsWith(document));
    expect(own.map(({ id }) => id)).toEqual(own.map((_, index) => `${document}${index + 1}`));
    expect(own).not.toEqual([]);
  }
});

test('every row has a statement and one of the states', () => {
  const isState = (state: string) => /^(works|differs|not ours)$/.test(state) || reference.test(state);
  expect(rows.filter(({ statement, state }) => statement.trim() === '' || !isState(state))).toEqual([]);
});

test('every row that works names a test with its title, and every other one says why', () => {
  const isEmpty = (row: Row) =>
    row.state === 'works' ? testsOf(row).every(({ title }) => title === undefined) : row.why.length < 4;
  expect(rows.filter(row => !reference.test(row.state) && isEmpty(row))).toEqual([]);
});

test('every named test exists and has the title', () => {
  const problems = rows.flatMap(row =>
    testsOf(row).flatMap(({ path, title }) => {
      if (!existsSync(join(root, path))) return [`${row.id}: ${path} does not exist`];
      return title === undefined || plain(read(path)).includes(title) ? [] : [`${row.id}: ${path} has no "${title}"`];
    }),
  );
  expect(problems).toEqual([]);
});

/** Quotes of the source are no part of a title. */
function plain(source: string): string {
  return source.replaceAll(String.raw`\'`, "'");
}

test('every reference to another row has its target, which is no reference itself', () => {
  const targets = rows.flatMap(({ id, state }) => {
    const [, document = '', from = '', to = from] = reference.exec(state) ?? [];
    return from === '' ? [] : [{ id, first: `${document}${from}`, last: `${document}${to}` }];
  });
  expect(targets.length).toBeGreaterThan(10);
  expect(targets.filter(({ first, last }) => !ids.has(first) || !ids.has(last))).toEqual([]);
  const references = new Set(rows.filter(({ state }) => reference.test(state)).map(({ id }) => id));
  expect(targets.filter(({ first, last }) => references.has(first) || references.has(last))).toEqual([]);
});
