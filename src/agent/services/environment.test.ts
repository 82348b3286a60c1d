import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { service } from '#contract/services/manifest.ts';
import type { OwnedVariable, Variables } from '../environment/plan.ts';
import type { InstalledService } from '../ports.ts';
import { planEnvironments, type ServiceVariables, variablesFor } from './environment.ts';
import { desiredService } from './plan.ts';

const kubelet = desiredService(service({ name: 'kubelet', command: 'k.exe' }), 'k.exe');
const installed = (environment: Variables | undefined, name = 'kubelet'): InstalledService => ({
  name,
  state: 'running',
  pid: 7,
  config: { ...kubelet.config, environment },
});
const record = (...variables: OwnedVariable[]): ServiceVariables[] => [{ service: 'kubelet', variables }];
const A = { name: 'A', value: '1' };

interface Given {
  has?: Variables | undefined;
  record?: ServiceVariables[];
  wanted?: Variables;
  inherited?: Variables;
}

function plan({ has = {}, record: known = [], wanted = {}, inherited = {} }: Given) {
  return planEnvironments([kubelet], [installed(has)], known, { variables: wanted, inherited });
}

const cases: [name: string, given: Given, environment: Variables, changed: boolean, after: OwnedVariable[]][] = [
  ['does nothing for nothing', {}, {}, false, []],
  ['sets a variable', { wanted: { A: '1' } }, { A: '1' }, true, [A]],
  ['does not set it twice', { wanted: { A: '1' }, has: { A: '1' }, record: record(A) }, { A: '1' }, false, [A]],
  ['sets it again when it was lost', { wanted: { A: '1' }, record: record(A) }, { A: '1' }, true, [A]],
  [
    'changes a value, and knows the old one until that is done',
    { wanted: { A: '2' }, has: { A: '1' }, record: record(A) },
    { A: '2' },
    true,
    [{ name: 'A', value: '2', was: '1' }],
  ],
  [
    'knows a value that was never replaced because the service did not stop',
    { wanted: { A: '3' }, has: { A: '1' }, record: record({ name: 'A', value: '2', was: '1' }) },
    { A: '3' },
    true,
    [{ name: 'A', value: '3', was: '1' }],
  ],
  ['removes what it has set', { has: { A: '1' }, record: record(A) }, {}, true, []],
  ['removes it in another spelling', { has: { a: '1' }, record: record(A) }, {}, true, []],
  [
    'removes a value that it was about to replace',
    { has: { A: '1' }, record: record({ name: 'A', value: '2', was: '1' }) },
    {},
    true,
    [],
  ],
  ['leaves variables of others alone', { has: { A: '1', B: '2' } }, { A: '1', B: '2' }, false, []],
  ['keeps them beside its own', { wanted: { A: '1' }, has: { B: '2' } }, { A: '1', B: '2' }, true, [A]],
  ['leaves a value that somebody has changed', { has: { A: 'other' }, record: record(A) }, { A: 'other' }, false, []],
  [
    'replaces the value of an administrator',
    { wanted: { A: '1' }, has: { a: 'own' } },
    { a: '1' },
    true,
    [{ ...A, previous: 'own' }],
  ],
  [
    'restores the value of an administrator',
    { has: { a: '1' }, record: record({ ...A, previous: 'own' }) },
    { a: 'own' },
    true,
    [],
  ],
  ['leaves an equal value to the administrator', { wanted: { A: '1' }, has: { A: '1' } }, { A: '1' }, false, []],
  ['does not restart for what is inherited', { wanted: { A: '1' }, inherited: { a: '1' } }, { A: '1' }, false, [A]],
  [
    'restarts to hide what is inherited',
    { wanted: { A: '' }, inherited: { A: '1' } },
    { A: '' },
    true,
    [{ ...A, value: '' }],
  ],
  ['does not restart for an empty variable', { has: { A: '' }, record: record({ ...A, value: '' }) }, {}, false, []],
];
for (const [name, given, environment, changed, after] of cases) {
  test(name, () => {
    const made = plan(given);
    expect(made.wanted.map(({ config, environmentChanged }) => [config.environment, environmentChanged])).toEqual([
      [environment, changed],
    ]);
    expect(made.after).toEqual(after.length === 0 ? [] : [{ service: 'kubelet', variables: after }]);
  });
}

test('keeps removed variables on record until that is done', () => {
  expect(plan({ has: { A: '1' }, record: record(A) }).before).toEqual(record(A));
});

test('leaves the variables and the record of a service alone whose variables cannot be read', () => {
  const made = planEnvironments([kubelet], [installed(undefined)], record(A), { variables: { B: '2' }, inherited: {} });
  expect(made).toEqual({ wanted: [kubelet], before: record(A), after: record(A) });
});

test('gives a new service its variables, and forgets the record of a deleted one', () => {
  const other = [
    { service: 'gone', variables: [A] },
    { service: 'KUBELET', variables: [{ ...A, previous: 'own' }] },
  ];
  const made = planEnvironments([kubelet], [], other, { variables: { A: '1' }, inherited: {} });
  expect([made.wanted[0]?.config.environment, made.after]).toEqual([{ A: '1' }, record(A)]);
});

test('keeps the record of a service that is not in the manifest', () => {
  const other = [{ service: 'csi-proxy', variables: [A] }];
  const made = planEnvironments([], [installed({ A: '1' }, 'CSI-Proxy')], other, { variables: {}, inherited: {} });
  expect(made.after).toEqual(other);
});

const seen: [name: string, environment: Variables, expected: Variables, inherited: Variables, want: Variables][] = [
  ['the wanted variables', { A: '1' }, { A: '1' }, {}, { A: '1' }],
  ['also those that Windows gives them', { A: '1' }, { A: '1' }, { A: '1' }, { A: '1' }],
  ['nothing for a variable that is not set', {}, { A: '' }, {}, {}],
  ['an empty variable while Windows gives them a value', {}, { A: '' }, { a: '1' }, { A: '' }],
  ['the value of the machine while Windows gives them another', {}, { A: 'own' }, { A: '1' }, { A: 'own' }],
  ['nothing for blanks around a value', {}, { A: 'own' }, { A: ' own ' }, {}],
];
for (const [name, environment, expected, inherited, want] of seen) {
  test(`services get ${name}`, () => expect(variablesFor(environment, expected, inherited).variables).toEqual(want));
}

test('whatever was wanted, only variables of others are left in the end', () => {
  const name = fc.constantFrom('A', 'a', 'B', 'C');
  const variables = fc.dictionary(name, fc.constantFrom('1', '2', '3'), { maxKeys: 3 });
  const unique = variables.filter(
    each => new Set(Object.keys(each).map(key => key.toLowerCase())).size === Object.keys(each).length,
  );
  fc.assert(
    fc.property(unique, fc.array(fc.tuple(unique, fc.boolean())), (own, story) => {
      let [has, known]: [Variables, ServiceVariables[]] = [own, []];
      for (const [wanted, isDone] of [...story, [{}, true] as const]) {
        const made = plan({ has, record: known, wanted });
        // A pass that is killed has recorded what it was about to do.
        known = isDone ? made.after : made.before;
        if (isDone) has = made.wanted[0]?.config.environment ?? {};
      }
      expect([has, known]).toEqual([own, []]);
    }),
    { numRuns: 500 },
  );
});
