import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Grant, parseGrants, printGrants } from './rollout-grants.ts';

const seconds = fc.integer({ min: 0, max: 4_000_000_000 }).map(value => value * 1000);
const someGrant: fc.Arbitrary<Grant> = fc
  .record({
    instance: fc.constantFrom('win-1', 'win-2', '10.0.0.1'),
    uid: fc.uuid(),
    node: fc.constantFrom('win-1', 'win-2'),
    journey: fc.constantFrom('remove', 'upgrade', 'replace'),
    sinceMs: seconds,
    machineSet: fc.constantFrom(undefined, 'set'),
  })
  .map(({ machineSet, ...grant }) => ({
    ...grant,
    ...(machineSet !== undefined && { machineSet }),
  }));

test('reads what it has printed, also two grants of instances with the same name', () => {
  fc.assert(
    fc.property(fc.uniqueArray(someGrant, { selector: ({ uid }) => uid }), seconds, (grants, lastMs) => {
      const unavailable = new Map([['win-3', { ms: 1000, lastMs }]]);
      const read = parseGrants(printGrants({ grants, unavailable }));
      const sorted = (all: readonly Grant[]) => all.toSorted((one, other) => (one.uid < other.uid ? -1 : 1));
      expect(sorted(read.grants)).toEqual(sorted(grants));
      expect({ unavailable: read.unavailable, unreadable: read.unreadable }).toEqual({ unavailable, unreadable: [] });
    }),
  );
});

test('one key per grant, with its instance as name', () => {
  const grant: Grant = { instance: 'win-1', uid: 'u', node: 'n1', journey: 'remove', sinceMs: Date.UTC(2026, 2, 1) };
  expect(printGrants({ grants: [grant], unavailable: new Map() })).toEqual({
    'win-1': '{"node":"n1","journey":"remove","since":"2026-03-01T00:00:00Z","uid":"u"}',
  });
});

const unreadable: [about: string, value: string][] = [
  ['no JSON', 'x'],
  ['a list', '[]'],
  ['no node', '{"journey":"remove","since":"2026-03-01T00:00:00Z","uid":"u"}'],
  ['another journey', '{"node":"n","journey":"dance","since":"2026-03-01T00:00:00Z","uid":"u"}'],
  ['no time', '{"node":"n","journey":"remove","since":"soon","uid":"u"}'],
  ['a value that is too long', `{"node":"${'n'.repeat(5000)}"}`],
];
for (const [about, value] of unreadable) {
  test(`names the instance of a grant with ${about}`, () => {
    expect(parseGrants({ 'win-1': value, 'win-2_u': value })).toMatchObject({
      grants: [],
      unreadable: ['win-1', 'win-2'],
    });
  });
}

test('ignores times of nodes that cannot be read', () => {
  const text = '{"a":{"seconds":-1,"last":"2026-03-01T00:00:00Z"},"b":1,"c":{"seconds":5,"last":"x"}}';
  expect(parseGrants({ _unavailable: text }).unavailable.size).toBe(0);
  expect(parseGrants({ _unavailable: 'x' }).unavailable.size).toBe(0);
});
