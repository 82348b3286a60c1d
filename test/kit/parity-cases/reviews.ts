import { core, type ParityCase, type Step, status } from './case.ts';

const rbac = '/apis/rbac.authorization.k8s.io/v1';
const roles = `${rbac}/namespaces/{ns}/roles`;
const bindings = `${rbac}/namespaces/{ns}/rolebindings`;
const reviews = '/apis/authorization.k8s.io/v1';
const joe = 'joe-{id}';

const readPods: Step = {
  send: `POST ${roles}`,
  body: { metadata: { name: 'r' }, rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] }] },
  code: 201,
};
const bindJoe: Step = {
  send: `POST ${bindings}`,
  body: { metadata: { name: 'b' }, roleRef: { kind: 'Role', name: 'r' }, subjects: [{ kind: 'User', name: joe }] },
  code: 201,
};

export const reviewCases: readonly ParityCase[] = [
  {
    name: 'answers SelfSubjectAccessReviews',
    steps: [
      readPods,
      bindJoe,
      {
        send: `POST ${reviews}/selfsubjectaccessreviews`,
        body: { spec: { resourceAttributes: { namespace: '{ns}', verb: 'get', resource: 'pods' } } },
        as: joe,
        code: 201,
        gives: { kind: 'SelfSubjectAccessReview', status: { allowed: true, reason: /^RBAC: allowed by RoleBinding/ } },
        eventually: true,
      },
      {
        send: `POST ${reviews}/selfsubjectaccessreviews`,
        body: { spec: { resourceAttributes: { namespace: '{ns}', verb: 'get', resource: 'secrets' } } },
        as: joe,
        code: 201,
        gives: { status: { allowed: false } },
      },
      {
        send: `POST ${reviews}/selfsubjectaccessreviews`,
        body: { spec: { nonResourceAttributes: { path: '/version', verb: 'get' } } },
        as: joe,
        code: 201,
        gives: { status: { allowed: true } },
      },
      {
        send: `POST ${reviews}/selfsubjectaccessreviews`,
        body: { spec: {} },
        as: joe,
        code: 422,
        gives: status('Invalid', /exactly one of nonResourceAttributes or resourceAttributes must be specified/),
      },
    ],
  },
  {
    name: 'answers SubjectAccessReviews',
    steps: [
      readPods,
      bindJoe,
      {
        send: `POST ${reviews}/subjectaccessreviews`,
        body: { spec: { user: joe, resourceAttributes: { namespace: '{ns}', verb: 'list', resource: 'pods' } } },
        code: 201,
        gives: { kind: 'SubjectAccessReview', status: { allowed: true } },
        eventually: true,
      },
      {
        send: `POST ${reviews}/subjectaccessreviews`,
        body: { spec: { resourceAttributes: { verb: 'list', resource: 'pods' } } },
        code: 422,
        gives: status('Invalid', /at least one of user or group must be specified/),
      },
    ],
  },
  {
    name: 'answers SelfSubjectRulesReviews',
    steps: [
      readPods,
      bindJoe,
      {
        send: `POST ${reviews}/subjectaccessreviews`,
        body: { spec: { user: joe, resourceAttributes: { namespace: '{ns}', verb: 'list', resource: 'pods' } } },
        code: 201,
        gives: { status: { allowed: true } },
        eventually: true,
      },
      {
        send: `POST ${reviews}/selfsubjectrulesreviews`,
        body: { spec: { namespace: '{ns}' } },
        as: joe,
        code: 201,
        gives: { kind: 'SelfSubjectRulesReview', status: { incomplete: false } },
      },
    ],
  },
  {
    name: 'reviews tokens',
    steps: [
      {
        send: 'POST /apis/authentication.k8s.io/v1/tokenreviews',
        body: { spec: { token: 'bad' } },
        code: 201,
        gives: { kind: 'TokenReview', status: { error: /invalid bearer token/ } },
        lacks: ['status.authenticated'],
      },
      {
        send: 'POST /apis/authentication.k8s.io/v1/tokenreviews',
        body: { spec: {} },
        code: 400,
        gives: status('BadRequest', 'token is required for TokenReview in authentication'),
      },
      { send: 'GET /apis/authentication.k8s.io/v1/tokenreviews', code: 405, gives: status('MethodNotAllowed') },
    ],
  },
  {
    name: 'authenticates a ServiceAccount by its token',
    steps: [
      { send: `POST ${core}/serviceaccounts`, body: { metadata: { name: 'a' } }, code: 201 },
      {
        send: `POST ${core}/serviceaccounts/a/token`,
        body: { spec: {} },
        code: 201,
        keep: { token: 'status.token' },
      },
      {
        send: 'POST /apis/authentication.k8s.io/v1/tokenreviews',
        body: { spec: { token: '{token}' } },
        code: 201,
        gives: {
          status: {
            authenticated: true,
            user: {
              username: 'system:serviceaccount:{ns}:a',
              groups: ['system:serviceaccounts', 'system:serviceaccounts:{ns}', 'system:authenticated'],
            },
          },
        },
      },
      { send: `DELETE ${core}/serviceaccounts/a`, code: 200 },
      {
        send: 'POST /apis/authentication.k8s.io/v1/tokenreviews',
        body: { spec: { token: '{token}' } },
        code: 201,
        lacks: ['status.authenticated'],
        eventually: true,
      },
    ],
  },
  {
    name: 'validates roles',
    steps: [
      {
        send: `POST ${roles}`,
        body: { metadata: { name: 'r' }, rules: [{ apiGroups: [''], resources: ['pods'] }] },
        code: 422,
        gives: status('Invalid', /rules\[0\].verbs: Required value: verbs must contain at least one value/),
      },
      { send: `POST ${roles}`, body: { metadata: { name: 'a:b' } }, code: 201, gives: { rules: null } },
      {
        send: `POST ${rbac}/clusterroles`,
        body: { metadata: { name: 'a/b' }, rules: [] },
        code: 422,
        gives: status('Invalid', /metadata.name: Invalid value: "a\/b": may not contain '\/'/),
      },
    ],
  },
  {
    name: 'sets default groups of a binding, whose role is immutable',
    steps: [
      {
        send: `POST ${bindings}`,
        body: {
          metadata: { name: 'b' },
          roleRef: { kind: 'Role', name: 'r' },
          subjects: [
            { kind: 'User', name: 'u' },
            { kind: 'ServiceAccount', name: 's' },
          ],
        },
        code: 201,
        gives: {
          roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' },
          subjects: [{ apiGroup: 'rbac.authorization.k8s.io' }, { kind: 'ServiceAccount', name: 's' }],
        },
        lacks: ['subjects.1.apiGroup'],
      },
      {
        send: `PATCH ${bindings}/b`,
        body: { roleRef: { name: 'other' } },
        code: 422,
        gives: status('Invalid', /roleRef: Invalid value: .*: cannot change roleRef/),
      },
    ],
  },
];
