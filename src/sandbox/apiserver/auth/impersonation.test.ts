import { expect, test } from 'vitest';
import type { AccessRequest, Authorizer, UserInfo } from '../ports.ts';
import { createImpersonation } from './impersonation.ts';
import {
  anonymous,
  withAuthenticatedGroup,
  readServiceAccountUsername,
  serviceAccountUsername,
} from './service-account-user.ts';

const jane: UserInfo = { username: 'jane', groups: ['dev'], uid: '7', extra: { scope: ['all'] } };

/** Allows everything but what is named `forbidden`, and writes down what was asked. */
function recording(): { asked: Partial<AccessRequest>[]; authorizer: Authorizer } {
  const asked: Partial<AccessRequest>[] = [];
  const authorizer: Authorizer = {
    authorize: ({ user: _user, ...request }) => {
      asked.push(Object.fromEntries(Object.entries(request).filter(([, value]) => value !== '')));
      return { allowed: request.name !== 'forbidden', reason: request.name === 'forbidden' ? 'RBAC: no' : '' };
    },
    rulesFor: () => ({ resourceRules: [], nonResourceRules: [] }),
  };
  return { asked, authorizer };
}
const act = (...rawHeaders: string[]) => createImpersonation(recording().authorizer).impersonate(jane, rawHeaders);

test('without impersonation headers the user stays the same', () => {
  expect(act()).toBe(jane);
  expect(act('Accept', '*/*', 'X-Impersonate-User', 'root')).toBe(jane);
  expect(act('Impersonate-User', '')).toBe(jane);
});

const cases: [string, string[], UserInfo][] = [
  ['a user', ['Impersonate-User', 'joe'], { username: 'joe', groups: ['system:authenticated'] }],
  ['the header in small letters', ['impersonate-user', 'joe'], { username: 'joe', groups: ['system:authenticated'] }],
  [
    'a user with groups',
    ['Impersonate-User', 'joe', 'Impersonate-Group', 'a', 'impersonate-group', 'b,c'],
    { username: 'joe', groups: ['a', 'b,c', 'system:authenticated'] },
  ],
  [
    'a user with the group authenticated',
    ['Impersonate-User', 'joe', 'Impersonate-Group', 'system:authenticated'],
    { username: 'joe', groups: ['system:authenticated'] },
  ],
  [
    'a user with the group unauthenticated',
    ['Impersonate-User', 'joe', 'Impersonate-Group', 'system:unauthenticated'],
    { username: 'joe', groups: ['system:unauthenticated'] },
  ],
  [
    'a service account, with its groups',
    ['Impersonate-User', 'system:serviceaccount:ns:sa'],
    {
      username: 'system:serviceaccount:ns:sa',
      groups: ['system:serviceaccounts', 'system:serviceaccounts:ns', 'system:authenticated'],
    },
  ],
  [
    'a service account with other groups',
    ['Impersonate-User', 'system:serviceaccount:ns:sa', 'Impersonate-Group', 'a'],
    { username: 'system:serviceaccount:ns:sa', groups: ['a', 'system:authenticated'] },
  ],
  [
    'the anonymous user',
    ['Impersonate-User', 'system:anonymous'],
    { username: 'system:anonymous', groups: ['system:unauthenticated'] },
  ],
  [
    'the anonymous user with groups',
    ['Impersonate-User', 'system:anonymous', 'Impersonate-Group', 'system:authenticated'],
    { username: 'system:anonymous', groups: ['system:authenticated', 'system:unauthenticated'] },
  ],
  [
    'extra values, with escapes in their names',
    ['Impersonate-User', 'joe', 'Impersonate-Extra-Acme.com%2FScope', 'a', 'Impersonate-Extra-acme.com%2fscope', 'b'],
    { username: 'joe', groups: ['system:authenticated'], extra: { 'acme.com/scope': ['a', 'b'] } },
  ],
  [
    'extra names with a broken escape',
    ['Impersonate-User', 'joe', 'Impersonate-Extra-100%', 'a'],
    { username: 'joe', groups: ['system:authenticated'], extra: { '100%': ['a'] } },
  ],
];
test.each(cases)('becomes %s', (_, headers, want) => expect(act(...headers)).toEqual(want));

