import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { nodeLabel } from '#contract/names.ts';
import { errorOf } from '../../../test/kit/outcome.ts';
import { allowedUnavailable, type BudgetNode, mayDisrupt, parseMaxUnavailable } from './budget.ts';

const parsed: [value: number | string, want: object][] = [
  [1, { nodes: 1 }],
  [7, { nodes: 7 }],
  ['3', { nodes: 3 }],
  [' 3 ', { nodes: 3 }],
  ['003', { nodes: 3 }],
  ['1%', { percent: 1 }],
  ['25%', { percent: 25 }],
  ['100%', { percent: 100 }],
  [999_999, { nodes: 999_999 }],
];
for (const [value, want] of parsed) {
  test(`takes ${JSON.stringify(value)}`, () => expect(parseMaxUnavailable(value)).toEqual(want));
}

const refused = [
  0,
  -1,
  1.5,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  1e21,
  '',
  ' ',
  '0',
  '0%',
  '101%',
  '-1',
  '1.5',
  '25 %',
  '%',
  'all',
  '1e2',
  '１',
  '5%%',
  '1000000',
];
for (const value of refused) {
  test(`refuses ${typeof value} ${JSON.stringify(value)}`, () => {
    const error = errorOf(() => parseMaxUnavailable(value));
    expect(error).toMatchObject({ code: 'BUDGET_INVALID', remedy: expect.stringContaining('percentage') });
    expect(error?.message).toContain(JSON.stringify(value));
  });
}

const amounts: [value: number | string, nodes: number, want: number][] = [
  [1, 0, 1],
  [1, 50, 1],
  [5, 3, 5],
  ['1%', 0, 1],
  ['1%', 1, 1],
  ['1%', 100, 1],
  ['1%', 101, 2],
  ['10%', 50, 5],
  ['25%', 20, 5],
  ['25%', 21, 6],
  ['100%', 7, 7],
];
for (const [value, nodes, want] of amounts) {
  test(`lets ${want} be unavailable with ${value} of ${nodes} nodes`, () => {
    expect(allowedUnavailable(parseMaxUnavailable(value), nodes)).toBe(want);
  });
}

type Kind = 'fine' | 'not ready' | 'cordoned' | 'upgrading';
const node = (name: string, kind: Kind = 'fine'): BudgetNode => ({
  name,
  ready: kind !== 'not ready',
  unschedulable: kind === 'cordoned',
  labels: kind === 'upgrading' ? { [nodeLabel.upgrading]: 'true' } : {},
});
const ask = (candidate: string, nodes: BudgetNode[], max: number | string = 1, reserved: string[] = []) =>
  mayDisrupt({ candidate, nodes, maxUnavailable: parseMaxUnavailable(max), reserved: new Set(reserved) });

const answers: [name: string, answer: ReturnType<typeof ask>, allowed: boolean][] = [
  ['lets the only node go', ask('a', [node('a')]), true],
  ['lets one of many go', ask('a', [node('a'), node('b')]), true],
  ['holds a node back while another is not ready', ask('a', [node('a'), node('b', 'not ready')]), false],
  ['holds a node back while another is cordoned', ask('a', [node('a'), node('b', 'cordoned')]), false],
  ['holds a node back while another is upgraded', ask('a', [node('a'), node('b', 'upgrading')]), false],
  ['holds a node back while another has a reservation', ask('a', [node('a'), node('b')], 1, ['b']), false],
  ['holds a node back while one without a Node has a reservation', ask('a', [node('a')], 1, ['gone']), false],
  ['lets a node go on that is not ready', ask('b', [node('a'), node('b', 'not ready')]), true],
  ['lets a node go on that is cordoned', ask('b', [node('a'), node('b', 'cordoned')]), true],
  ['lets a node go on whose upgrade failed', ask('b', [node('a'), node('b', 'upgrading')]), true],
  ['lets a node go on that has a reservation', ask('b', [node('a'), node('b')], 1, ['b']), true],
  [
    'lets a node go on though more than allowed are away',
    ask('b', [node('a', 'not ready'), node('b', 'not ready')]),
    true,
  ],
  ['lets a second go when two may', ask('a', [node('a'), node('b', 'upgrading')], 2), true],
  ['holds the third back when two may', ask('a', [node('a'), node('b', 'upgrading'), node('c')], 2, ['c']), false],
  ['counts a node once that is away for two reasons', ask('a', [node('a'), node('b', 'not ready')], 2, ['b']), true],
  [
    'reckons a percentage of all nodes',
    ask('a', [node('a'), node('b', 'cordoned'), node('c'), node('d')], '50%'),
    true,
  ],
  ['rounds a percentage up to one node', ask('a', [node('a'), node('b')], '1%'), true],
  ['holds back a node that is not in the list', ask('x', [node('a', 'not ready')]), false],
];
for (const [name, answer, allowed] of answers) test(name, () => expect(answer.allowed).toBe(allowed));

