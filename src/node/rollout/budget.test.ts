import { expect, test } from 'vitest';
import { parseRollout } from '#contract/rollout.ts';
import type { Grant, GrantJourney, UnavailableTime } from '#contract/rollout-grants.ts';
import {
  type BudgetFacts,
  type BudgetHost,
  decideGrant,
  type GrantRequest,
  inOrder,
  nextRequests,
  type NodeState,
  nodesOutOfService,
} from './budget.ts';
import type { HostUpgrade } from './version-rollout.ts';

const nowMs = Date.UTC(2026, 2, 1, 12);
const hour = 3_600_000;

/** States of the nodes n1, n2, …: in service, not ready, cordoned, missing. */
type State = 'ok' | 'down' | 'cordoned' | 'gone';
const states: Record<State, NodeState | undefined> = {
  ok: { isReady: true, isCordoned: false },
  down: { isReady: false, isCordoned: false },
  cordoned: { isReady: true, isCordoned: true },
  gone: undefined,
};

interface Scene {
  nodes?: readonly State[];
  /** Numbers of nodes. */
  granted?: readonly number[];
  waiting?: readonly GrantRequest[];
  settings?: Record<string, string>;
  used?: readonly number[];
  /** Of the grants. */
  machineSet?: string;
  host?: (index: number) => Partial<BudgetHost>;
}

function scene({
  nodes = ['ok', 'ok', 'ok'],
  granted = [],
  waiting = [],
  settings,
  used = [],
  machineSet,
  host,
}: Scene): BudgetFacts {
  const hosts = nodes.map((_, at) => ({
    instance: `i${at + 1}`,
    uid: `u${at + 1}`,
    node: `n${at + 1}`,
    isPaused: false,
    isConfigured: true,
    ...host?.(at + 1),
  }));
  return {
    hosts,
    nodes: new Map(nodes.flatMap((state, at) => (states[state] ? [[`n${at + 1}`, states[state]]] : []))),
    grants: granted.map((at): Grant => ({ ...ask(at), sinceMs: nowMs, ...(machineSet && { machineSet }) })),
    waiting,
    settings: parseRollout({ first: '0', ...settings }).settings,
    version: 'v2',
    unavailable: new Map(used.map((at): [string, UnavailableTime] => [`n${at}`, { ms: hour, lastMs: nowMs - 1 }])),
    nowMs,
  };
}

function ask(at: number, sinceMs = 0, journey: GrantJourney = 'upgrade'): GrantRequest {
  return { instance: `i${at}`, uid: `u${at}`, node: `n${at}`, journey, sinceMs };
}

