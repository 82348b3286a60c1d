import { core, given, type ParityCase, status } from './case.ts';

const a = `${core}/configmaps/a`;
const held = given('a', {}, { finalizers: ['example.com/hold'] });

export const deleteCases: readonly ParityCase[] = [
  {
    name: 'deletes an object and returns its identity',
    steps: [
      { ...given('a'), keep: { uid: 'metadata.uid' } },
      {
        send: `DELETE ${a}`,
        code: 200,
        gives: {
          kind: 'Status',
          apiVersion: 'v1',
          status: 'Success',
          details: { name: 'a', kind: 'configmaps', uid: '{uid}' },
        },
      },
      { send: `GET ${a}`, code: 404 },
      { send: `DELETE ${a}`, code: 404, gives: status('NotFound', 'configmaps "a" not found') },
    ],
  },
  {
    name: 'returns the deleted object for some kinds',
    steps: [
      { send: `POST ${core}/serviceaccounts`, body: { metadata: { name: 'a' } }, code: 201 },
      {
        send: `DELETE ${core}/serviceaccounts/a`,
        code: 200,
        gives: { kind: 'ServiceAccount', metadata: { name: 'a' } },
      },
    ],
  },
  {
    name: 'waits for finalizers',
    steps: [
      held,
      {
        send: `DELETE ${a}`,
        code: 200,
        gives: {
          kind: 'ConfigMap',
          metadata: {
            deletionTimestamp: /./,
            deletionGracePeriodSeconds: 0,
            finalizers: ['example.com/hold'],
          },
        },
        keep: { version: 'metadata.resourceVersion' },
      },
      { send: `DELETE ${a}`, code: 200, gives: { metadata: { resourceVersion: '{version}' } } },
      {
        send: `PATCH ${a}`,
        body: { metadata: { finalizers: null } },
        code: 200,
        gives: { metadata: { name: 'a', deletionTimestamp: /./ } },
        lacks: ['metadata.finalizers'],
      },
      { send: `GET ${a}`, code: 404 },
    ],
  },
  {
    name: 'rejects a new finalizer on a terminating object',
    steps: [
      held,
      { send: `DELETE ${a}`, code: 200 },
      {
        send: `PATCH ${a}`,
        body: { metadata: { finalizers: ['example.com/hold', 'example.com/more'] } },
        code: 422,
        gives: status(
          'Invalid',
          /metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers \[\]string\{"example.com\/more"\}/,
        ),
      },
      { send: `PATCH ${a}`, body: { data: { k: 'v' } }, code: 200, gives: { data: { k: 'v' } } },
      { send: `PATCH ${a}`, body: { metadata: { finalizers: [] } }, code: 200 },
      { send: `GET ${a}`, code: 404 },
    ],
  },
  {
    name: 'never reverts a deletion',
    steps: [
      held,
      { send: `DELETE ${a}`, code: 200, keep: { time: 'metadata.deletionTimestamp' } },
      {
        send: `PATCH ${a}`,
        body: { metadata: { deletionTimestamp: null, labels: { x: '1' } } },
        code: 200,
        gives: { metadata: { deletionTimestamp: '{time}' } },
      },
      { send: `PATCH ${a}`, body: { metadata: { finalizers: [] } }, code: 200 },
    ],
  },
  {
    name: 'checks preconditions',
    steps: [
      { ...given('a'), keep: { uid: 'metadata.uid', version: 'metadata.resourceVersion' } },
      {
        send: `DELETE ${a}`,
        body: { preconditions: { uid: 'other' } },
        code: 409,
        gives: status('Conflict', /the UID in the precondition \(other\) does not match the UID in record/),
      },
      {
        send: `DELETE ${a}`,
        body: { preconditions: { resourceVersion: '1' } },
        code: 409,
        gives: status(
          'Conflict',
          /the ResourceVersion in the precondition \(1\) does not match the ResourceVersion in/,
        ),
      },
      {
        send: `DELETE ${a}`,
        body: { preconditions: { uid: '{uid}', resourceVersion: '{version}' } },
        code: 200,
      },
    ],
  },
  {
    name: 'rejects invalid options',
    steps: [
      given('a'),
      {
        send: `DELETE ${a}`,
        body: { propagationPolicy: 'Some' },
        code: 422,
        gives: status(
          'Invalid',
          /^DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: "Some"/,
        ),
      },
      { send: `DELETE ${a}?dryRun=Some`, code: 422, gives: status('Invalid', /dryRun: Unsupported value/) },
    ],
  },
  {
    name: 'sets finalizers for the propagation policy',
    steps: [
      held,
      {
        send: `DELETE ${a}`,
        body: { propagationPolicy: 'Orphan' },
        code: 200,
        gives: { metadata: { deletionTimestamp: /./, finalizers: ['example.com/hold', 'orphan'] } },
      },
      { send: `PATCH ${a}`, body: { metadata: { finalizers: [] } }, code: 200 },
      { send: `GET ${a}`, code: 404, eventually: true },
    ],
  },
  {
    name: 'deletes nothing on a dry run',
    steps: [
      given('a'),
      { send: `DELETE ${a}?dryRun=All`, code: 200 },
      { send: `GET ${a}`, code: 200, lacks: ['metadata.deletionTimestamp'] },
    ],
  },
  {
    name: 'deletes dependents of a deleted owner',
    steps: [
      { ...given('owner'), keep: { uid: 'metadata.uid' } },
      given('a', {}, { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: '{uid}' }] }),
      { send: `DELETE ${core}/configmaps/owner`, code: 200 },
      { send: `GET ${a}`, code: 404, eventually: true },
    ],
  },
  {
    name: 'orphans dependents of a deleted owner',
    steps: [
      { ...given('owner'), keep: { uid: 'metadata.uid' } },
      given('a', {}, { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: '{uid}' }] }),
      { send: `DELETE ${core}/configmaps/owner`, body: { propagationPolicy: 'Orphan' }, code: 200 },
      { send: `GET ${core}/configmaps/owner`, code: 404, eventually: true },
      { send: `GET ${a}`, code: 200, lacks: ['metadata.ownerReferences'] },
    ],
  },
];
