import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { type PolicyRule, readRules, ruleAllows, urlCovers } from './rule.ts';

const nothing: PolicyRule = { verbs: [], apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: [] };
const request = { verb: 'get', path: '', group: '', resource: 'pods', subresource: '', name: 'web' };
const rule: PolicyRule = { ...nothing, verbs: ['get'], apiGroups: [''], resources: ['pods'] };

const cases: [string, Partial<PolicyRule>, Partial<typeof request>, boolean][] = [
  ['exactly what is asked', {}, {}, true],
  ['another verb', {}, { verb: 'list' }, false],
  ['any verb', { verbs: ['*'] }, { verb: 'frobnicate' }, true],
  ['no verb', { verbs: [] }, {}, false],
  ['a verb that only begins alike', { verbs: ['ge*'] }, {}, false],
  ['another group', {}, { group: 'apps' }, false],
  ['any group', { apiGroups: ['*'] }, { group: 'apps' }, true],
  ['no group', { apiGroups: [] }, {}, false],
  ['another resource', {}, { resource: 'secrets' }, false],
  ['any resource', { resources: ['*'] }, { resource: 'secrets' }, true],
  ['any resource for a subresource', { resources: ['*'] }, { subresource: 'log' }, true],
  ['a resource for its subresource', {}, { subresource: 'log' }, false],
  ['a subresource', { resources: ['pods/log'] }, { subresource: 'log' }, true],
  ['a subresource for the resource', { resources: ['pods/log'] }, {}, false],
  ['another subresource', { resources: ['pods/exec'] }, { subresource: 'log' }, false],
  ['a subresource of any resource', { resources: ['*/log'] }, { subresource: 'log' }, true],
  ['a subresource of any resource for another', { resources: ['*/log'] }, { subresource: 'xlog' }, false],
  ['a subresource of any resource for none', { resources: ['*/log'] }, {}, false],
  ['any subresource, which is not a thing', { resources: ['pods/*'] }, { subresource: 'log' }, false],
  ['the name', { resourceNames: ['web', 'db'] }, {}, true],
  ['another name', { resourceNames: ['db'] }, {}, false],
  ['a name for a list, which has none', { resourceNames: ['web'] }, { name: '' }, false],
  ['a star as a name, which is not a thing', { resourceNames: ['*'] }, {}, false],
  ['resources for a path', { resources: ['*'], apiGroups: ['*'] }, { path: '/version' }, false],
  ['a path', { nonResourceURLs: ['/version'] }, { path: '/version' }, true],
  ['another path', { nonResourceURLs: ['/version'] }, { path: '/version/' }, false],
  ['paths below', { nonResourceURLs: ['/api/*'] }, { path: '/api/v1' }, true],
  ['paths below for the path itself', { nonResourceURLs: ['/api/*'] }, { path: '/api' }, false],
  ['all paths', { nonResourceURLs: ['*'] }, { path: '/metrics' }, true],
  ['a path with another verb', { nonResourceURLs: ['/version'] }, { path: '/version', verb: 'post' }, false],
  ['a path for a resource', { nonResourceURLs: ['*'], resources: [] }, {}, false],
];
test.each(cases)('a rule with %s', (_, ruleChange, requestChange, allowed) => {
  expect(ruleAllows({ ...rule, ...ruleChange }, { ...request, ...requestChange })).toBe(allowed);
});

const urls: [string, string, boolean][] = [
  ['/a', '/a', true],
  ['/a*', '/abc', true],
  ['/a**', '/abc', true],
  ['*', '/x', true],
  ['/a*', '/b', false],
  ['/*a', '/ba', false],
];
test.each(urls)('%s stands for %s: %s', (url, other, want) => expect(urlCovers(url, other)).toBe(want));

const read: [string, unknown, PolicyRule[]][] = [
  ['nothing', undefined, []],
  ['null, as roles without rules have it', null, []],
  ['a text', 'verbs', []],
  ['an empty rule', [{}], [nothing]],
  ['something that is no rule', [7], [nothing]],
  [
    'lists of texts',
    [{ verbs: ['get'], resources: ['pods', 7] }],
    [{ ...nothing, verbs: ['get'], resources: ['pods'] }],
  ],
  ['a text instead of a list', [{ verbs: 'get' }], [nothing]],
];
test.each(read)('reads %s', (_, value, want) => expect(readRules(value)).toEqual(want));

const words = ['get', 'list', 'create', 'pods', 'secrets', 'pods/log', 'apps', '', 'web', '/version', '/api/v1'];
const some = (...more: string[]) => fc.array(fc.constantFrom(...words, ...more), { maxLength: 4 });
const anyRule: fc.Arbitrary<PolicyRule> = fc.record({
  verbs: some(),
  apiGroups: some(),
  resources: some('*/log'),
  resourceNames: some(),
  nonResourceURLs: some('/api/*'),
});
const anyRequest = fc.record({
  verb: fc.constantFrom(...words),
  path: fc.constantFrom('', '', '/version', '/api/v1'),
  group: fc.constantFrom(...words),
  resource: fc.constantFrom('pods', 'secrets'),
  subresource: fc.constantFrom('', 'log'),
  name: fc.constantFrom('', 'web'),
});

test('a rule without wildcards allows only what it names', () => {
  fc.assert(
    fc.property(anyRule, anyRequest, (rule, request) => {
      if (!ruleAllows(rule, request)) return;
      expect(rule.verbs).toContain(request.verb);
      if (request.path !== '') {
        expect(rule.nonResourceURLs.some(url => urlCovers(url, request.path))).toBe(true);
        return;
      }
      const { resource, subresource } = request;
      const names = subresource === '' ? [resource] : [`${resource}/${subresource}`, `*/${subresource}`];
      expect(rule.apiGroups).toContain(request.group);
      expect(rule.resources.some(item => names.includes(item))).toBe(true);
      expect(rule.resourceNames.length === 0 || rule.resourceNames.includes(request.name)).toBe(true);
    }),
    { numRuns: 5000 },
  );
});

test('a star instead of a list never allows less', () => {
  const members = ['verbs', 'apiGroups', 'resources', 'nonResourceURLs'] as const;
  fc.assert(
    fc.property(anyRule, anyRequest, fc.constantFrom(...members), (rule, request, member) => {
      if (!ruleAllows(rule, request)) return;
      expect(ruleAllows({ ...rule, [member]: ['*'] }, request)).toBe(true);
    }),
    { numRuns: 5000 },
  );
});

test('a longer list never allows less, except that names restrict', () => {
  const members = ['verbs', 'apiGroups', 'resources', 'nonResourceURLs'] as const;
  fc.assert(
    fc.property(
      anyRule,
      anyRequest,
      fc.constantFrom(...members),
      fc.constantFrom(...words),
      (rule, request, member, word) => {
        if (!ruleAllows(rule, request)) return;
        expect(ruleAllows({ ...rule, [member]: [...rule[member], word] }, request)).toBe(true);
      },
    ),
    { numRuns: 3000 },
  );
});