const waitOf = (answer: ReturnType<typeof ask>) => (answer.allowed ? '' : answer.wait);

test('tells how many are away, how many may be, and which', () => {
  const nodes = [node('c', 'cordoned'), node('a', 'not ready'), node('b', 'upgrading'), node('d'), node('e')];
  expect(waitOf(ask('e', nodes, 2, ['d']))).toBe(
    'Node e has to wait. Current number of unavailable nodes is (4). Max number is (2). ' +
      'Unavailable: a (not ready), b (upgrading), c (cordoned), d (in progress)',
  );
});

test('names ten nodes and counts the rest', () => {
  const nodes = Array.from({ length: 13 }, (_, index) => node(`n${10 + index}`, 'not ready'));
  const wait = waitOf(ask('x', nodes));
  expect(wait).toContain('n19 (not ready) and 3 more');
  expect(wait).not.toContain('n20');
});

test('says which limit it was when a percentage was given', () => {
  expect(waitOf(ask('c', [node('a', 'cordoned'), node('b', 'cordoned'), node('c'), node('d')], '50%'))).toContain(
    'Max number is (2)',
  );
});

/** What can happen in a cluster, in any order: a node asks, ends its disruption, fails on the way, breaks or recovers. */
const event = fc.record({ node: fc.nat(5), what: fc.constantFrom('ask', 'end', 'fail', 'break', 'recover') });

test('never lets more nodes of ours be away than the budget has, under any order of requests', () => {
  const max = fc.oneof(
    fc.integer({ min: 1, max: 4 }),
    fc.integer({ min: 1, max: 100 }).map(percent => `${percent}%`),
  );
  fc.assert(
    fc.property(max, fc.array(event, { maxLength: 60 }), (value, events) => {
      const nodes = Array.from({ length: 6 }, (_, index) => node(`n${index}`));
      const [reserved, limit] = [new Set<string>(), allowedUnavailable(parseMaxUnavailable(value), nodes.length)];
      const away = () =>
        new Set([
          ...nodes.filter(({ ready, labels }) => !ready || labels[nodeLabel.upgrading]).map(({ name }) => name),
          ...reserved,
        ]);
      for (const { node: index, what } of events) {
        const current = nodes[index] ?? node('');
        if (what === 'ask') {
          const before = away();
          const { allowed } = ask(current.name, nodes, value, [...reserved]);
          if (allowed) reserved.add(current.name);
          // A grant makes the number of nodes that are away grow only within the budget.
          expect(away().size).toBeLessThanOrEqual(Math.max(limit, before.size));
          expect(allowed).toBe(before.has(current.name) || before.size < limit);
        }
        if (what === 'end' && reserved.delete(current.name)) current.labels = {};
        if (what === 'fail' && reserved.delete(current.name)) current.labels = { [nodeLabel.upgrading]: 'true' };
        if (what === 'break') current.ready = false;
        if (what === 'recover') current.ready = true;
      }
    }),
    { numRuns: 1000 },
  );
});

test('serves all in the end, the failed one first', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 3 }), fc.nat(5), (max, failed) => {
      const nodes = Array.from({ length: 6 }, (_, index) => node(`n${index}`, index === failed ? 'upgrading' : 'fine'));
      const done = new Set<string>();
      for (let round = 0; round < 6 && done.size < 6; round += 1) {
        const reserved = new Set<string>();
        for (const { name } of nodes) {
          if (!done.has(name) && ask(name, nodes, max, [...reserved]).allowed) reserved.add(name);
        }
        if (round === 0) expect(reserved).toContain(`n${failed}`);
        for (const name of reserved) done.add(name);
        for (const item of nodes) if (reserved.has(item.name)) item.labels = {};
      }
      expect(done.size).toBe(6);
    }),
    { numRuns: 200 },
  );
});

test('throws nothing but an AppError for any value', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.double(), fc.integer()), value => {
      const error = errorOf(() => parseMaxUnavailable(value));
      if (error !== undefined) expect(error.code).toBe('BUDGET_INVALID');
    }),
    { numRuns: 2000 },
  );
});
