import { core, given, type ParityCase, status } from './case.ts';

const a = `${core}/configmaps/a`;

export const configCases: readonly ParityCase[] = [
  {
    name: 'never changes an immutable ConfigMap',
    steps: [
      given('a', { immutable: true, data: { k: 'v' } }),
      {
        send: `PATCH ${a}`,
        body: { data: { k: 'w' } },
        code: 422,
        gives: status(
          'Invalid',
          'ConfigMap "a" is invalid: data: Forbidden: field is immutable when `immutable` is set',
        ),
      },
      {
        send: `PATCH ${a}`,
        body: { immutable: null },
        code: 422,
        gives: status('Invalid', /immutable: Forbidden: field is immutable when `immutable` is set/),
      },
      { send: `PATCH ${a}`, body: { binaryData: { x: 'ZA==' } }, code: 422, gives: status('Invalid', /binaryData/) },
      {
        send: `PATCH ${a}`,
        body: { metadata: { labels: { l: 'm' } } },
        code: 200,
        gives: { metadata: { labels: { l: 'm' } } },
      },
      { send: `DELETE ${a}`, code: 200 },
    ],
  },
  {
    name: 'never changes an immutable Secret',
    steps: [
      {
        send: `POST ${core}/secrets`,
        body: { metadata: { name: 'a' }, immutable: true, data: { k: 'ZA==' } },
        code: 201,
      },
      {
        send: `PATCH ${core}/secrets/a`,
        body: { data: { k: 'ZQ==' } },
        code: 422,
        gives: status('Invalid', 'Secret "a" is invalid: data: Forbidden: field is immutable when `immutable` is set'),
      },
      {
        send: `PATCH ${core}/secrets/a`,
        body: { immutable: false },
        code: 422,
        gives: status('Invalid', /immutable: Forbidden/),
      },
    ],
  },
  {
    name: 'sets the default type of a Secret and keeps it',
    steps: [
      {
        send: `POST ${core}/secrets`,
        body: { metadata: { name: 'a' }, stringData: { p: 'b' }, data: { q: 'ZA==' } },
        code: 201,
        gives: { type: 'Opaque', data: { p: 'Yg==', q: 'ZA==' } },
        lacks: ['stringData'],
      },
      {
        send: `PATCH ${core}/secrets/a`,
        body: { type: 'other' },
        code: 422,
        gives: status('Invalid', 'Secret "a" is invalid: type: Invalid value: "other": field is immutable'),
      },
      {
        send: `PATCH ${core}/secrets/a`,
        body: { stringData: { z: 'y' } },
        code: 200,
        gives: { data: { p: 'Yg==', q: 'ZA==', z: 'eQ==' } },
        lacks: ['stringData'],
      },
    ],
  },
  {
    name: 'requires the keys of the type of a Secret',
    steps: [
      {
        send: `POST ${core}/secrets`,
        body: { metadata: { name: 'a' }, type: 'kubernetes.io/tls', data: { x: 'ZA==' } },
        code: 422,
        gives: status(
          'Invalid',
          'Secret "a" is invalid: [data[tls.crt]: Required value, data[tls.key]: Required value]',
        ),
      },
      {
        send: `POST ${core}/secrets`,
        body: { metadata: { name: 'a' }, type: 'kubernetes.io/service-account-token' },
        code: 422,
        gives: status('Invalid', /metadata.annotations\[kubernetes.io\/service-account.name\]: Required value/),
      },
    ],
  },
  {
    name: 'selects Secrets by type',
    steps: [
      { send: `POST ${core}/secrets`, body: { metadata: { name: 'a' }, type: 'example.com/x' }, code: 201 },
      { send: `POST ${core}/secrets`, body: { metadata: { name: 'b' } }, code: 201 },
      {
        send: `GET ${core}/secrets?fieldSelector=type%3Dexample.com%2Fx`,
        code: 200,
        gives: { items: [{ metadata: { name: 'a' }, type: 'example.com/x' }] },
      },
    ],
  },
];
