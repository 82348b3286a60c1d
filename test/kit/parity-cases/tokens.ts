import { core, type ParityCase, type Step, status } from './case.ts';
import { changed } from './changed.ts';

const accounts = `${core}/serviceaccounts`;
const secrets = `${core}/secrets`;
const reviews = '/apis/authentication.k8s.io/v1/tokenreviews';
const audience = 'https://kubernetes.default.svc';

/** Tokens have IDs since 1.30, and can be bound to Nodes since 1.31. */
const tokenIds = { until: 29, from: 30 };
const nodeBinding = { until: 30, from: 31 };
const credentialId = 'authentication.kubernetes.io/credential-id';

const account: Step = {
  send: `POST ${accounts}`,
  body: { metadata: { name: 'robot' } },
  code: 201,
  keep: { robot: 'metadata.uid' },
};
const tokenSecret = (name: string, of = 'robot'): Step => ({
  send: `POST ${secrets}`,
  body: {
    metadata: { name, annotations: { 'kubernetes.io/service-account.name': of } },
    type: 'kubernetes.io/service-account-token',
  },
  code: 201,
});
const request = (spec: Record<string, unknown> = {}, more: Partial<Step> = {}): Step => ({
  send: `POST ${accounts}/robot/token`,
  body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 3600, ...spec } },
  code: 201,
  keep: { token: 'status.token' },
  ...more,
});
const review = (expected: unknown, spec: Record<string, unknown> = {}, more: Partial<Step> = {}): Step => ({
  send: `POST ${reviews}`,
  body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token: '{token}', ...spec } },
  code: 201,
  gives: { status: expected },
  // The real server caches a valid token for ten seconds.
  eventually: true,
  ...more,
});
const groups = ['system:serviceaccounts', 'system:serviceaccounts:{ns}', 'system:authenticated'];
const robot = { username: 'system:serviceaccount:{ns}:robot', uid: '{robot}', groups };
const isRobot = review({ authenticated: true, user: robot, audiences: [audience] });
const isUnauthenticated = review({ user: {} }, {}, { lacks: ['status.authenticated'] });

