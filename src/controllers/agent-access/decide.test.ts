import { expect, test } from 'vitest';
import { nodeAnnotation } from '#contract/names.ts';
import { printManifest } from '#contract/services/print.ts';
import { servicesManifest } from '#node/desired/services.ts';
import { benchSettings, usualFacts } from '../../../test/kit/fixed-facts.ts';
import { differenceTo, hasFormerAgents, isAgentNode, updated } from './decide.ts';
import type { AccessObject } from './desired.ts';

const windows = { 'kubernetes.io/os': 'windows' };
const { version, desiredVersion, pubKeyHash, username } = nodeAnnotation;

const nodes: [name: string, labels: Record<string, string>, annotations: Record<string, string>, want: boolean][] = [
  ['a Windows node that was taken in', windows, { [pubKeyHash]: 'x' }, true],
  ['one whose hash was cleared', windows, { [pubKeyHash]: '' }, true],
  ['one that is on its way to a version', windows, { [desiredVersion]: 'v' }, true],
  ['one that has a version', windows, { [version]: 'v' }, true],
  ['one without any mark of ours', windows, {}, false],
  ['one with only a user name', windows, { [username]: 'x' }, false],
  ['a Linux node with marks', { 'kubernetes.io/os': 'linux' }, { [version]: 'v' }, false],
  ['a node without a system', {}, { [version]: 'v' }, false],
];
for (const [name, labels, annotations, want] of nodes) {
  test(`${want ? 'lets' : 'does not let'} the agent of ${name} in`, () =>
    expect(isAgentNode({ labels, annotations })).toBe(want));
}

const ours = printManifest(servicesManifest(usualFacts, benchSettings));
const former = {
  services: '[{"name":"kubelet","path":"C:\\\\k\\\\kubelet.exe","powershellPreScripts":[]}]',
  files: '[]',
};
const node = (of: string | undefined, labels: Record<string, string> = windows) => ({
  labels,
  annotations: of === undefined ? {} : { [version]: of },
});
const maps = (...entries: [version: string, data: Record<string, string>][]) =>
  new Map(entries.map(([of, data]) => [`windows-services-${of}`, data]));

const generations: [name: string, given: Parameters<typeof hasFormerAgents>, want: boolean][] = [
  ['a node of the Go operator', [[node('go')], maps(['go', former])], true],
  ['one of several nodes', [[node('ours'), node('go')], maps(['ours', ours], ['go', former])], true],
  ['our own nodes', [[node('ours')], maps(['ours', ours])], false],
  [
    'our own nodes, with a ConfigMap of the Go operator left',
    [[node('ours')], maps(['ours', ours], ['go', former])],
    false,
  ],
  ['a node that was never finished', [[node(undefined)], maps(['go', former])], false],
  ['a version whose ConfigMap is gone', [[node('go')], maps()], false],
  ['a Linux node', [[node('go', { 'kubernetes.io/os': 'linux' })], maps(['go', former])], false],
  ['an empty ConfigMap', [[node('go')], maps(['go', {}])], true],
  ['nothing', [[], maps()], false],
];
for (const [name, given, want] of generations) {
  test(`sees ${want ? 'agents' : 'no agent'} of the Go operator in ${name}`, () =>
    expect(hasFormerAgents(...given)).toBe(want));
}

const owner = { apiVersion: 'v1', kind: 'Node', name: 'win-1', uid: 'u' };
const rules = [{ apiGroups: [''], resources: ['nodes'], verbs: ['get'] }];
const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'r' };
const subjects = [{ kind: 'User', name: 'u', apiGroup: 'rbac.authorization.k8s.io' }];
const role: AccessObject = { metadata: { name: 'r', labels: { a: '1' }, ownerReferences: [owner] }, rules };
const binding: AccessObject = { metadata: { name: 'r', labels: { a: '1' } }, roleRef, subjects };
const served = (object: AccessObject): AccessObject => ({
  ...structuredClone(object),
  metadata: { ...structuredClone(object.metadata), uid: 'x', resourceVersion: '5', creationTimestamp: 'now' },
});
const with_ = (object: AccessObject, more: Partial<AccessObject>): AccessObject => ({ ...served(object), ...more });
const meta = (object: AccessObject, more: AccessObject['metadata']) =>
  with_(object, { metadata: { ...served(object).metadata, ...more } });

const differences: [name: string, wanted: AccessObject, found: AccessObject, want: string][] = [
  ['a role as the server has it', role, served(role), 'none'],
  ['a binding as the server has it', binding, served(binding), 'none'],
  [
    'a role with labels and annotations of others',
    role,
    meta(role, { labels: { a: '1', b: '2' }, annotations: { c: '3' } }),
    'none',
  ],
  ['a role that allows more', role, with_(role, { rules: [...rules, ...rules] }), 'update'],
  ['a role that allows nothing', role, with_(role, { rules: null }), 'update'],
  ['a role without our label', role, meta(role, { labels: {} }), 'update'],
  ['a role with another value of our label', role, meta(role, { labels: { a: '2' } }), 'update'],
  [
    'a role of a Node that was there before',
    role,
    meta(role, { ownerReferences: [{ ...owner, uid: 'old' }] }),
    'update',
  ],
  ['a role that belongs to nobody', role, meta(role, { ownerReferences: [] }), 'update'],
  ['a binding for somebody else', binding, with_(binding, { subjects: [] }), 'update'],
  ['a binding for one more', binding, with_(binding, { subjects: [...subjects, ...subjects] }), 'update'],
  ['a binding to another role', binding, with_(binding, { roleRef: { ...roleRef, name: 'admin' } }), 'recreate'],
  ['a binding to another kind of role', binding, with_(binding, { roleRef: { ...roleRef, kind: 'Role' } }), 'recreate'],
  ['an account', { metadata: { name: 'r', labels: {} } }, served({ metadata: { name: 'r' } }), 'none'],
];
for (const [name, wanted, found, want] of differences) {
  test(`finds to do with ${name}: ${want}`, () => expect(differenceTo(wanted, found)).toBe(want));
}

test('an update makes the object as wanted, and keeps what is of others', () => {
  const found = meta(with_(role, { rules: null }), {
    labels: { b: '2' },
    annotations: { c: '3' },
    ownerReferences: [],
  });
  const result = updated(role, found);
  expect(differenceTo(role, result)).toBe('none');
  expect(result.metadata).toMatchObject({
    resourceVersion: '5',
    uid: 'x',
    labels: { a: '1', b: '2' },
    annotations: { c: '3' },
    ownerReferences: [owner],
  });
});

test('an update leaves owners alone where none are wanted', () => {
  const found = meta(binding, { ownerReferences: [owner], labels: {} });
  expect(updated(binding, found).metadata.ownerReferences).toEqual([owner]);
});

test('one update is always enough', () => {
  for (const [, wanted, found, want] of differences) {
    if (want === 'update') expect(differenceTo(wanted, updated(wanted, found))).toBe('none');
  }
});
