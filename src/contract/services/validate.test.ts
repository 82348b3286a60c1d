import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { attempt } from '#base/errors.ts';
import { type Service, service } from './manifest.ts';
import { checkDependencies, checkNames, checkPriorities, servicesWarnings } from './validate.ts';

const make = (name: string, members: Partial<Service> = {}) => service({ name, command: `${name}.exe`, ...members });
const boot = (name: string, members: Partial<Service> = {}) => make(name, { bootstrap: true, ...members });
const needs = (name: string, ...dependencies: string[]) => make(name, { dependencies });
const messageOf = (run: () => void) => {
  const result = attempt(run);
  return result.ok ? 'ok' : `${result.error.code} ${result.error.message}`;
};
const variable = { name: 'NODE_NAME', jsonPath: '{.metadata.name}' };

const names: [string, Service[], string][] = [
  ['no services', [], 'ok'],
  ['different names', [make('a'), make('b')], 'ok'],
  ['an empty name', [make('a'), make('')], 'SERVICES_MALFORMED services ConfigMap: service number 2 has no name'],
  ['a blank name', [make(' ')], 'SERVICES_MALFORMED services ConfigMap: service number 1 has no name'],
  ['an empty command', [make('a', { command: '' })], 'SERVICES_MALFORMED services ConfigMap: service a has no command'],
  [
    'a blank command',
    [make('a', { command: '\t' })],
    'SERVICES_MALFORMED services ConfigMap: service a has no command',
  ],
  ['a name twice', [make('a'), make('a')], 'SERVICES_MALFORMED services ConfigMap: service a is listed twice'],
  [
    'a name in another case',
    [make('a'), make('A')],
    'SERVICES_MALFORMED services ConfigMap: service A is listed twice',
  ],
  [
    'several faults, all told',
    [make(''), make('a'), make('a'), make('b', { command: '' })],
    'SERVICES_MALFORMED services ConfigMap: service number 1 has no name; service a is listed twice; service b has no command',
  ],
];
for (const [name, services, want] of names) {
  test(`names: ${name}`, () => expect(messageOf(() => checkNames(services))).toBe(want));
}

const invalid = 'SERVICES_DEPENDENCY_INVALID services ConfigMap:';
const dependencies: [string, Service[], string][] = [
  ['no services', [], 'ok'],
  ['no dependencies', [boot('a'), make('b')], 'ok'],
  ['a chain', [boot('a'), boot('b', { dependencies: ['a'] }), needs('c', 'b')], 'ok'],
  ['a service outside the ConfigMap', [needs('a', 'external')], 'ok'],
  ['a bootstrap service that needs one outside', [boot('a', { dependencies: ['EventLog'] })], 'ok'],
  ['a dependent listed before what it needs', [needs('b', 'a'), make('a')], 'ok'],
  ['a diamond', [needs('a', 'b', 'c'), needs('b', 'd'), needs('c', 'd'), make('d')], 'ok'],
  ['the same dependency twice', [needs('a', 'b', 'b'), make('b')], 'ok'],
  ['a script without arguments in a bootstrap service', [boot('a', { preScripts: [{ path: 'p', args: [] }] })], 'ok'],
  ['a variable of the Node in another service', [make('a', { nodeVariables: [variable] })], 'ok'],
  [
    'a variable of the Node in a bootstrap service',
    [boot('a', { nodeVariables: [variable] })],
    `${invalid} bootstrap service a cannot require node variables`,
  ],
  [
    'an argument from the Node in a script of a bootstrap service',
    [boot('a', { preScripts: [{ path: 'p', args: [variable] }] })],
    `${invalid} bootstrap service a cannot require node variables`,
  ],
  [
    'a bootstrap service that needs a later one',
    [boot('a', { dependencies: ['b'] }), make('b')],
    `${invalid} bootstrap service a cannot depend on non-bootstrap service b`,
  ],
  [
    'a bootstrap service that needs a later one in other letters',
    [boot('a', { dependencies: ['B'] }), make('b')],
    `${invalid} bootstrap service a cannot depend on non-bootstrap service B`,
  ],
  [
    'several faults, all told',
    [boot('a', { nodeVariables: [variable], dependencies: ['b', 'c'] }), make('b'), make('c')],
    `${invalid} bootstrap service a cannot require node variables; ` +
      'bootstrap service a cannot depend on non-bootstrap service b; ' +
      'bootstrap service a cannot depend on non-bootstrap service c',
  ],
  ['a service that needs itself', [needs('a', 'a')], `${invalid} cyclical dependency: a -> a`],
  ['a service that needs itself in other letters', [needs('a', 'A')], `${invalid} cyclical dependency: a -> a`],
  ['two that need each other', [needs('a', 'b'), needs('b', 'a')], `${invalid} cyclical dependency: a -> b -> a`],
  [
    'a cycle of three',
    [needs('a', 'b'), needs('b', 'c'), needs('c', 'a')],
    `${invalid} cyclical dependency: a -> b -> c -> a`,
  ],
  [
    'a cycle apart from the first service',
    [make('x'), needs('a', 'b'), needs('b', 'a')],
    `${invalid} cyclical dependency: a -> b -> a`,
  ],
  [
    'a cycle behind a second dependency',
    [needs('a', 'b', 'c'), make('b'), needs('c', 'a')],
    `${invalid} cyclical dependency: a -> c -> a`,
  ],
  [
    'a cycle behind a first dependency',
    [needs('a', 'c', 'b'), make('b'), needs('c', 'a')],
    `${invalid} cyclical dependency: a -> c -> a`,
  ],
  [
    'a cycle that does not contain where the search began',
    [needs('a', 'b'), needs('b', 'c'), needs('c', 'b')],
    `${invalid} cyclical dependency: b -> c -> b`,
  ],
];
for (const [name, services, want] of dependencies) {
  test(`dependencies: ${name}`, () => expect(messageOf(() => checkDependencies(services))).toBe(want));
}

