import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { type EnvironmentPlan, type OwnedVariable, planEnvironment, type Variables, variableKey } from './plan.ts';

const proxies = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY'];

/** The registry once a plan has been carried out. */
function apply(registry: Variables, plan: EnvironmentPlan): Record<string, string> {
  const after = new Map(Object.entries(registry));
  for (const { name, value } of [...plan.writes, ...plan.restores]) after.set(name, value);
  for (const name of plan.removals) after.delete(name);
  return Object.fromEntries(after);
}

/** Without a record, as on a host of the Go operator. */
const adopting: [name: string, registry: Variables, wanted: Variables, after: Variables, changed: boolean][] = [
  ['sets what is missing', {}, { HTTP_PROXY: 'a' }, { HTTP_PROXY: 'a' }, true],
  ['leaves what is right', { HTTP_PROXY: 'a' }, { HTTP_PROXY: 'a' }, { HTTP_PROXY: 'a' }, false],
  ['corrects what differs', { HTTP_PROXY: 'b' }, { HTTP_PROXY: 'a' }, { HTTP_PROXY: 'a' }, true],
  ['compares values exactly', { HTTP_PROXY: 'A' }, { HTTP_PROXY: 'a' }, { HTTP_PROXY: 'a' }, true],
  [
    'removes what is watched but not wanted',
    { HTTP_PROXY: 'a', NO_PROXY: 'b' },
    { HTTP_PROXY: 'a' },
    { HTTP_PROXY: 'a' },
    true,
  ],
  ['removes all that is watched when nothing is wanted', { HTTP_PROXY: 'a', NO_PROXY: 'b' }, {}, {}, true],
  ['leaves what is not watched', { Path: 'C:\\Windows' }, {}, { Path: 'C:\\Windows' }, false],
  ['sets what is wanted but not watched', {}, { FOO: '1' }, { FOO: '1' }, true],
  ['leaves a missing variable missing when it is to be empty', {}, { HTTP_PROXY: '' }, {}, false],
  ['empties a variable', { HTTP_PROXY: 'a' }, { HTTP_PROXY: '' }, { HTTP_PROXY: '' }, true],
  ['does nothing for nothing', {}, {}, {}, false],
  ['finds a variable in another spelling', { http_proxy: 'a' }, { HTTP_PROXY: 'a' }, { http_proxy: 'a' }, false],
  ['corrects a variable in another spelling', { http_proxy: 'b' }, { HTTP_PROXY: 'a' }, { http_proxy: 'a' }, true],
  ['removes a variable in another spelling', { no_proxy: 'b' }, {}, {}, true],
  ['keeps commas in values', {}, { NO_PROXY: 'localhost,.svc' }, { NO_PROXY: 'localhost,.svc' }, true],
];
for (const [name, registry, wanted, after, changed] of adopting) {
  test(`${name} (no record)`, () => {
    const plan = planEnvironment({ registry, wanted, watched: proxies, owned: undefined });
    expect(apply(registry, plan)).toEqual(after);
    expect(plan.changed).toBe(changed);
  });
}

