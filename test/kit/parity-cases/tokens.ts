import { core, type ParityCase, type Step, status } from './case.ts';

const accounts = `${core}/serviceaccounts`;
const secrets = `${core}/secrets`;
const reviews = '/apis/authentication.k8s.io/v1/tokenreviews';
const audience = 'https://kubernetes.default.svc';

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
  // The real server remembers a good token for ten seconds.
  eventually: true,
  ...more,
});
const groups = ['system:serviceaccounts', 'system:serviceaccounts:{ns}', 'system:authenticated'];
const robot = { username: 'system:serviceaccount:{ns}:robot', uid: '{robot}', groups };
const isRobot = review({ authenticated: true, user: robot, audiences: [audience] });
const isNobody = review({ user: {} }, {}, { lacks: ['status.authenticated'] });

export const tokenCases: readonly ParityCase[] = [
  {
    name: 'a token Secret is filled in',
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
    name: 'what is taken out of a token Secret is put in again',
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
    name: 'token Secrets go with their account',
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
    name: 'a token Secret for an account that is not there goes',
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
    name: 'a requested token is good for its time and for the server',
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
    name: 'a requested token ends with its account',
    steps: [account, request(), isRobot, { send: `DELETE ${accounts}/robot`, code: 200 }, isNobody],
  },
  {
    name: 'a requested token is not for an account made anew',
    steps: [
      account,
      request(),
      isRobot,
      { send: `DELETE ${accounts}/robot`, code: 200 },
      { ...account, eventually: true },
      isNobody,
    ],
  },
  {
    name: 'a token for somebody else is good for nobody else',
    steps: [
      account,
      request({ audiences: ['vault'] }, { gives: { spec: { audiences: ['vault'] } } }),
      isNobody,
      review({ authenticated: true, user: robot, audiences: ['vault'] }, { audiences: ['vault', 'other'] }),
    ],
  },
  {
    name: 'a token bound to a Secret ends with it',
    steps: [
      account,
      { send: `POST ${secrets}`, body: { metadata: { name: 's' } }, code: 201 },
      request({ boundObjectRef: { kind: 'Secret', apiVersion: 'v1', name: 's' } }),
      isRobot,
      { send: `DELETE ${secrets}/s`, code: 200 },
      isNobody,
    ],
  },
  {
    name: 'the holder of a token bound to a pod is known by it',
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
        // The real server wants the account to have a token of its own first.
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
    name: 'a token is not bound to what is not there',
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
        { code: 400, gives: status('BadRequest') },
      ),
    ],
  },
  {
    name: 'a token is not bound to a Secret of another time',
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
    name: 'a token lasts ten minutes at least',
    steps: [
      account,
      request(
        { expirationSeconds: 60 },
        { code: 422, gives: status('Invalid', /may not specify a duration less than 10 minutes/) },
      ),
    ],
  },
  {
    name: 'nonsense is nobody’s token',
    steps: [{ ...review({ user: {} }, { token: 'nonsense' }), lacks: ['status.authenticated'] }],
  },
  {
    name: 'tokens of accounts that are not there are not requested',
    steps: [request({}, { code: 404, gives: status('NotFound', 'serviceaccounts "robot" not found') })],
  },
];
