import { expect, test } from 'vitest';
import { defaultRollout } from '#contract/rollout.ts';
import type { Grant } from '#contract/rollout-grants.ts';
import type { BudgetHost, NodeState } from './budget.ts';
import { endGrant, type GrantFacts, runningGrants, startMs, stoppedGrants } from './running-grants.ts';

const nowMs = Date.UTC(2026, 2, 1, 12);
const soakMs = defaultRollout.soakMs;
const old: Grant = { instance: 'i1', uid: 'u1', node: 'n1', journey: 'remove', sinceMs: nowMs - startMs };
const host: BudgetHost = { instance: 'i1', uid: 'u1', node: 'n1', isPaused: false, isConfigured: true };
const [ok, down, cordoned] = [
  { isReady: true, isCordoned: false },
  { isReady: false, isCordoned: false },
  { isReady: true, isCordoned: true },
];
const upgrade: Grant = { ...old, journey: 'upgrade' };
const used = new Map([['n1', { ms: 3_600_000, lastMs: nowMs }]]);

interface Row {
  grant?: Grant;
  host?: BudgetHost | 'gone';
  node?: NodeState;
  more?: Partial<GrantFacts>;
}

function factsOf({ grant = old, host: one = host, node, more }: Row): GrantFacts {
  return {
    hosts: one === 'gone' ? [] : [one],
    nodes: new Map(node ? [['n1', node]] : []),
    grants: [grant],
    unavailable: new Map(),
    settings: defaultRollout,
    nowMs,
    ...more,
  };
}

const onJourney: BudgetHost = { ...host, journey: 'remove' };
const rows: [title: string, row: Row, want: Grant | 'ended'][] = [
  ['stays while the journey runs', { host: onJourney, node: ok }, old],
  [
    'stays while the journey runs, whatever the node is',
    { host: onJourney, node: down, more: { unavailable: used } },
    old,
  ],
  ['ends when node and journey are over', { node: ok }, 'ended'],
  ['a journey that needs no grant does not matter', { host: { ...host, journey: 'reconnect' }, node: ok }, 'ended'],
  ['stays while the node is not ready', { node: down }, old],
  ['stays while the node is cordoned', { node: cordoned }, old],
  [
    'ends when a stopped journey has kept others waiting for an hour',
    { node: down, more: { unavailable: used } },
    'ended',
  ],
  ['stays while the instance is gone and the node is not ready', { host: 'gone', node: down }, old],
  ['ends when instance and Node are gone', { host: 'gone', grant: { ...old, sinceMs: nowMs } }, 'ended'],
  ['ends when the instance is gone and the node works', { host: 'gone', node: ok }, 'ended'],
  ['ends with a pause', { host: { ...onJourney, isPaused: true }, node: cordoned }, 'ended'],
  [
    'stays until the journey can be in the status',
    { node: ok, grant: { ...old, sinceMs: nowMs - startMs + 1 } },
    { ...old, sinceMs: nowMs - startMs + 1 },
  ],
  ['counts from the last request of this process', { node: ok, more: { takenMs: new Map([['u1', nowMs]]) } }, old],
  [
    'stays at the start, also on a node that has used its hour',
    { node: down, grant: { ...old, sinceMs: nowMs }, more: { unavailable: used } },
    { ...old, sinceMs: nowMs },
  ],
  ['an instance created again does not inherit it', { host: { ...onJourney, uid: 'u2' }, node: ok }, 'ended'],
  ['an upgraded node soaks', { node: ok, grant: upgrade }, { ...upgrade, readyMs: nowMs }],
  [
    'it soaks on',
    { node: ok, grant: { ...upgrade, readyMs: nowMs - soakMs + 1 } },
    { ...upgrade, readyMs: nowMs - soakMs + 1 },
  ],
  ['it has soaked', { node: ok, grant: { ...upgrade, readyMs: nowMs - soakMs } }, 'ended'],
  [
    'it soaks though a user has cordoned it',
    { node: cordoned, grant: { ...upgrade, readyMs: nowMs - soakMs } },
    'ended',
  ],
  ['soaking starts again when the node fails', { node: down, grant: { ...upgrade, readyMs: nowMs - soakMs } }, upgrade],
];
for (const [title, row, want] of rows) {
  test(`a grant ${title}`, () => {
    expect(runningGrants(factsOf(row))).toEqual(want === 'ended' ? [] : [want]);
  });
}

test('a journey that reports its end ends its grant, after the soak time of an upgrade', () => {
  const other = { ...old, uid: 'u2' };
  const facts = { settings: defaultRollout, nowMs };
  expect(endGrant([old, other], 'u1', facts)).toEqual([other]);
  expect(endGrant([upgrade], 'u1', facts)).toEqual([{ ...upgrade, readyMs: nowMs }]);
  expect(endGrant([upgrade], 'u1', { ...facts, settings: { ...defaultRollout, soakMs: 0 } })).toEqual([]);
});

test('a stopped journey is charged for its node, a running one is not', () => {
  expect(stoppedGrants(factsOf({ node: down }))).toEqual(['n1']);
  expect(stoppedGrants(factsOf({ host: 'gone', node: down }))).toEqual(['n1']);
  expect(stoppedGrants(factsOf({ host: onJourney, node: down }))).toEqual([]);
  expect(stoppedGrants(factsOf({ node: ok }))).toEqual([]);
});