interface Case {
  registry: Variables;
  wanted: Variables;
  owned: OwnedVariable[];
  after: Variables;
  record: OwnedVariable[];
}
const recorded: [name: string, given: Case][] = [
  [
    'leaves a proxy of the administrator when the cluster has none',
    { registry: { HTTP_PROXY: 'admin' }, wanted: {}, owned: [], after: { HTTP_PROXY: 'admin' }, record: [] },
  ],
  [
    'keeps what stood there before',
    {
      registry: { HTTP_PROXY: 'admin' },
      wanted: { HTTP_PROXY: 'ours' },
      owned: [],
      after: { HTTP_PROXY: 'ours' },
      record: [{ name: 'HTTP_PROXY', value: 'ours', previous: 'admin' }],
    },
  ],
  [
    'puts back what stood there before',
    {
      registry: { HTTP_PROXY: 'ours' },
      wanted: {},
      owned: [{ name: 'HTTP_PROXY', value: 'ours', previous: 'admin' }],
      after: { HTTP_PROXY: 'admin' },
      record: [],
    },
  ],
  [
    'removes what it had added',
    {
      registry: { HTTP_PROXY: 'ours' },
      wanted: {},
      owned: [{ name: 'HTTP_PROXY', value: 'ours' }],
      after: {},
      record: [],
    },
  ],
  [
    'removes what it had added although nobody watches it',
    { registry: { FOO: '1' }, wanted: {}, owned: [{ name: 'FOO', value: '1' }], after: {}, record: [] },
  ],
  [
    'leaves what somebody else has set since',
    {
      registry: { HTTP_PROXY: 'new admin' },
      wanted: {},
      owned: [{ name: 'HTTP_PROXY', value: 'ours', previous: 'admin' }],
      after: { HTTP_PROXY: 'new admin' },
      record: [],
    },
  ],
  [
    'forgets what somebody else has removed',
    { registry: {}, wanted: {}, owned: [{ name: 'HTTP_PROXY', value: 'ours' }], after: {}, record: [] },
  ],
  [
    'remembers the first value through several changes',
    {
      registry: { HTTP_PROXY: 'one' },
      wanted: { HTTP_PROXY: 'two' },
      owned: [{ name: 'HTTP_PROXY', value: 'one', previous: 'admin' }],
      after: { HTTP_PROXY: 'two' },
      record: [{ name: 'HTTP_PROXY', value: 'two', previous: 'admin', was: 'one' }],
    },
  ],
  [
    'corrects drift without taking it for the value from before',
    {
      registry: { HTTP_PROXY: 'drift' },
      wanted: { HTTP_PROXY: 'ours' },
      owned: [{ name: 'HTTP_PROXY', value: 'ours' }],
      after: { HTTP_PROXY: 'ours' },
      record: [{ name: 'HTTP_PROXY', value: 'ours' }],
    },
  ],
  [
    'does not own a value of the administrator that is the one wanted',
    {
      registry: { HTTP_PROXY: 'same' },
      wanted: { HTTP_PROXY: 'same' },
      owned: [],
      after: { HTTP_PROXY: 'same' },
      record: [],
    },
  ],
  [
    'takes back an older value of ours when it was stopped before the change',
    {
      registry: { HTTP_PROXY: 'one' },
      wanted: {},
      owned: [{ name: 'HTTP_PROXY', value: 'two', was: 'one' }],
      after: {},
      record: [],
    },
  ],
  [
    'forgets the older value once the new one stands there',
    {
      registry: { HTTP_PROXY: 'two' },
      wanted: { HTTP_PROXY: 'two' },
      owned: [{ name: 'HTTP_PROXY', value: 'two', was: 'one' }],
      after: { HTTP_PROXY: 'two' },
      record: [{ name: 'HTTP_PROXY', value: 'two' }],
    },
  ],
  [
    'has nothing to put back when the value from before is the one of now',
    {
      registry: { HTTP_PROXY: 'x' },
      wanted: {},
      owned: [{ name: 'HTTP_PROXY', value: 'x', previous: 'x' }],
      after: { HTTP_PROXY: 'x' },
      record: [],
    },
  ],
  [
    'finds its record in another spelling',
    {
      registry: { http_proxy: 'ours' },
      wanted: {},
      owned: [{ name: 'HTTP_PROXY', value: 'ours' }],
      after: {},
      record: [],
    },
  ],
];
for (const [name, { registry, wanted, owned, after, record }] of recorded) {
  test(name, () => {
    const plan = planEnvironment({ registry, wanted, watched: proxies, owned });
    expect(apply(registry, plan)).toEqual(after);
    expect(plan.owned).toEqual(record);
    expect(plan.changed).toBe(JSON.stringify(apply(registry, plan)) !== JSON.stringify(registry));
  });
}

test('keeps reverted variables on record until the change is done', () => {
  const owned = [{ name: 'HTTP_PROXY', value: 'a', previous: 'b' }];
  const plan = planEnvironment({ registry: { HTTP_PROXY: 'a' }, wanted: {}, watched: proxies, owned });
  expect(plan).toMatchObject({
    owned: [],
    released: owned,
    restores: [{ name: 'HTTP_PROXY', value: 'b' }],
    removals: [],
  });
});

test('owns on a host of the Go operator what was set there', () => {
  const plan = planEnvironment({
    registry: { HTTP_PROXY: 'a' },
    wanted: { HTTP_PROXY: 'b' },
    watched: proxies,
    owned: undefined,
  });
  expect(plan.owned).toEqual([{ name: 'HTTP_PROXY', value: 'b', was: 'a' }]);
});

