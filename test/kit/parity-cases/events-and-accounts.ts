import { core, type ParityCase, type Step, status } from './case.ts';

const account: Step = { send: `POST ${core}/serviceaccounts`, body: { metadata: { name: 'a' } }, code: 201 };
const event = { reason: 'R', message: 'M', type: 'Normal' };

export const eventAndAccountCases: readonly ParityCase[] = [
  {
    name: 'stores an event',
    steps: [
      {
        send: `POST ${core}/events`,
        body: {
          metadata: { name: 'a' },
          involvedObject: { kind: 'Pod', name: 'x', namespace: '{ns}' },
          source: { component: 'me', host: 'h' },
          firstTimestamp: '2026-01-01T00:00:00Z',
          lastTimestamp: '2026-01-01T00:00:01Z',
          count: 2,
          ...event,
        },
        code: 201,
        gives: { kind: 'Event', apiVersion: 'v1', count: 2, source: { component: 'me', host: 'h' }, reason: 'R' },
      },
    ],
  },
  {
    name: 'requires an event in the namespace of its object',
    steps: [
      {
        send: `POST ${core}/events`,
        body: { metadata: { name: 'a' }, involvedObject: { kind: 'Pod', name: 'x', namespace: 'other' }, ...event },
        code: 422,
        gives: status('Invalid', /involvedObject.namespace: Invalid value: "other": does not match event.namespace/),
      },
    ],
  },
  {
    name: 'selects events by their object',
    steps: [
      ...['a', 'b'].map(name => ({
        send: `POST ${core}/events`,
        body: { metadata: { name }, involvedObject: { kind: 'Pod', name: `p-${name}`, namespace: '{ns}' }, ...event },
        code: 201,
      })),
      {
        send: `GET ${core}/events?fieldSelector=involvedObject.name%3Dp-b,involvedObject.kind%3DPod,reason%3DR,type%3DNormal`,
        code: 200,
        gives: { items: [{ metadata: { name: 'b' } }] },
      },
    ],
  },
  {
    name: 'issues a token of a ServiceAccount',
    steps: [
      account,
      {
        send: `POST ${core}/serviceaccounts/a/token`,
        body: { spec: { audiences: ['example.com'], expirationSeconds: 600 } },
        code: 201,
        gives: {
          kind: 'TokenRequest',
          apiVersion: 'authentication.k8s.io/v1',
          spec: { audiences: ['example.com'], expirationSeconds: 600 },
          status: { token: /^[\w-]+\.[\w-]+\.[\w-]+$/, expirationTimestamp: /Z$/ },
        },
      },
      {
        send: `POST ${core}/serviceaccounts/a/token`,
        body: { spec: { audiences: [], expirationSeconds: 1 } },
        code: 422,
        gives: status('Invalid', /spec.expirationSeconds: Invalid value: 1: may not specify a duration less than 10/),
      },
      {
        send: `POST ${core}/serviceaccounts/none/token`,
        body: { spec: {} },
        code: 404,
        gives: status('NotFound', 'serviceaccounts "none" not found'),
      },
    ],
  },
  {
    name: 'fills in the token Secret of a ServiceAccount',
    steps: [
      account,
      {
        send: `POST ${core}/secrets`,
        body: {
          metadata: { name: 's', annotations: { 'kubernetes.io/service-account.name': 'a' } },
          type: 'kubernetes.io/service-account-token',
        },
        code: 201,
      },
      {
        send: `GET ${core}/secrets/s`,
        code: 200,
        gives: { data: { token: /./, 'ca.crt': /./, namespace: /./ } },
        eventually: true,
      },
    ],
  },
];