const misplaced = 'SERVICES_PRIORITY_INVALID services ConfigMap: service';
const priorities: [string, Service[], string][] = [
  ['no services', [], 'ok'],
  ['only bootstrap services', [boot('a', { priority: 5 }), boot('b')], 'ok'],
  ['only others', [make('a', { priority: 5 }), make('b')], 'ok'],
  ['bootstrap services first', [boot('a'), make('b', { priority: 2 }), make('c', { priority: 5 })], 'ok'],
  ['two bootstrap services of one priority', [boot('a'), boot('b'), make('c', { priority: 1 })], 'ok'],
  ['the order of the list means nothing', [make('c', { priority: 2 }), boot('b', { priority: 1 }), boot('a')], 'ok'],
  [
    'a priority shared with a bootstrap service',
    [boot('a'), make('b')],
    `${misplaced} b (priority 0) does not come after bootstrap service a (priority 0)`,
  ],
  [
    'a bootstrap service between others',
    [boot('a', { priority: 1 }), make('b'), make('c', { priority: 2 })],
    `${misplaced} b (priority 0) does not come after bootstrap service a (priority 1)`,
  ],
  [
    'a bootstrap service after all others',
    [boot('a', { priority: 9 }), make('b'), make('c', { priority: 2 })],
    `${misplaced} b (priority 0) does not come after bootstrap service a (priority 9)`,
  ],
];
for (const [name, services, want] of priorities) {
  test(`priorities: ${name}`, () => expect(messageOf(() => checkPriorities(services))).toBe(want));
}

test('errors name the ConfigMap that is asked about, and say what to do', () => {
  const checks = [
    () => checkNames([make('')], 'ConfigMap x'),
    () => checkDependencies([needs('a', 'a')], 'ConfigMap x'),
    () => checkPriorities([boot('a'), make('b')], 'ConfigMap x'),
  ];
  for (const check of checks) {
    expect(attempt(check)).toMatchObject({
      error: { message: expect.stringMatching(/^ConfigMap x: /), remedy: expect.stringMatching(/\.$/) },
    });
  }
});