test('uses the last of two spellings of a name', () => {
  const wanted = { HTTP_PROXY: 'a', http_proxy: 'b' };
  const first = planEnvironment({ registry: {}, wanted, watched: proxies, owned: [] });
  const after = apply({}, first);
  expect(planEnvironment({ registry: after, wanted, watched: proxies, owned: first.owned }).changed).toBe(false);
});

const expectations: [name: string, registry: Variables, wanted: Variables, owned: OwnedVariable[], want: string][] = [
  ['a value that is written', {}, { HTTP_PROXY: 'a' }, [], 'a'],
  ['a value that is right', { HTTP_PROXY: 'a' }, { HTTP_PROXY: 'a' }, [], 'a'],
  ['nothing where it is removed', { HTTP_PROXY: 'a' }, {}, [{ name: 'HTTP_PROXY', value: 'a' }], ''],
  ['what is put back', { HTTP_PROXY: 'a' }, {}, [{ name: 'HTTP_PROXY', value: 'a', previous: 'p' }], 'p'],
  ['an empty value that is wanted', {}, { HTTP_PROXY: '' }, [], ''],
  ['nothing where nothing is', {}, {}, [], ''],
];
for (const [name, registry, wanted, owned, want] of expectations) {
  test(`expects processes to see ${name}`, () => {
    const plan = planEnvironment({ registry, wanted, watched: proxies, owned });
    expect(plan.expected).toEqual({ HTTP_PROXY: want, HTTPS_PROXY: '', NO_PROXY: '' });
  });
}

test('does not care whether processes see what the administrator has set', () => {
  const plan = planEnvironment({ registry: { http_proxy: 'admin' }, wanted: {}, watched: proxies, owned: [] });
  expect(plan.expected).toEqual({ HTTPS_PROXY: '', NO_PROXY: '' });
});

const name = fc.constantFrom('HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'NO_PROXY', 'Path', 'FOO');
const oneSpelling = (variables: Variables) =>
  Object.fromEntries(
    new Map(Object.entries(variables).map(([key, value]) => [variableKey(key), [key, value]])).values(),
  );
const variables = fc.dictionary(name, fc.constantFrom('a', 'b', '')).map(oneSpelling);
/** An empty variable and an absent one are the same to a process. */
const withValues = (all: Variables) => new Map(Object.entries(all).filter(([, value]) => value !== ''));
const valuesOf = (all: Variables) => new Map(Object.entries(all).map(([key, value]) => [variableKey(key), value]));

test('converges in one pass, and restores all previous values', () => {
  fc.assert(
    fc.property(variables, fc.array(variables, { maxLength: 4 }), (registry, wishes) => {
      let [now, owned]: [Variables, OwnedVariable[]] = [registry, []];
      for (const wanted of [...wishes, {}]) {
        const plan = planEnvironment({ registry: now, wanted, watched: proxies, owned });
        [now, owned] = [apply(now, plan), plan.owned];
        for (const [key, value] of valuesOf(wanted)) expect(valuesOf(now).get(key) ?? '').toBe(value);
        expect(planEnvironment({ registry: now, wanted, watched: proxies, owned }).changed).toBe(false);
      }
      expect(withValues(now)).toEqual(withValues(registry));
    }),
    { numRuns: 1000 },
  );
});

test('reaches the same state when it is interrupted after any change', () => {
  fc.assert(
    fc.property(variables, variables, variables, fc.nat(4), (registry, first, second, done) => {
      const before = planEnvironment({ registry, wanted: first, watched: proxies, owned: [] });
      const middle = apply(registry, before);
      const plan = planEnvironment({ registry: middle, wanted: second, watched: proxies, owned: before.owned });
      const partly = {
        ...plan,
        writes: plan.writes.slice(0, done),
        removals: plan.removals.slice(0, done),
        restores: plan.restores.slice(0, done),
      };
      const [crashed, record] = [apply(middle, partly), [...plan.owned, ...plan.released]];
      const again = planEnvironment({ registry: crashed, wanted: {}, watched: proxies, owned: record });
      const end = apply(crashed, again);
      expect(withValues(end)).toEqual(withValues(registry));
    }),
    { numRuns: 1000 },
  );
});
