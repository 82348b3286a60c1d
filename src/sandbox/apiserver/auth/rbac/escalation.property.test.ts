import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { readerOf, stored } from '../../../../../test/kit/api-reader.ts';
import type { KubeResource, Resource } from '../../../../kube/resource.ts';
import { clusterRoleBindings, clusterRoles, roleBindings, roles } from '../../../../kube/resources.ts';
import type { AccessRequest, UserInfo } from '../../ports.ts';
import { StatusError } from '../../status.ts';
import { createAuthorizer } from '../authorizer.ts';
import { refuseEscalation } from './escalation.ts';

type Entry = readonly [Resource, KubeResource & Record<string, unknown>];

const jane: UserInfo = { username: 'jane', groups: ['system:authenticated'] };
const namespaces = ['ns', 'other'];

const listOf = (...words: string[]) => fc.uniqueArray(fc.constantFrom(...words), { minLength: 1, maxLength: 2 });
const anyRule = fc.oneof(
  fc.record({
    verbs: listOf('get', 'list', 'delete', '*'),
    // Without the group of roles itself: a right to bind or to escalate is one to get more.
    apiGroups: listOf('', 'apps'),
    resources: listOf('pods', 'secrets', 'pods/log', '*/log', '*'),
    resourceNames: fc.oneof(fc.constant([]), listOf('a', 'b')),
  }),
  fc.record({ verbs: listOf('get', '*'), nonResourceURLs: listOf('/a', '/a/*', '*') }),
);
const anyRules = fc.array(anyRule, { maxLength: 3 });

/** Roles created by an administrator: jane holds some, others can be bound. */
const anyWorld = fc.record({
  held: anyRules,
  heldInNs: anyRules,
  waiting: anyRules,
});

const anyWrite = fc.oneof(
  fc.record({
    is: fc.constant('role' as const),
    where: fc.constantFrom('', ...namespaces),
    name: listOf('r1', 'r2'),
    rules: anyRules,
  }),
  fc.record({
    is: fc.constant('binding' as const),
    where: fc.constantFrom('', ...namespaces),
    name: listOf('b1', 'b2'),
    refKind: fc.constantFrom('Role', 'ClusterRole'),
    ref: fc.constantFrom('r1', 'r2', 'waiting', 'held', 'ghost'),
  }),
);

const nowhere = { group: '', version: '', resource: '', subresource: '', namespace: '', name: '' };
const anyRequest: fc.Arbitrary<Omit<AccessRequest, 'user'>> = fc.oneof(
  fc
    .record({ verb: fc.constantFrom('get', 'post'), path: fc.constantFrom('/a', '/a/b', '/c') })
    .map(path => ({ ...nowhere, ...path })),
  fc.record({
    verb: fc.constantFrom('get', 'list', 'delete', 'create'),
    path: fc.constant(''),
    group: fc.constantFrom('', 'apps', 'batch'),
    version: fc.constant('v1'),
    resource: fc.constantFrom('pods', 'secrets', 'jobs'),
    subresource: fc.constantFrom('', 'log'),
    namespace: fc.constantFrom('', ...namespaces),
    name: fc.constantFrom('', 'a', 'b', 'c'),
  }),
);

const bindJane = (name: string, kind: string, ref: string) => ({
  metadata: { name },
  roleRef: { kind, name: ref },
  subjects: [{ kind: 'User', name: 'jane' }],
});
const inside = (namespace: string, object: KubeResource & Record<string, unknown>) => ({
  ...object,
  metadata: { ...object.metadata, ...(namespace && { namespace }) },
});

test('no sequence of allowed writes of roles and bindings escalates permissions', () => {
  let written = 0;
  fc.assert(
    fc.property(
      anyWorld,
      fc.array(anyWrite, { minLength: 1, maxLength: 8 }),
      fc.array(anyRequest, { minLength: 5, maxLength: 40 }),
      (setup, writes, requests) => {
        const entries: Entry[] = [
          [clusterRoles, { metadata: { name: 'held' }, rules: setup.held }],
          [clusterRoleBindings, bindJane('held', 'ClusterRole', 'held')],
          [roles, { metadata: { namespace: 'ns', name: 'held' }, rules: setup.heldInNs }],
          [roleBindings, inside('ns', bindJane('held', 'Role', 'held'))],
          [clusterRoles, { metadata: { name: 'waiting' }, rules: setup.waiting }],
          [roles, { metadata: { namespace: 'other', name: 'waiting' }, rules: setup.waiting }],
        ];
        const allowedNow = () => {
          const authorizer = createAuthorizer(readerOf(entries));
          return requests.filter(request => authorizer.authorize({ user: jane, ...request }).allowed);
        };
        const before = allowedNow();
        for (const write of writes) written += attempt(entries, write) ? 1 : 0;
        expect(allowedNow()).toEqual(before);
      },
    ),
    { numRuns: 1000 },
  );
  expect(written).toBeGreaterThan(500);
});

type Write = typeof anyWrite extends fc.Arbitrary<infer T> ? T : never;

/** Lets jane write regardless of her permissions; only escalation is checked. */
function attempt(entries: Entry[], write: Write): boolean {
  const kinds = write.is === 'role' ? [clusterRoles, roles] : [clusterRoleBindings, roleBindings];
  const resource = kinds[write.where === '' ? 0 : 1] as Resource;
  const name = write.name[0] ?? '';
  const content =
    write.is === 'role' ? { metadata: { name }, rules: write.rules } : bindJane(name, write.refKind, write.ref);
  const object = inside(write.where, content);
  const isSame = ([kind, { metadata }]: Entry) =>
    kind === resource && metadata.name === name && (metadata.namespace ?? '') === write.where;
  const old = entries.find(isSame);
  const api = readerOf(entries);
  const request = {
    user: jane,
    operation: old === undefined ? ('create' as const) : ('update' as const),
    resource,
    subresource: '',
    object: stored(resource, object),
    old: old && stored(resource, old[1]),
  };
  try {
    refuseEscalation(request, api, createAuthorizer(api));
  } catch (error) {
    if (error instanceof StatusError) return false;
    throw error;
  }
  if (old !== undefined) entries.splice(entries.indexOf(old), 1);
  entries.push([resource, object]);
  return true;
}