test('every part needs the right to impersonate it', () => {
  const { asked, authorizer } = recording();
  createImpersonation(authorizer).impersonate(
    jane,
    'Impersonate-User joe Impersonate-Group a Impersonate-Group b Impersonate-Extra-Scope x Impersonate-Extra-Scope y'.split(
      ' ',
    ),
  );
  const extra = { verb: 'impersonate', group: 'authentication.k8s.io', version: 'v1', resource: 'userextras' };
  expect(asked).toEqual([
    { verb: 'impersonate', resource: 'users', name: 'joe' },
    { verb: 'impersonate', resource: 'groups', name: 'a' },
    { verb: 'impersonate', resource: 'groups', name: 'b' },
    { ...extra, subresource: 'scope', name: 'x' },
    { ...extra, subresource: 'scope', name: 'y' },
  ]);
});

test('a service account is asked for in its namespace', () => {
  const { asked, authorizer } = recording();
  createImpersonation(authorizer).impersonate(jane, ['Impersonate-User', 'system:serviceaccount:ns:sa']);
  expect(asked).toEqual([{ verb: 'impersonate', resource: 'serviceaccounts', namespace: 'ns', name: 'sa' }]);
});

const refused: [string, string[], string][] = [
  [
    'a user',
    ['Impersonate-User', 'forbidden'],
    'users "forbidden" is forbidden: User "jane" cannot impersonate resource "users" in API group "" at the cluster scope: RBAC: no',
  ],
  [
    'a group',
    ['Impersonate-User', 'joe', 'Impersonate-Group', 'forbidden'],
    'groups "forbidden" is forbidden: User "jane" cannot impersonate resource "groups" in API group "" at the cluster scope: RBAC: no',
  ],
  [
    'a service account',
    ['Impersonate-User', 'system:serviceaccount:ns:forbidden'],
    'serviceaccounts "forbidden" is forbidden: User "jane" cannot impersonate resource "serviceaccounts" in API group "" in the namespace "ns": RBAC: no',
  ],
  [
    'an extra value',
    ['Impersonate-User', 'joe', 'Impersonate-Extra-Scope', 'forbidden'],
    'userextras.authentication.k8s.io "forbidden" is forbidden: User "jane" cannot impersonate resource "userextras/scope" in API group "authentication.k8s.io" at the cluster scope: RBAC: no',
  ],
];
test.each(refused)('is refused %s', (_, headers, message) => {
  expect(() => act(...headers)).toThrow(
    expect.objectContaining({ message, status: expect.objectContaining({ code: 403 }) }),
  );
});

test('groups and extra values without a user make no sense', () => {
  for (const name of ['Impersonate-Group', 'Impersonate-Extra-Scope']) {
    expect(() => act(name, 'a')).toThrow(expect.objectContaining({ status: expect.objectContaining({ code: 500 }) }));
  }
});

const usernames: [string, { namespace: string; name: string } | undefined][] = [
  ['system:serviceaccount:ns:sa', { namespace: 'ns', name: 'sa' }],
  ['system:serviceaccount:ns', undefined],
  ['system:serviceaccount:ns:', undefined],
  ['system:serviceaccount::sa', undefined],
  ['system:serviceaccount:ns:sa:x', undefined],
  ['system:serviceaccounts:ns:sa', undefined],
  ['jane', undefined],
];
test.each(usernames)('%s stands for %o', (username, want) => {
  expect(readServiceAccountUsername(username)).toEqual(want);
  if (want !== undefined) expect(serviceAccountUsername(want)).toBe(username);
});

test('system:authenticated is added unless a group says so', () => {
  expect(withAuthenticatedGroup(jane)).toEqual({ ...jane, groups: ['dev', 'system:authenticated'] });
  expect(withAuthenticatedGroup(anonymous)).toBe(anonymous);
});
