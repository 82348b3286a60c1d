import { expect, test } from 'vitest';
import { nodeAnnotation } from '#contract/names.ts';
import { printManifest } from '#contract/services/print.ts';
import { servicesManifest } from '#node/desired/services.ts';
import { benchSettings, defaultFacts } from '../../../test/kit/fixed-facts.ts';
import { type AccessNode, type AgentKind, agentOf, differenceTo, isOfGoOperator, mergeObject } from './decide.ts';
import type { AccessObject } from './desired.ts';

const windows = { 'kubernetes.io/os': 'windows' };
const linux = { 'kubernetes.io/os': 'linux' };
const former = new Set(['go', 'go2']);
const agent = { keyHash: 'a', installed: '2026-03-01T12:00:00Z' };
const node = (version?: string, labels: Record<string, string> = windows): AccessNode['node'] => ({
  labels,
  annotations: version === undefined ? {} : { [nodeAnnotation.version]: version },
});

const kinds: [name: string, given: Omit<AccessNode, 'mayBeAdopted'>, want: AgentKind][] = [
  ['a Node of the Go operator that no instance is bound to yet', { node: node('go'), record: undefined }, 'former'],
  ['a Node of another version that no instance is bound to', { node: node('v1'), record: undefined }, 'none'],
  ['a Node of this version that no instance is bound to yet', { node: node('v3'), record: undefined }, 'unknown'],
  ['a Node that nobody has finished and no instance is bound to', { node: node(), record: undefined }, 'none'],
  ['a Linux node that calls itself one of the Go operator', { node: node('go', linux), record: undefined }, 'none'],
  ['a node without a system', { node: node('go', {}), record: undefined }, 'none'],
  ['a host that joins', { node: node(), record: {} }, 'current'],
  ['a host that has joined', { node: node('v2'), record: { agent, version: 'v2' } }, 'current'],
  ['a host that was adopted from the Go operator', { node: node('go'), record: { version: 'go' } }, 'former'],
  ['an adopted host whose annotation is gone', { node: node(), record: { version: 'go' } }, 'former'],
  ['an adopted host whose services ConfigMap is gone', { node: node('go'), record: { version: 'gone' } }, 'current'],
  ['a host of ours that calls itself one of the Go operator', { node: node('go'), record: { agent } }, 'current'],
  ['a host that joins and calls itself one of the Go operator', { node: node('go'), record: {} }, 'current'],
  ['a host that had the Go agent once', { node: node('go'), record: { agent, version: 'go' } }, 'current'],
];
for (const [name, given, want] of kinds) {
  test(`the agent of ${name}: ${want}`, () =>
    expect(agentOf({ mayBeAdopted: true, ...given }, former, 'v3')).toBe(want));
}

test('a Node that no instance is bound to is believed only while there are hosts to be recorded', () => {
  const given = { node: node('go'), record: undefined, mayBeAdopted: false };
  expect(agentOf(given, former, 'v3')).toBe('none');
});

const data: [name: string, data: Record<string, string>, want: boolean][] = [
  ['current', printManifest(servicesManifest(defaultFacts, benchSettings)), false],
  ['one of the Go operator', { services: '[{"name":"kubelet","powershellPreScripts":[]}]', files: '[]' }, true],
  ['an empty one', {}, true],
];
for (const [name, given, want] of data) {
  test(`reports a services ConfigMap: ${name}`, () => expect(isOfGoOperator(given)).toBe(want));
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
  const result = mergeObject(role, found);
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
  expect(mergeObject(binding, found).metadata.ownerReferences).toEqual([owner]);
});

test('one update is always enough', () => {
  for (const [, wanted, found, want] of differences) {
    if (want === 'update') expect(differenceTo(wanted, mergeObject(wanted, found))).toBe('none');
  }
});
