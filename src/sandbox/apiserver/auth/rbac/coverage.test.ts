import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { describePermissions, quotedList, missingPermissions } from './coverage.ts';
import { type PolicyRule, ruleAllows } from './rule.ts';

const nothing: PolicyRule = { verbs: [], apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: [] };
const rule = (members: Partial<PolicyRule>): PolicyRule => ({ ...nothing, ...members });
const on = (verbs: string[], resources: string[], group = '', resourceNames: string[] = []) =>
  rule({ verbs, resources, apiGroups: [group], resourceNames });
const urls = (verbs: string[], ...nonResourceURLs: string[]) => rule({ verbs, nonResourceURLs });

const cases: [string, PolicyRule[], PolicyRule[], string[]][] = [
  ['nothing wanted', [], [], []],
  ['a rule without verbs', [], [on([], ['pods'])], []],
  ['the same', [on(['get'], ['pods'])], [on(['get'], ['pods'])], []],
  ['more than wanted', [on(['get', 'list'], ['pods', 'secrets'])], [on(['list'], ['pods'])], []],
  ['held in pieces', [on(['get'], ['pods']), on(['list'], ['pods'])], [on(['get', 'list'], ['pods'])], []],
  ['nothing held', [], [on(['get'], ['pods'])], ['{APIGroups:[""], Resources:["pods"], Verbs:["get"]}']],
  [
    'verbs put together, in the order wanted',
    [on(['get'], ['pods'])],
    [on(['list', 'get', 'create'], ['pods'])],
    ['{APIGroups:[""], Resources:["pods"], Verbs:["list" "create"]}'],
  ],
  [
    'resources one by one, in order',
    [],
    [on(['get'], ['secrets', 'pods'])],
    ['{APIGroups:[""], Resources:["pods"], Verbs:["get"]}', '{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}'],
  ],
  [
    'names one by one',
    [],
    [on(['get'], ['pods'], '', ['a', 'b'])],
    [
      '{APIGroups:[""], Resources:["pods"], ResourceNames:["a"], Verbs:["get"]}',
      '{APIGroups:[""], Resources:["pods"], ResourceNames:["b"], Verbs:["get"]}',
    ],
  ],
  ['a name where all names are held', [on(['get'], ['pods'])], [on(['get'], ['pods'], '', ['a'])], []],
  [
    'all names where one is held',
    [on(['get'], ['pods'], '', ['a'])],
    [on(['get'], ['pods'])],
    ['{APIGroups:[""], Resources:["pods"], Verbs:["get"]}'],
  ],
  ['any verb held', [on(['*'], ['pods'])], [on(['get', 'frobnicate'], ['pods'])], []],
  [
    'any verb wanted',
    [on(['get', 'list', 'watch'], ['pods'])],
    [on(['*'], ['pods'])],
    ['{APIGroups:[""], Resources:["pods"], Verbs:["*"]}'],
  ],
  ['any resource held', [on(['get'], ['*'])], [on(['get'], ['pods', 'pods/log'])], []],
  ['a subresource of all held', [on(['get'], ['*/log'])], [on(['get'], ['pods/log'])], []],
  [
    'a resource held for its subresource',
    [on(['get'], ['pods'])],
    [on(['get'], ['pods/log'])],
    ['{APIGroups:[""], Resources:["pods/log"], Verbs:["get"]}'],
  ],
  ['any group held', [on(['get'], ['pods'], '*')], [on(['get'], ['pods'], 'apps')], []],
  [
    'another group held',
    [on(['get'], ['pods'], 'apps')],
    [on(['get'], ['pods'])],
    ['{APIGroups:[""], Resources:["pods"], Verbs:["get"]}'],
  ],
  ['paths below held', [urls(['get'], '/api/*')], [urls(['get'], '/api/v1')], []],
  [
    'paths one by one and verb by verb',
    [],
    [urls(['get', 'post'], '/b', '/a')],
    [
      '{NonResourceURLs:["/a"], Verbs:["get"]}',
      '{NonResourceURLs:["/a"], Verbs:["post"]}',
      '{NonResourceURLs:["/b"], Verbs:["get"]}',
      '{NonResourceURLs:["/b"], Verbs:["post"]}',
    ],
  ],
  [
    'everything but paths held',
    [on(['*'], ['*'], '*')],
    [urls(['get'], '/x')],
    ['{NonResourceURLs:["/x"], Verbs:["get"]}'],
  ],
];
test.each(cases)('%s', (_, held, wanted, missing) => {
  expect(describePermissions(missingPermissions(held, wanted))).toEqual(missing);
});

test('a path that is requested twice is reported once', () => {
  expect(describePermissions([urls(['get'], '/x'), urls(['get'], '/x')])).toHaveLength(1);
});

test('lists are written as the server writes them', () => {
  expect(quotedList([])).toBe('[]');
  expect(quotedList(['a', 'b"c'])).toBe(String.raw`["a" "b\"c"]`);
});

const listOf = (...words: string[]) => fc.uniqueArray(fc.constantFrom(...words), { minLength: 1, maxLength: 3 });
const verbs = listOf('*', 'get', 'list');
/** As the API accepts them: a rule is about resources or about paths. */
const anyRule: fc.Arbitrary<PolicyRule> = fc.oneof(
  fc
    .record({
      verbs,
      apiGroups: listOf('*', '', 'apps'),
      resources: listOf('*', 'pods', 'pods/log', '*/log'),
      resourceNames: fc.oneof(fc.constant([]), listOf('web', 'db')),
    })
    .map(rule),
  fc.record({ verbs, nonResourceURLs: listOf('*', '/a', '/a/*', '/a/b') }).map(rule),
);
const anyRequest = fc.record({
  verb: fc.constantFrom('get', 'list', 'create'),
  path: fc.constantFrom('', '', '/a', '/a/b', '/a/c'),
  group: fc.constantFrom('', 'apps', 'batch'),
  resource: fc.constantFrom('pods', 'jobs'),
  subresource: fc.constantFrom('', 'log', 'exec'),
  name: fc.constantFrom('', 'web', 'db', 'x'),
});

test('who covers a rule may do all that the rule allows', () => {
  let covered = 0;
  fc.assert(
    fc.property(fc.array(anyRule, { maxLength: 5 }), anyRule, fc.array(anyRequest), (held, wanted, requests) => {
      if (missingPermissions(held, [wanted]).length > 0) return;
      covered += 1;
      for (const request of requests.filter(item => ruleAllows(wanted, item))) {
        expect(held.some(item => ruleAllows(item, request))).toBe(true);
      }
    }),
    { numRuns: 5000 },
  );
  expect(covered).toBeGreaterThan(100);
});

test('reported permissions are really missing', () => {
  fc.assert(
    fc.property(fc.array(anyRule, { maxLength: 3 }), anyRule, (held, wanted) => {
      const missing = missingPermissions(held, [wanted]);
      expect(missingPermissions([...held, ...missing], [wanted])).toEqual([]);
    }),
    { numRuns: 1000 },
  );
});

test('rules cover themselves', () => {
  fc.assert(
    fc.property(fc.array(anyRule, { maxLength: 4 }), rules => {
      expect(missingPermissions(rules, rules)).toEqual([]);
    }),
    { numRuns: 1000 },
  );
});