export const tokenCases: readonly ParityCase[] = [
  {
    name: 'fills a token Secret',
    steps: [
      account,
      tokenSecret('t'),
      {
        send: `GET ${secrets}/t`,
        code: 200,
        gives: {
          type: 'kubernetes.io/service-account-token',
          metadata: {
            annotations: {
              'kubernetes.io/service-account.name': 'robot',
              'kubernetes.io/service-account.uid': '{robot}',
            },
          },
          data: { 'ca.crt': /^LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS/, namespace: /^[A-Za-z0-9+/=]+$/, token: /^ZXlK/ },
        },
        eventually: true,
      },
    ],
  },
  {
    name: 'restores removed fields of a token Secret',
    steps: [
      account,
      tokenSecret('t'),
      { send: `GET ${secrets}/t`, code: 200, gives: { data: { token: /^ZXlK/ } }, eventually: true },
      { send: `PATCH ${secrets}/t`, body: { data: { token: null, 'ca.crt': 'eA==' } }, code: 200 },
      {
        send: `GET ${secrets}/t`,
        code: 200,
        gives: { data: { token: /^ZXlK/, 'ca.crt': /^LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS/ } },
        eventually: true,
      },
    ],
  },
  {
    name: 'deletes token Secrets with their account',
    steps: [
      account,
      tokenSecret('t'),
      { send: `POST ${secrets}`, body: { metadata: { name: 'plain' } }, code: 201 },
      { send: `GET ${secrets}/t`, code: 200, gives: { data: { token: /^ZXlK/ } }, eventually: true },
      { send: `DELETE ${accounts}/robot`, code: 200 },
      { send: `GET ${secrets}/t`, code: 404, eventually: true },
      { send: `GET ${secrets}/plain`, code: 200 },
    ],
  },
  {
    name: 'deletes a token Secret of a missing account',
    steps: [tokenSecret('t', 'ghost'), { send: `GET ${secrets}/t`, code: 404, eventually: true }],
  },
  {
    name: 'a token Secret must name an account',
    steps: [
      {
        send: `POST ${secrets}`,
        body: { metadata: { name: 't' }, type: 'kubernetes.io/service-account-token' },
        code: 422,
        gives: status('Invalid'),
      },
    ],
  },
  {
    name: 'a requested token has a lifetime and an audience',
    steps: [
      account,
      request(
        {},
        {
          gives: {
            kind: 'TokenRequest',
            apiVersion: 'authentication.k8s.io/v1',
            spec: { audiences: [audience], expirationSeconds: 3600 },
            status: { token: /^eyJ[\w-]+\.eyJ[\w-]+\.[\w-]+$/, expirationTimestamp: /^20.*Z$/ },
          },
        },
      ),
      isRobot,
    ],
  },
  {
    name: 'a requested token has an ID',
    steps: [
      account,
      request(),
      review({ user: { extra: changed(undefined, { [credentialId]: [/^JTI=[\w-]+$/] }, tokenIds) } }),
    ],
  },
  {
    name: 'a requested token is invalid after its account is deleted',
    steps: [account, request(), isRobot, { send: `DELETE ${accounts}/robot`, code: 200 }, isUnauthenticated],
  },
  {
    name: 'a requested token is invalid for a recreated account',
    steps: [
      account,
      request(),
      isRobot,
      { send: `DELETE ${accounts}/robot`, code: 200 },
      { ...account, eventually: true },
      isUnauthenticated,
    ],
  },
  {
    name: 'a token for another audience is rejected',
    steps: [
      account,
      request({ audiences: ['vault'] }, { gives: { spec: { audiences: ['vault'] } } }),
      isUnauthenticated,
      review({ authenticated: true, user: robot, audiences: ['vault'] }, { audiences: ['vault', 'other'] }),
    ],
  },
  {
    name: 'a token bound to a Secret is invalid after the Secret is deleted',
    steps: [
      account,
      { send: `POST ${secrets}`, body: { metadata: { name: 's' } }, code: 201 },
      request({ boundObjectRef: { kind: 'Secret', apiVersion: 'v1', name: 's' } }),
      isRobot,
      { send: `DELETE ${secrets}/s`, code: 200 },
      isUnauthenticated,
    ],
  },
  {
    name: 'a token bound to a pod identifies the pod',
    steps: [
      account,
      {
        send: `POST ${core}/pods`,
        body: {
          metadata: { name: 'p' },
          spec: { serviceAccountName: 'robot', containers: [{ name: 'c', image: 'i' }] },
        },
        code: 201,
        keep: { pod: 'metadata.uid' },
        // The real server requires a token of the account first.
        eventually: true,
      },
      request({ boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'p', uid: '{pod}' } }),
      review({
        authenticated: true,
        user: {
          ...robot,
          extra: { 'authentication.kubernetes.io/pod-name': ['p'], 'authentication.kubernetes.io/pod-uid': ['{pod}'] },
        },
      }),
    ],
  },
  {
    name: 'rejects a token bound to a missing object',
    steps: [
      account,
      request(
        { boundObjectRef: { kind: 'Secret', apiVersion: 'v1', name: 'ghost' } },
        {
          code: 404,
          gives: status('NotFound', 'secrets "ghost" not found'),
        },
      ),
      request(
        { boundObjectRef: { kind: 'Node', apiVersion: 'v1', name: 'x' } },
        {
          code: changed(400, 404, nodeBinding),
          gives: changed(status('BadRequest'), status('NotFound', 'nodes "x" not found'), nodeBinding),
        },
      ),
      request(
        { boundObjectRef: { kind: 'Service', apiVersion: 'v1', name: 'x' } },
        { code: 400, gives: status('BadRequest', 'cannot bind token to object of type /v1, Kind=Service') },
      ),
    ],
  },
  {
    name: 'rejects a token bound to a Secret with another uid',
    steps: [
      account,
      { send: `POST ${secrets}`, body: { metadata: { name: 's' } }, code: 201 },
      request(
        { boundObjectRef: { kind: 'Secret', apiVersion: 'v1', name: 's', uid: 'earlier' } },
        {
          code: 409,
          gives: status(
            'Conflict',
            /the UID in the bound object reference \(earlier\) does not match the UID in record/,
          ),
        },
      ),
    ],
  },
  {
    name: 'a token is valid for at least ten minutes',
    steps: [
      account,
      request(
        { expirationSeconds: 60 },
        { code: 422, gives: status('Invalid', /may not specify a duration less than 10 minutes/) },
      ),
    ],
  },
  {
    name: 'rejects an invalid token',
    steps: [{ ...review({ user: {} }, { token: 'nonsense' }), lacks: ['status.authenticated'] }],
  },
  {
    name: 'rejects token requests for missing accounts',
    steps: [request({}, { code: 404, gives: status('NotFound', 'serviceaccounts "robot" not found') })],
  },
];
