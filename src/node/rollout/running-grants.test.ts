import { expect, test } from 'vitest';
import type { Grant } from '#contract/rollout-grants.ts';
import type { BudgetHost, NodeState } from './budget.ts';
import type { HostUpgrade } from './version-rollout.ts';
import { endGrant, type GrantFacts, runningGrants, startMs, stoppedGrants } from './running-grants.ts';

const nowMs = Date.UTC(2026, 2, 1, 12);
const old: Grant = { instance: 'i1', uid: 'u1', node: 'n1', journey: 'remove', sinceMs: nowMs - startMs };
const host: BudgetHost = { instance: 'i1', uid: 'u1', node: 'n1', isPaused: false, isConfigured: true };
const [ok, down, cordoned] = [
  { isReady: true, isCordoned: false },
  { isReady: false, isCordoned: false },
  { isReady: true, isCordoned: true },
];
const upgrade: Grant = { ...old, journey: 'upgrade' };
const used = new Map([['n1', { ms: 3_600_000, lastMs: nowMs }]]);

const replaced: Grant = { ...old, journey: 'replace', machineSet: 'set' };

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
    nowMs,
    ...more,
  };
}

const justTaken: Grant = { ...upgrade, sinceMs: nowMs };
const upgraded = (of: Partial<HostUpgrade>): BudgetHost => ({
  ...host,
  upgrade: { to: 'v2', state: 'staging', isStopping: false, isAccepted: false, ...of },
});
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
  ['of a replaced Machine stays when instance and Node are gone', { host: 'gone', grant: replaced }, replaced],
  [
    'of a replaced Machine ends when it has kept others waiting for an hour',
    { host: 'gone', grant: replaced, more: { unavailable: used } },
    'ended',
  ],
  [
    'of a replaced Machine ends when another instance has its node in service',
    { host: { ...host, uid: 'u2' }, grant: { ...replaced, sinceMs: nowMs }, node: ok },
    'ended',
  ],
  ['of a Machine that was not replaced after all ends', { grant: replaced, node: ok }, 'ended'],
  ['of a replaced Machine stays while its host is removed', { grant: replaced, host: onJourney, node: down }, replaced],
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
  [
    'of an instance that was created again ends at once when the node works',
    { host: { ...host, uid: 'u2' }, node: ok, grant: { ...upgrade, sinceMs: nowMs } },
    'ended',
  ],
  [
    'of an instance that was created again stays while the node is cordoned',
    { host: { ...host, uid: 'u2' }, node: cordoned, grant: upgrade },
    upgrade,
  ],
  ['stays while the files are swapped', { host: upgraded({ state: 'swapping' }), node: ok, grant: upgrade }, upgrade],
  ['stays while the node soaks', { host: upgraded({ state: 'soaking' }), node: ok, grant: upgrade }, upgrade],
  [
    'stays while a soaking node is not ready, for longer than an hour',
    { host: upgraded({ state: 'soaking' }), node: down, grant: upgrade, more: { unavailable: used } },
    upgrade,
  ],
  ['stays while it has to be rolled back', { host: upgraded({ state: 'failed' }), node: ok, grant: upgrade }, upgrade],
  [
    'stays an hour if the rollback fails and an administrator has accepted that',
    { host: upgraded({ state: 'failed', isAccepted: true }), node: down, grant: upgrade, more: { unavailable: used } },
    'ended',
  ],
  [
    'ends with the soak',
    { host: upgraded({ state: 'soaked', activatedMs: nowMs, endedMs: nowMs }), node: ok, grant: justTaken },
    'ended',
  ],
  [
    'ends with the rollback',
    {
      host: upgraded({ state: 'rolled back', endedMs: nowMs }),
      node: ok,
      grant: { ...justTaken, journey: 'rollback' },
    },
    'ended',
  ],
  [
    'does not end with an upgrade before it',
    { host: upgraded({ state: 'soaked', activatedMs: nowMs - 90_000, endedMs: nowMs }), node: ok, grant: justTaken },
    justTaken,
  ],
  [
    'ends with the pause of a node that soaks',
    { host: { ...upgraded({ state: 'soaking' }), isPaused: true }, node: ok, grant: upgrade },
    'ended',
  ],
  [
    'stays with the pause of a node that is out of service',
    { host: { ...upgraded({ state: 'swapping' }), isPaused: true }, node: cordoned, grant: upgrade },
    upgrade,
  ],
];
for (const [title, row, want] of rows) {
  test(`a grant ${title}`, () => {
    expect(runningGrants(factsOf(row))).toEqual(want === 'ended' ? [] : [want]);
  });
}

test('a journey that reports its end ends its grant, but not before the node has soaked', () => {
  const other = { ...old, uid: 'u2' };
  expect(endGrant([old, other], 'u1', { hosts: [host] })).toEqual([other]);
  expect(endGrant([upgrade], 'u1', { hosts: [upgraded({ state: 'soaking' })] })).toEqual([upgrade]);
  expect(endGrant([upgrade], 'u1', { hosts: [upgraded({ state: 'staging' })] })).toEqual([]);
});

test('a stopped journey is charged for its node, a running one is not', () => {
  expect(stoppedGrants(factsOf({ node: down }))).toEqual(['n1']);
  expect(stoppedGrants(factsOf({ host: 'gone', node: down }))).toEqual(['n1']);
  expect(stoppedGrants(factsOf({ host: onJourney, node: down }))).toEqual([]);
  expect(stoppedGrants(factsOf({ node: ok }))).toEqual([]);
});
