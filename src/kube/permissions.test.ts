import { expect, test } from 'vitest';
import { type Permission, reading, ruleOf } from './permissions.ts';

const permission: Permission = { in: 'cluster', group: 'apps', resources: ['daemonsets'], verbs: ['get'] };

const rules: [name: string, permission: Permission, want: object][] = [
  ['a permission', permission, { apiGroups: ['apps'], resources: ['daemonsets'], verbs: ['get'] }],
  ['one of the core', { ...permission, group: '' }, { apiGroups: [''], resources: ['daemonsets'], verbs: ['get'] }],
  [
    'one for certain names',
    { ...permission, names: ['a', 'b'], verbs: reading },
    { apiGroups: ['apps'], resources: ['daemonsets'], resourceNames: ['a', 'b'], verbs: ['list', 'watch'] },
  ],
];
for (const [name, given, want] of rules) test(`makes a rule of ${name}`, () => expect(ruleOf(given)).toEqual(want));

test('leaves the lists of a permission alone', () => {
  const rule = ruleOf({ ...permission, verbs: reading });
  rule.verbs.push('delete');
  expect(reading).toEqual(['list', 'watch']);
});
