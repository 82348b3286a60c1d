import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { timestamp } from '#base/clock.ts';
import { AppError } from '#base/errors.ts';
import { nodeAnnotation } from '#contract/names.ts';
import type { NodeView } from '#contract/node.ts';
import {
  type InstanceHost,
  instancePhases,
  type JourneyName,
  journeyNames,
} from '#contract/windows-instance/resource.ts';
import { upgradeState } from '#contract/windows-instance/upgrade-state.ts';
import { decide, type LifecycleFacts } from './decide.ts';
import { isBetweenVersions, isChanged, isUnfinished } from './decide-upgrade.ts';

const nowMs = Date.parse('2026-03-01T12:00:00Z');
const own = 'v2';
const maybe = <T>(some: fc.Arbitrary<T>) => fc.option(some, { nil: undefined });
const someTime = fc.integer({ min: -120, max: 120 }).map(minutes => timestamp(nowMs + minutes * 60_000));
const someJourney = fc.constantFrom(...journeyNames);

const identity = fc.record(
  { keyHash: fc.constantFrom('a', 'b'), installed: someTime, certificateEnds: someTime },
  { requiredKeys: ['keyHash', 'installed'] },
);
const someUpgrade = fc.record(
  {
    from: fc.constantFrom('v1', own),
    to: fc.constantFrom('v1', own, 'v3'),
    staged: someTime,
    activated: someTime,
    ready: someTime,
    soaked: someTime,
    failed: fc.constant({ code: 'UPGRADE_UNHEALTHY', message: 'x', at: timestamp(nowMs) }),
    rolledBack: someTime,
  },
  { requiredKeys: ['from', 'to'] },
);
const someStatus = fc.record(
  {
    phase: fc.constantFrom(...instancePhases),
    host: fc.constant<InstanceHost>({ name: 'win-5', addresses: ['10.0.0.5'] }),
    node: fc.constant('win-5'),
    certifiedName: fc.constant('win-5'),
    nodeUID: fc.constantFrom('u', 'former'),
    version: fc.constantFrom('v1', own, ''),
    agent: identity,
    cloudNode: identity,
    timeline: fc
      .boolean()
      .map(isBegun => (isBegun ? [{ name: 'connect', started: timestamp(nowMs), attempts: 1 }] : [])),
    journey: someJourney.map(name => ({ name, cause: 'x', started: timestamp(nowMs) })),
    upgrade: someUpgrade,
    reboots: fc.array(someTime, { maxLength: 3 }),
  },
  { requiredKeys: [] },
);
const someNode = fc
  .record(
    {
      [nodeAnnotation.version]: fc.constantFrom('v1', own, ''),
      [nodeAnnotation.desiredVersion]: fc.constantFrom('v1', own),
      [nodeAnnotation.cordoned]: fc.constant(''),
      [nodeAnnotation.rebootRequired]: fc.constant(''),
    },
    { requiredKeys: [] },
  )
  .map(
    (annotations): NodeView => ({
      name: 'win-5',
      uid: 'u',
      labels: {},
      annotations: { ...annotations },
      addresses: [],
      ready: true,
      unschedulable: false,
    }),
  );
const hashes = fc.record(
  { keyHash: fc.constantFrom('a', 'b'), servicesHash: fc.constantFrom('a', 'b'), fileHash: fc.constantFrom('a', 'b') },
  { requiredKeys: [] },
);
const problem = new AppError('PRIVATE_KEY_MISSING', 'x', { remedy: 'y' });

/** Of an instance that is neither paused nor being deleted, by an operator that is not being uninstalled. */
const workFacts: fc.Arbitrary<LifecycleFacts> = fc
  .record({
    status: someStatus,
    node: maybe(someNode),
    hasOrphans: fc.boolean(),
    removal: maybe(fc.constant('its entry is gone')),
    problem: maybe(fc.constant(problem)),
    desired: hashes,
    given: hashes,
    gated: fc.subarray([...journeyNames]),
  })
  .map(({ status, removal, gated, ...facts }) => ({
    ...facts,
    instance: { metadata: { name: 'win-5' }, spec: { address: '10.0.0.5', username: 'Administrator' }, status },
    version: own,
    nowMs,
    journeys: new Set(journeyNames),
    gates: gatesOf(gated),
    ...(removal !== undefined && { removal }),
  }));

const gatesOf = (gated: readonly JourneyName[]) => Object.fromEntries(gated.map(name => [name, 'the budget is used']));
const isJourney = (name: string): name is JourneyName => journeyNames.some(each => each === name);
const check = (holds: (facts: LifecycleFacts) => void, some = workFacts) =>
  fc.assert(fc.property(some, holds), { numRuns: 3000 });

test('there is exactly one decision, and the same facts give the same', () => {
  check(facts => {
    const decision = decide(facts);
    expect(decide(facts)).toEqual(decision);
    expect(isJourney(decision.do)).toBe('cause' in decision);
  });
});

