import { core, type ParityCase, status } from './case.ts';

const configMaps = `POST ${core}/configmaps`;

export const createCases: readonly ParityCase[] = [
  {
    name: 'creates an object with uid, time and version',
    steps: [
      {
        send: configMaps,
        body: { metadata: { name: 'a', labels: { x: '1' } }, data: { k: 'v' } },
        code: 201,
        gives: {
          kind: 'ConfigMap',
          apiVersion: 'v1',
          metadata: {
            name: 'a',
            namespace: '{ns}',
            uid: /^[0-9a-f-]{36}$/,
            resourceVersion: /^\d+$/,
            creationTimestamp: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/,
            labels: { x: '1' },
          },
          data: { k: 'v' },
        },
      },
    ],
  },
  {
    name: 'ignores server-managed fields of a new object',
    steps: [
      {
        send: configMaps,
        body: {
          metadata: {
            name: 'a',
            uid: 'mine',
            creationTimestamp: '2000-01-01T00:00:00Z',
            deletionTimestamp: '2000-01-01T00:00:00Z',
            deletionGracePeriodSeconds: 5,
          },
        },
        code: 201,
        gives: { metadata: { uid: /^[0-9a-f-]{36}$/, creationTimestamp: /^20[2-9]/ } },
        lacks: ['metadata.deletionTimestamp', 'metadata.deletionGracePeriodSeconds'],
      },
    ],
  },
  {
    name: 'generates a name',
    steps: [
      {
        send: configMaps,
        body: { metadata: { generateName: 'a-' } },
        code: 201,
        gives: { metadata: { name: /^a-[bcdfghjklmnpqrstvwxz2456789]{5}$/, generateName: 'a-' } },
      },
    ],
  },
  {
    name: 'names the group in an AlreadyExists error',
    steps: [
      {
        send: 'POST /apis/coordination.k8s.io/v1/namespaces/{ns}/leases',
        body: { metadata: { name: 'a' }, spec: {} },
        code: 201,
      },
      {
        send: 'POST /apis/coordination.k8s.io/v1/namespaces/{ns}/leases',
        body: { metadata: { name: 'a' }, spec: {} },
        code: 409,
        gives: status('AlreadyExists', 'leases.coordination.k8s.io "a" already exists', {
          name: 'a',
          group: 'coordination.k8s.io',
          kind: 'leases',
        }),
      },
    ],
  },
  {
    name: 'drops unknown fields',
    steps: [
      {
        send: configMaps,
        body: { metadata: { name: 'a', nothing: 'x' }, data: { k: 'v' }, nothing: 'x' },
        code: 201,
        lacks: ['nothing', 'metadata.nothing'],
      },
    ],
  },
  {
    name: 'stores nothing on a dry run',
    steps: [
      {
        send: `${configMaps}?dryRun=All`,
        body: { metadata: { name: 'a' } },
        code: 201,
        gives: { metadata: { name: 'a', uid: /./ } },
        lacks: ['metadata.resourceVersion'],
      },
      { send: `GET ${core}/configmaps/a`, code: 404 },
      {
        send: `${configMaps}?dryRun=Some`,
        body: { metadata: { name: 'a' } },
        code: 422,
        gives: status('Invalid', /^CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value/),
      },
    ],
  },
];
