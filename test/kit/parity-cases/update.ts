import { core, given, type ParityCase, status } from './case.ts';
import { changed } from './changed.ts';

const a = `${core}/configmaps/a`;
const leases = '/apis/coordination.k8s.io/v1/namespaces/{ns}/leases';
const conflict = /^Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your/;

export const updateCases: readonly ParityCase[] = [
  {
    name: 'replaces an object, keeping its identity',
    steps: [
      { ...given('a', { data: { k: 'v' } }, { labels: { x: '1' } }), keep: { uid: 'metadata.uid' } },
      {
        send: `PUT ${a}`,
        body: { metadata: { name: 'a' }, data: { z: 'w' } },
        code: 200,
        gives: { metadata: { uid: '{uid}', creationTimestamp: /./ }, data: { z: 'w' } },
        lacks: ['data.k', 'metadata.labels'],
      },
    ],
  },
  {
    name: 'does not write an unchanged object',
    steps: [
      { ...given('a', { data: { k: 'v' } }), keep: { version: 'metadata.resourceVersion' } },
      {
        send: `PUT ${a}`,
        body: { metadata: { name: 'a' }, data: { k: 'v' } },
        code: 200,
        gives: { metadata: { resourceVersion: '{version}' } },
      },
    ],
  },
  {
    name: 'replaces only the current resourceVersion',
    steps: [
      { ...given('a'), keep: { version: 'metadata.resourceVersion' } },
      {
        send: `PUT ${a}`,
        body: { metadata: { name: 'a', resourceVersion: '{version}' }, data: { k: 'v' } },
        code: 200,
      },
      {
        send: `PUT ${a}`,
        body: { metadata: { name: 'a', resourceVersion: '{version}' }, data: { k: 'w' } },
        code: 409,
        gives: status('Conflict', conflict, { name: 'a', kind: 'configmaps' }),
      },
    ],
  },
  {
    name: 'requires a resourceVersion for some kinds',
    steps: [
      { send: `POST ${leases}`, body: { metadata: { name: 'a' }, spec: { holderIdentity: 'x' } }, code: 201 },
      {
        send: `PUT ${leases}/a`,
        body: { metadata: { name: 'a' }, spec: { holderIdentity: 'y' } },
        code: 422,
        gives: status(
          'Invalid',
          /^leases.coordination.k8s.io "a" is invalid: metadata.resourceVersion: Invalid value: \w+: must be specified for/,
          { name: 'a', group: 'coordination.k8s.io', kind: 'leases' },
        ),
      },
    ],
  },
  {
    name: 'creates by replace for some kinds',
    steps: [
      {
        send: `PUT ${leases}/a`,
        body: { metadata: { name: 'a' }, spec: { holderIdentity: 'x' } },
        code: 201,
        gives: { metadata: { uid: /./ }, spec: { holderIdentity: 'x' } },
      },
      {
        send: `PUT ${a}`,
        body: { metadata: { name: 'a' } },
        code: 404,
        gives: status('NotFound', 'configmaps "a" not found'),
      },
    ],
  },
  {
    name: 'rejects names that differ from the path',
    steps: [
      given('a'),
      {
        send: `PUT ${a}`,
        body: { metadata: { name: 'b' } },
        code: 400,
        gives: status('BadRequest', 'the name of the object (b) does not match the name on the URL (a)'),
      },
      {
        send: `PUT ${a}`,
        body: { metadata: {} },
        code: 400,
        gives: status('BadRequest', /name must be provided/),
      },
      {
        send: `PUT ${a}`,
        body: { metadata: { name: 'a', namespace: 'other' } },
        code: 400,
        gives: status(
          'BadRequest',
          changed(
            'the namespace of the object (other) does not match the namespace on the request ({ns})',
            'the namespace of the provided object does not match the namespace sent on the request',
            { until: 23, from: 24 },
          ),
        ),
      },
    ],
  },
  {
    name: 'rejects another uid',
    steps: [
      given('a'),
      {
        send: `PUT ${a}`,
        body: { metadata: { name: 'a', uid: 'other' } },
        code: 409,
        gives: status('Conflict', /Precondition failed: UID in precondition: other, UID in object meta/),
      },
    ],
  },
  {
    name: 'ignores changes of times and generation',
    steps: [
      { ...given('a'), keep: { time: 'metadata.creationTimestamp' } },
      {
        send: `PUT ${a}`,
        body: { metadata: { name: 'a', creationTimestamp: '2001-01-01T00:00:00Z', generation: 7 }, data: { k: 'v' } },
        code: 200,
        gives: { metadata: { creationTimestamp: '{time}' } },
        lacks: ['metadata.generation'],
      },
    ],
  },
  {
    name: 'stores nothing on a dry run of a replace',
    steps: [
      { ...given('a'), keep: { version: 'metadata.resourceVersion' } },
      {
        send: `PUT ${a}?dryRun=All`,
        body: { metadata: { name: 'a' }, data: { k: 'v' } },
        code: 200,
        gives: { data: { k: 'v' }, metadata: { resourceVersion: '{version}' } },
      },
      { send: `GET ${a}`, code: 200, lacks: ['data'] },
    ],
  },
];