test('a gated journey waits and is never done; only gated journeys wait', () => {
  check(facts => {
    const decision = decide(facts);
    const { gates = {} } = facts;
    expect(isJourney(decision.do) && gates[decision.do] !== undefined).toBe(false);
    const waits = 'waits' in decision ? decision.waits : [];
    expect(waits.every(({ journey, why }) => gates[journey] === why)).toBe(true);
    expect(new Set(waits.map(({ journey }) => journey)).size).toBe(waits.length);
  });
});

/** What is due when nothing else is. */
const dueAlone = (facts: LifecycleFacts, journey: JourneyName) =>
  decide({ ...facts, gates: {}, journeys: new Set([journey]) }).do === journey;

for (const journey of ['reconnect', 'refresh'] as const) {
  test(`${journey} is done when it is due, whatever else waits`, () => {
    check(({ removal: _removal, ...facts }) => {
      if (!dueAlone(facts, journey)) return;
      const before = decide(facts);
      // A journey that comes first may be done first; with every other one gated, this one is done.
      const gates = gatesOf(journeyNames.filter(name => name !== journey));
      expect(decide({ ...facts, gates }).do).toBe(journey);
      const isGated = facts.gates?.[journey] !== undefined;
      expect(['report', 'release', 'wait'].includes(before.do) && !isGated).toBe(false);
    });
  });
}

test('a removal comes first; while it waits, an agent is reconnected and nothing else is done', () => {
  check(facts => {
    if (facts.removal === undefined) return;
    const decision = decide(facts);
    const { removal: _removal, ...rest } = facts;
    const { gates = {} } = facts;
    const isReconnectDue = gates.reconnect === undefined && dueAlone(rest, 'reconnect');
    const whileWaiting = isReconnectDue ? 'reconnect' : 'wait';
    expect(decision.do).toBe(gates.remove === undefined ? 'remove' : whileWaiting);
  });
});

const idle: [string, (facts: LifecycleFacts) => LifecycleFacts, string][] = [
  ['an operator that is being uninstalled', facts => ({ ...facts, uninstall: 'the namespace is deleted' }), 'leave'],
  [
    'an instance that is being deleted',
    facts => withInstance(facts, { metadata: { deletionTimestamp: 'x' } }),
    'leave',
  ],
  ['a host that another instance has taken over', facts => ({ ...facts, successor: 'other' }), 'discard'],
];
for (const [about, change, want] of idle) {
  test(`${about} never starts a journey`, () => {
    check(facts => {
      expect(decide(change(facts)).do).toBe(want);
    });
  });
}

test('a paused host starts no journey; one that was changed comes back', () => {
  check(facts => {
    const paused = decide(withInstance(facts, { spec: { ...facts.instance.spec, paused: true } }));
    if (paused.do === 'pause') return;
    expect(paused).toEqual(decide(facts));
    expect(isJourney(paused.do) && isChanged(facts, paused.do)).toBe(true);
  });
});

test('a host in the middle of an upgrade is not configured, released or given other files', () => {
  check(facts => {
    const { upgrade } = facts.instance.status ?? {};
    const isBetween = isBetweenVersions(facts) && facts.instance.status?.host !== undefined;
    if (!isBetween || facts.removal !== undefined || facts.problem !== undefined) return;
    const decision = decide({ ...facts, gates: {} });
    const state = upgradeState(upgrade);
    if (state === 'swapping') expect(decision.do).toBe('upgrade');
    if (state === 'failed') expect(['configure', 'adopt', 'release']).not.toContain(decision.do);
    if (state === 'staging') expect(['configure', 'adopt']).not.toContain(decision.do);
  });
});

function withInstance(facts: LifecycleFacts, over: Partial<LifecycleFacts['instance']>): LifecycleFacts {
  return { ...facts, instance: { ...facts.instance, ...over } };
}

test('a rejected host starts no journey but its removal; one that is out of service comes back', () => {
  check(facts => {
    const decision = decide({ ...facts, problem });
    if (!isJourney(decision.do) || decision.do === 'remove') return;
    expect(decision).toEqual(decide({ ...facts, problem: undefined }));
    expect(problem.code !== 'INSTANCE_DUPLICATE' && isUnfinished(facts, decision.do)).toBe(true);
  });
});

test('only journeys of this version are started', () => {
  const some = fc.tuple(workFacts, fc.subarray([...journeyNames]));
  fc.assert(
    fc.property(some, ([facts, journeys]) => {
      const decision = decide({ ...facts, journeys: new Set(journeys) });
      expect(!isJourney(decision.do) || journeys.includes(decision.do)).toBe(true);
    }),
    { numRuns: 3000 },
  );
});

test('an agent with a valid recorded certificate is not reconnected', () => {
  check(facts => {
    const valid = { keyHash: 'a', installed: timestamp(nowMs - 60_000), certificateEnds: timestamp(nowMs + 60_000) };
    const { cloudNode: _cloudNode, ...status } = facts.instance.status ?? {};
    expect(decide(withInstance(facts, { status: { ...status, agent: valid } })).do).not.toBe('reconnect');
  });
});
