import { core, given, type ParityCase, type Step } from './case.ts';

const maps = `${core}/configmaps`;
const waiting = ['example.com/wait'];

/** A ConfigMap whose uid later steps use by its name. */
const owner = (name: string, metadata: Record<string, unknown> = {}): Step => ({
  ...given(name, {}, metadata),
  keep: { [name]: 'metadata.uid' },
});
const refTo = (name: string, more: Record<string, unknown> = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  name,
  uid: `{${name}}`,
  ...more,
});
const ownedBy = (...ownerReferences: unknown[]) => ({ ownerReferences });
const drop = (name: string, propagationPolicy?: string): Step => ({
  send: `DELETE ${maps}/${name}`,
  body: propagationPolicy === undefined ? {} : { propagationPolicy },
  code: 200,
});
const goes = (name: string): Step => ({ send: `GET ${maps}/${name}`, code: 404, eventually: true });
const stays = (name: string, gives: unknown = {}): Step => ({
  send: `GET ${maps}/${name}`,
  code: 200,
  gives,
  eventually: true,
});
const release = (name: string): Step => ({
  send: `PATCH ${maps}/${name}`,
  body: { metadata: { finalizers: null } },
  code: 200,
});
const isDeleting = { metadata: { deletionTimestamp: /^20/ } };

const namespaceCases: readonly ParityCase[] = [
  {
    name: 'a namespace gets a default ServiceAccount and the CA',
    steps: [
      { send: `GET ${core}/serviceaccounts/default`, code: 200, eventually: true },
      {
        send: `GET ${maps}/kube-root-ca.crt`,
        code: 200,
        gives: { data: { 'ca.crt': /^-----BEGIN CERTIFICATE-----/ } },
        eventually: true,
      },
    ],
  },
  {
    name: 'restores the default ServiceAccount and the CA',
    steps: [
      { send: `GET ${maps}/kube-root-ca.crt`, code: 200, eventually: true },
      { send: `DELETE ${core}/serviceaccounts/default`, code: 200 },
      { send: `DELETE ${maps}/kube-root-ca.crt`, code: 200 },
      {
        send: `GET ${core}/serviceaccounts/default`,
        code: 200,
        lacks: ['metadata.deletionTimestamp'],
        eventually: true,
      },
      { send: `GET ${maps}/kube-root-ca.crt`, code: 200, eventually: true },
    ],
  },
  {
    name: 'empties and removes a deleted namespace',
    steps: [
      given('a'),
      { send: 'DELETE /api/v1/namespaces/{ns}', code: 200, gives: { status: { phase: 'Terminating' } } },
      { send: 'GET /api/v1/namespaces/{ns}', code: 404, eventually: true },
      { send: `GET ${maps}/a`, code: 404 },
    ],
  },
  {
    name: 'a namespace waits for finalizers of its objects',
    steps: [
      given('a', {}, { finalizers: waiting }),
      { send: 'DELETE /api/v1/namespaces/{ns}', code: 200 },
      stays('a', isDeleting),
      {
        send: 'GET /api/v1/namespaces/{ns}',
        code: 200,
        gives: { spec: { finalizers: ['kubernetes'] }, status: { phase: 'Terminating' } },
      },
      release('a'),
      { send: 'GET /api/v1/namespaces/{ns}', code: 404, eventually: true },
    ],
  },
];

export const garbageCollectionCases: readonly ParityCase[] = [
  {
    name: 'background: deletes dependents of any depth after their owner',
    steps: [
      owner('a'),
      { ...owner('b', ownedBy(refTo('a'))) },
      given('c', {}, ownedBy(refTo('b'))),
      given('other'),
      drop('a', 'Background'),
      { send: `GET ${maps}/a`, code: 404 },
      goes('b'),
      goes('c'),
      stays('other'),
    ],
  },
  {
    name: 'background is the default propagation policy',
    steps: [owner('a'), given('b', {}, ownedBy(refTo('a'))), drop('a'), goes('b')],
  },
  {
    name: 'deletes dependents of other kinds',
    steps: [
      owner('a'),
      { send: `POST ${core}/secrets`, body: { metadata: { name: 's', ...ownedBy(refTo('a')) } }, code: 201 },
      drop('a'),
      { send: `GET ${core}/secrets/s`, code: 404, eventually: true },
    ],
  },
  {
    name: 'deletes an object whose owner never existed',
    steps: [given('b', {}, ownedBy({ ...refTo('ghost'), uid: '00000000-0000-0000-0000-000000000000' })), goes('b')],
  },
  {
    name: 'deletes an object whose owner was recreated',
    steps: [
      owner('a'),
      given('b', {}, ownedBy(refTo('a', { uid: '00000000-0000-0000-0000-000000000000' }))),
      goes('b'),
      stays('a'),
    ],
  },
  {
    name: 'keeps an object with one remaining owner and removes the other reference',
    steps: [
      owner('a'),
      owner('b'),
      given('c', {}, ownedBy(refTo('a'), refTo('b'))),
      drop('a'),
      stays('c', { metadata: { ownerReferences: [refTo('b')] } }),
      drop('b'),
      goes('c'),
    ],
  },
  {
    name: 'orphan: keeps dependents without their owner reference',
    steps: [
      owner('a'),
      owner('z'),
      given('b', {}, ownedBy(refTo('a'))),
      given('c', {}, ownedBy(refTo('a'), refTo('z'))),
      { ...drop('a', 'Orphan'), gives: { metadata: { finalizers: ['orphan'], deletionTimestamp: /^20/ } } },
      goes('a'),
      { ...stays('b'), lacks: ['metadata.ownerReferences'] },
      stays('c', { metadata: { ownerReferences: [refTo('z')] } }),
    ],
  },
  { name: 'orphan: an owner without dependents goes', steps: [owner('a'), drop('a', 'Orphan'), goes('a')] },
  {
    name: 'accepts a cluster-scoped owner',
    steps: [
      {
        send: 'POST /apis/rbac.authorization.k8s.io/v1/clusterroles',
        body: { metadata: { name: 'owner-{id}' }, rules: [] },
        code: 201,
        keep: { role: 'metadata.uid' },
      },
      given(
        'b',
        {},
        ownedBy({ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', name: 'owner-{id}', uid: '{role}' }),
      ),
      stays('b'),
      { send: 'DELETE /apis/rbac.authorization.k8s.io/v1/clusterroles/owner-{id}', code: 200 },
      goes('b'),
    ],
  },
  ...namespaceCases,
];
