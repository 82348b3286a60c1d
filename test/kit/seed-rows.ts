/** A row of docs/seeds.md: a statement of the published documentation, and what holds here. */
interface Row {
  id: string;
  statement: string;
  state: string;
  why: string;
}

/** Beside "works", "differs" and "not ours": the same as another row, or as several. */
const reference = /^as ([A-E])(\d+)(?: to \1(\d+))?$/;
const states = /^(works|differs|not ours)$/;

export const seedRows = (page: string): Row[] =>
  page
    .split('\n')
    .filter(line => /^\|\s*[A-E]\d+\s*\|/.test(line))
    .map(line => {
      const [id = '', statement = '', state = '', why = '', ...more] = line
        .replace(/^\||\|\s*$/g, '')
        .split(/(?<!\\)\|/)
        .map(cell => cell.trim());
      return { id, statement, state, why: more.length > 0 ? '' : why };
    });

/**
 * What is wrong with the rows of a page: no statement, state or reason, a gap in the numbers, a test that does not exist
 * or does not have the title. Tests are given by path, as text.
 */
export function seedProblems(page: string, readTest: (path: string) => string | undefined): string[] {
  const rows = seedRows(page);
  const byId = new Map(rows.map(row => [row.id, row]));
  return [
    ...gaps(rows),
    ...rows.flatMap(row =>
      [...cellProblems(row), ...testProblems(row, readTest), ...referenceProblems(row, byId)].map(
        problem => `${row.id}: ${problem}`,
      ),
    ),
  ];
}

function gaps(rows: readonly Row[]): string[] {
  return Object.entries(Object.groupBy(rows, ({ id }) => id.slice(0, 1))).flatMap(([document, own = []]) =>
    own.flatMap(({ id }, index) => (id === `${document}${index + 1}` ? [] : [`${id} is not ${document}${index + 1}`])),
  );
}

function cellProblems({ statement, state, why }: Row): string[] {
  if (reference.test(state)) return statement === '' ? ['has no statement'] : [];
  return [
    ...(statement === '' ? ['has no statement'] : []),
    ...(states.test(state) ? [] : [`${JSON.stringify(state)} is no state`]),
    ...(/\p{L}{2}/u.test(why) ? [] : ['names neither test nor reason']),
  ];
}

function testProblems({ state, why }: Row, readTest: (path: string) => string | undefined): string[] {
  const named = [...why.matchAll(/`([\w./-]+\.test\.ts)`(?: "([^"]+)")?/g)];
  const problems = named.flatMap(([, path = '', title]) => {
    const text = readTest(path);
    if (text === undefined) return [`${path} does not exist`];
    return title === undefined || withoutEscapes(text).includes(title) ? [] : [`${path} has no "${title}"`];
  });
  const needsTest = state === 'works' && !named.some(([, , title]) => title !== undefined);
  return needsTest ? [...problems, 'works, but names no test with its title'] : problems;
}

/** Quotes of the source are no part of a title. */
const withoutEscapes = (source: string) => source.replaceAll(String.raw`\'`, "'");

function referenceProblems({ state }: Row, byId: ReadonlyMap<string, Row>): string[] {
  const [, document = '', from = '', to = from] = reference.exec(state) ?? [];
  if (from === '') return [];
  return [...new Set([from, to])].flatMap(number => {
    const target = byId.get(`${document}${number}`);
    if (target === undefined) return [`there is no row ${document}${number}`];
    return reference.test(target.state) ? [`${document}${number} is a reference itself`] : [];
  });
}