const upgraded = (of: Partial<HostUpgrade>, ...ats: number[]): Scene => ({
  host: at => (ats.includes(at) ? { upgrade: { ...recorded, ...of } } : {}),
});
const recorded: HostUpgrade = { to: 'v2', state: 'staging', isStopping: false, isAccepted: false };
const failed: Partial<HostUpgrade> = { state: 'rolled back', isStopping: true };
const two = { maxUnavailable: '2' };
const rows: [title: string, request: GrantRequest, facts: Scene, want: true | RegExp][] = [
  ['grants the first request', ask(1), {}, true],
  ['waits for a granted node', ask(1), { granted: [2] }, /at most 1 of 3 nodes .*; out of service: n2 \(upgrade\)$/],
  ['waits for a node that is not ready', ask(1), { nodes: ['ok', 'down'] }, /n2 \(not ready\)/],
  ['waits for a node that is cordoned', ask(1), { nodes: ['ok', 'cordoned'] }, /n2 \(cordoned\)/],
  ['waits for a node that is gone', ask(1), { nodes: ['ok', 'gone'] }, /n2 \(no Node\)/],
  ['allows as many as the budget', ask(1), { granted: [2], settings: { maxUnavailable: '2' } }, true],
  ['a node counts once', ask(1), { nodes: ['ok', 'down'], granted: [2], settings: { maxUnavailable: '2' } }, true],
  ['ignores a node that has used its hour', ask(1), { nodes: ['ok', 'down'], used: [2] }, true],
  ['ignores a cordoned node that has used its hour', ask(1), { nodes: ['ok', 'cordoned'], used: [2] }, true],
  [
    'counts a cordoned node by setting',
    ask(1),
    { nodes: ['ok', 'cordoned'], used: [2], settings: { countCordoned: 'always' } },
    /n2 \(cordoned\)/,
  ],
  [
    'never counts one that is not ready by that setting',
    ask(1),
    { nodes: ['ok', 'down'], used: [2], settings: { countCordoned: 'always' } },
    true,
  ],
  ['ignores paused instances', ask(1), { nodes: ['ok', 'down'], host: at => ({ isPaused: at === 2 }) }, true],
  ['ignores hosts that join', ask(1), { nodes: ['ok', 'down'], host: at => ({ isConfigured: at !== 2 }) }, true],
  ['a broken node may go on', ask(1), { nodes: ['down', 'down'] }, true],
  ['a cordoned node may go on', ask(1), { nodes: ['cordoned', 'down'] }, true],
  ['a broken node waits for grants of others', ask(1), { nodes: ['down', 'ok'], granted: [2] }, /n2 \(upgrade\)/],
  ['removes a broken node at any time', ask(1, 0, 'remove'), { nodes: ['down', 'ok'], granted: [2] }, true],
  ['removes a host without Node at any time', ask(1, 0, 'remove'), { nodes: ['gone', 'ok'], granted: [2] }, true],
  ['a removal of a cordoned node waits', ask(1, 0, 'remove'), { nodes: ['cordoned', 'ok'], granted: [2] }, /n2/],
  ['grants nothing while paused', ask(1), { settings: { paused: 'true' } }, /paused is true in ConfigMap windows-roll/],
  ['removes a broken node while paused', ask(1, 0, 'remove'), { nodes: ['down'], settings: { paused: 'true' } }, true],
  ['waits for one that waits longer', ask(1, 5), { waiting: [ask(2, 4)] }, /; ahead: n2$/],
  ['comes before one that waits less', ask(2, 4), { waiting: [ask(1, 5)] }, true],
  ['comes first by name', ask(1, 4), { waiting: [ask(2, 4)] }, true],
  ['lets a broken node go first', ask(1, 4), { nodes: ['ok', 'down'], waiting: [ask(2, 9)] }, /ahead: n2/],
  [
    'is not overtaken while room becomes free',
    ask(3, 9),
    { nodes: ['ok', 'ok', 'ok', 'down'], waiting: [ask(1, 1), ask(2, 2)], settings: { maxUnavailable: '2' } },
    /ahead: n1, n2$/,
  ],
  [
    'Machines of its set count',
    { ...ask(1), outside: { machineSet: 'set', nodes: [], missing: 1 } },
    {},
    /1 Machines of its MachineSet are not healthy/,
  ],
  [
    'Machines whose Node counts already count once',
    { ...ask(1), outside: { machineSet: 'set', nodes: ['n2'], missing: 0 } },
    { granted: [2], settings: { maxUnavailable: '2' } },
    true,
  ],
  [
    'a Machine that is gone counts once while its Node has a grant',
    { ...ask(1), outside: { machineSet: 'set', nodes: [], missing: 1 } },
    { granted: [2], machineSet: 'set', settings: { maxUnavailable: '2' } },
    true,
  ],
  [
    'a Machine that is gone counts once while the Node of its successor is not finished',
    { ...ask(1), outside: { machineSet: 'set', nodes: ['n9'], missing: 0 } },
    { nodes: ['ok', 'gone', 'ok'], granted: [2], machineSet: 'set', settings: { maxUnavailable: '2' } },
    true,
  ],
  [
    'a Machine with a grant that was not deleted yet counts besides another one that is broken',
    { ...ask(1), outside: { machineSet: 'set', nodes: ['n3'], missing: 0, working: ['n1', 'n2', 'n4'] } },
    { nodes: ['ok', 'ok', 'down', 'ok'], granted: [2], machineSet: 'set', settings: { maxUnavailable: '2' } },
    /out of service: n2 \(upgrade\), n3 \(not ready\)/,
  ],
  [
    'a grant of another set does not stand for a missing Machine',
    { ...ask(1), outside: { machineSet: 'set', nodes: [], missing: 1 } },
    { granted: [2], machineSet: 'other', settings: { maxUnavailable: '2' } },
    /not healthy/,
  ],
  [
    'a Machine that waits for its own set keeps no others waiting',
    ask(1, 9),
    { waiting: [{ ...ask(2, 1), outside: { machineSet: 'set', nodes: [], missing: 1 } }] },
    true,
  ],
  ['waits for the first host to soak', ask(1), { granted: [2], settings: { ...two, first: '1' } }, /soaked .* for n2$/],
  [
    'does not wait for its own node, which a former instance took out of service',
    { ...ask(1), uid: 'new' },
    { nodes: ['cordoned', 'ok', 'ok'], granted: [1], settings: { first: '1' } },
    true,
  ],
  [
    'does not wait for a first host that an administrator goes on without',
    ask(1),
    {
      ...upgraded({ state: 'failed', isAccepted: true }, 2),
      nodes: ['ok', 'down', 'ok'],
      granted: [2],
      settings: { ...two, first: '1' },
    },
    true,
  ],
  ['starts as many first hosts as set', ask(1), { granted: [2], settings: { ...two, first: '2' } }, true],
  [
    'counts hosts that have soaked',
    ask(1),
    { ...upgraded({ state: 'soaked' }, 3), granted: [2], settings: { ...two, first: '1' } },
    true,
  ],
  [
    'does not count hosts that have soaked with another version',
    ask(1),
    { ...upgraded({ state: 'soaked', to: 'v1' }, 3), granted: [2], settings: { ...two, first: '1' } },
    /first hosts must have soaked/,
  ],
  [
    'does not count a host that was set up again with its own version',
    ask(1),
    { ...upgraded({ state: 'soaked', isRepeated: true }, 3), granted: [2], settings: { ...two, first: '1' } },
    /first hosts must have soaked/,
  ],
  [
    'other journeys need not wait for it',
    ask(1, 0, 'reboot'),
    { granted: [2], settings: { ...two, first: '1' } },
    true,
  ],
  ['is stopped by a host that failed', ask(1), upgraded(failed, 2), /roll-out of v2 is stopped: it failed on i2$/],
  ['is not stopped by a failure of another version', ask(1), upgraded({ ...failed, to: 'v1' }, 2), true],
  ['is not stopped by its own failure, when it is retried', ask(1), upgraded(failed, 1), true],
  ['other journeys are not stopped', ask(1, 0, 'reboot'), upgraded(failed, 2), true],
  [
    'a host that has swapped its files is not stopped, nor paused',
    ask(1),
    {
      nodes: ['cordoned', 'ok'],
      host: at => ({ upgrade: { ...recorded, ...(at === 1 ? { state: 'swapping' } : failed) } }),
      settings: { paused: 'true', first: '1' },
    },
    true,
  ],
  [
    'a rollback of a node that is out of service is not paused',
    ask(1, 0, 'rollback'),
    { ...upgraded({ state: 'failed', isStopping: true }, 1), nodes: ['down', 'ok'], settings: { paused: 'true' } },
    true,
  ],
  [
    'a rollback of a node in service is paused',
    ask(1, 0, 'rollback'),
    { ...upgraded({ state: 'failed', isStopping: true }, 1), settings: { paused: 'true' } },
    /paused/,
  ],
  ['a rollback comes first', ask(1, 9, 'rollback'), { waiting: [ask(2, 1)] }, true],
  [
    'an upgrade that is held back keeps no others waiting',
    ask(1, 9, 'reboot'),
    { ...upgraded(failed, 3), waiting: [ask(2, 1)] },
    true,
  ],
  [
    'names a few of many',
    ask(9),
    { nodes: Array.from({ length: 9 }, () => 'ok' as const), granted: [1, 2, 3, 4, 5] },
    /n1 \(upgrade\), n2 \(upgrade\), n3 \(upgrade\) and 2 more/,
  ],
];
for (const [title, request, given, want] of rows) {
  test(title, () => {
    const answer = decideGrant(request, scene(given));
    if (want === true) expect(answer).toEqual({ isGranted: true });
    else expect(answer).toEqual({ isGranted: false, why: expect.stringMatching(want) as string });
  });
}

test('the next requests are as many as there is room for, in their order', () => {
  const waiting = [ask(3, 3), ask(1, 4), ask(4, 9), ask(2, 2)];
  const facts = scene({ nodes: ['ok', 'ok', 'ok', 'down'], waiting, settings: { maxUnavailable: '3' } });
  expect(inOrder(facts).map(({ node }) => node)).toEqual(['n4', 'n2', 'n3', 'n1']);
  expect(nextRequests(facts).map(({ node }) => node)).toEqual(['n4', 'n2', 'n3']);
});

test('lists who is out of service, and who does not count any more', () => {
  const facts = scene({ nodes: ['down', 'ok', 'cordoned', 'gone'], granted: [2], used: [3] });
  expect(nodesOutOfService(facts)).toMatchObject([
    { node: 'n2', cause: 'granted', journey: 'upgrade', isCounted: true },
    { node: 'n1', cause: 'not ready', isCounted: true },
    { node: 'n3', cause: 'cordoned', isCounted: false },
    { node: 'n4', cause: 'no Node', isCounted: true },
  ]);
});