const warnings: [string, Service[], string[]][] = [
  ['nothing wrong', [make('a'), make('b', { dependencies: ['a'], priority: 1 })], []],
  ['equal priorities', [make('a'), needs('b', 'a')], []],
  ['a dependency elsewhere', [needs('a', 'x')], ['service a depends on x, which is not in the ConfigMap']],
  [
    'a dependency that starts later',
    [make('a', { priority: 2 }), make('b', { dependencies: ['a'], priority: 1 })],
    ['service b (priority 1) depends on a (priority 2)'],
  ],
  [
    'a dependency in other letters that starts later',
    [make('a', { priority: 2 }), needs('b', 'A')],
    ['service b (priority 0) depends on A (priority 2)'],
  ],
];
for (const [name, services, want] of warnings) {
  test(`warnings: ${name}`, () => expect(servicesWarnings(services)).toEqual(want));
}

/** Which service is reachable from which, by repeated squaring of the relation: nothing in common with a search. */
function hasCycle(edges: readonly (readonly boolean[])[]): boolean {
  let reach = edges.map(row => [...row]);
  for (let step = 1; step < edges.length * 2; step *= 2) {
    const now = reach;
    reach = now.map((row, from) =>
      row.map((known, to) => known || now.some((_, via) => now[from]?.[via] === true && now[via]?.[to] === true)),
    );
  }
  return reach.some((row, at) => row[at] === true);
}

test('finds a cycle exactly when some service can be reached from itself', () => {
  const graph = fc
    .integer({ min: 1, max: 7 })
    .chain(size =>
      fc.array(fc.array(fc.boolean(), { minLength: size, maxLength: size }), { minLength: size, maxLength: size }),
    )
    .chain(edges => fc.double({ min: 0, max: 1, noNaN: true }).map(density => thin(edges, density)));
  fc.assert(
    fc.property(graph, edges => {
      const services = edges.map((row, at) =>
        needs(`s${at}`, ...row.flatMap((isEdge, to) => (isEdge ? [`s${to}`] : []))),
      );
      expect(messageOf(() => checkDependencies(services)) !== 'ok').toBe(hasCycle(edges));
    }),
    { numRuns: 2000 },
  );
});

/** Leaves out edges in a fixed pattern, so that graphs with and without cycles are both common. */
function thin(edges: boolean[][], density: number): boolean[][] {
  return edges.map((row, from) => row.map((isEdge, to) => isEdge && (from * 31 + to * 17) % 10 < density * 10));
}

test('the cycle it names is one: each needs the next, and the last is the first', () => {
  const list = fc.array(fc.array(fc.nat({ max: 6 }), { maxLength: 2 }), { minLength: 7, maxLength: 7 });
  fc.assert(
    fc.property(list, edges => {
      const services = edges.map((row, at) => needs(`s${at}`, ...row.map(to => `s${to}`)));
      const cycle = / cyclical dependency: (.*)$/
        .exec(messageOf(() => checkDependencies(services)))?.[1]
        ?.split(' -> ');
      for (const [at, name] of (cycle ?? []).slice(0, -1).entries()) {
        expect(services.find(one => one.name === name)?.dependencies).toContain(cycle?.[at + 1]);
      }
      if (cycle !== undefined) expect(cycle.at(-1)).toBe(cycle[0]);
    }),
    { numRuns: 1000 },
  );
});

test('handles a chain of dependencies longer than the stack', () => {
  const chain = Array.from({ length: 30_000 }, (_, at) => needs(`s${at}`, `s${at + 1}`));
  expect(messageOf(() => checkDependencies(chain))).toBe('ok');
  expect(messageOf(() => checkDependencies([...chain, needs('s30000', 's0')]))).toContain('cyclical');
});

test('priorities are right exactly when every bootstrap service comes before every other', () => {
  const entry = fc.record({ bootstrap: fc.boolean(), priority: fc.nat({ max: 4 }) });
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 6 }), entries => {
      const services = entries.map((members, at) => make(`s${at}`, members));
      const isRight = entries.every(
        one => !one.bootstrap || entries.every(other => other.bootstrap || other.priority > one.priority),
      );
      expect(messageOf(() => checkPriorities(services)) === 'ok').toBe(isRight);
    }),
    { numRuns: 2000 },
  );
});
