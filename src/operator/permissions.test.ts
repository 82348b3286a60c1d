import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { secretName } from '#contract/names.ts';
import type { Permission } from '#kube/permissions.ts';
import { operatorPermissions } from './permissions.ts';

const textOf = ({ in: place, group, resources, verbs, names }: Permission) =>
  `${typeof place === 'object' ? place.namespace : place}: ${verbs.join()} ${group}/${resources.join()} ${names?.join() ?? ''}`;
const inPlace = (place: string) =>
  operatorPermissions.filter(({ in: where }) => (typeof where === 'object' ? where.namespace : where) === place);

test('never asks for everything', () => {
  expect(operatorPermissions.map(textOf).filter(text => text.includes('*'))).toEqual([]);
});

test('reads no Secret cluster-wide, and outside its namespace only by name', () => {
  expect(inPlace('cluster').filter(({ resources }) => resources.some(each => each.startsWith('secrets')))).toEqual([]);
  const elsewhere = operatorPermissions.filter(
    ({ in: place, resources, verbs }) =>
      typeof place === 'object' && resources.includes('secrets') && verbs.some(verb => verb !== 'create'),
  );
  expect(new Set(elsewhere.map(({ names }) => names?.join()))).toEqual(new Set(['pull-secret', 'windows-user-data']));
  for (const { names } of elsewhere) expect(names?.length).toBeGreaterThan(0);
});

test('makes tokens of named accounts only', () => {
  const tokens = operatorPermissions.filter(({ resources }) => resources.includes('serviceaccounts/token'));
  expect(tokens.length).toBeGreaterThan(0);
  for (const { names, in: place } of tokens) {
    expect(names?.length).toBeGreaterThan(0);
    expect(place).not.toBe('cluster');
  }
});

const never: [what: string, matches: (permission: Permission) => boolean][] = [
  ['run commands in pods', ({ resources }) => resources.includes('pods/exec')],
  ['act for others', ({ verbs }) => (verbs as readonly string[]).includes('impersonate')],
  [
    'go beyond its own rights',
    ({ verbs }) => (verbs as readonly string[]).includes('escalate') || verbs.includes('bind'),
  ],
  ['change workloads', ({ group }) => group === 'apps'],
  ['delete whole collections', ({ verbs }) => verbs.includes('deletecollection')],
  [
    'delete Secrets but the token that agents of the Go operator share',
    ({ resources, verbs, names }) =>
      resources.includes('secrets') && verbs.includes('delete') && names?.join() !== secretName.agentToken,
  ],
  [
    'make Secrets in its own namespace but one by its name, where any could be a token of any account',
    ({ in: place, resources, verbs, names }) =>
      place === 'own namespace' &&
      resources.includes('secrets') &&
      verbs.includes('create') &&
      names?.join() !== secretName.privateKeys,
  ],
];
for (const [what, matches] of never) {
  test(`does not ask to ${what}`, () => expect(operatorPermissions.filter(matches).map(textOf)).toEqual([]));
}

const needed: [what: string, place: string, group: string, resource: string, verb: string][] = [
  ['mark Nodes', 'cluster', '', 'nodes', 'patch'],
  ['empty Nodes', 'cluster', '', 'pods/eviction', 'create'],
  ['approve certificates', 'cluster', 'certificates.k8s.io', 'certificatesigningrequests/approval', 'update'],
  ['lead', 'own namespace', 'coordination.k8s.io', 'leases', 'update'],
  ['follow its instances', 'own namespace', 'windowsmachineconfig.openshift.io', 'windowsinstances', 'watch'],
  ['tell of their state', 'own namespace', 'windowsmachineconfig.openshift.io', 'windowsinstances/status', 'patch'],
  ['replace Machines', 'openshift-machine-api', 'machine.openshift.io', 'machines', 'delete'],
  ['read facts', 'cluster', 'machineconfiguration.openshift.io', 'machineconfigs', 'list'],
  ['say something about Nodes', 'default', '', 'events', 'create'],
  ['let others read its metrics', 'cluster', 'authentication.k8s.io', 'tokenreviews', 'create'],
  ['use the network of its machine', 'cluster', 'security.openshift.io', 'securitycontextconstraints', 'use'],
];
for (const [what, place, group, resource, verb] of needed) {
  test(`asks to ${what}`, () => {
    const found = inPlace(place).filter(
      permission => permission.group === group && permission.resources.includes(resource),
    );
    expect(found.flatMap(({ verbs }) => verbs as readonly string[])).toContain(verb);
  });
}

test('every controller has a say', async () => {
  const folder = join(import.meta.dirname, '..', 'controllers');
  const controllers = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(name =>
    /^[\w-]+\/controller\.ts$/.test(name),
  );
  expect(controllers.length).toBeGreaterThan(8);
  for (const name of controllers) {
    const { permissions } = (await import(join(folder, name))) as { permissions?: readonly Permission[] };
    expect(permissions, name).toBeDefined();
    expect(operatorPermissions, name).toEqual(expect.arrayContaining([...(permissions ?? [])]));
  }
});
