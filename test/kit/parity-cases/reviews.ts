import { core, type ParityCase, type Step } from './case.ts';
import { jane, on, makeClusterRole, bindEverywhere, allowing } from './rbac-steps.ts';

const reviews = '/apis/authorization.k8s.io/v1';
const review = (kind: string, spec: unknown, expected: unknown, more: Partial<Step> = {}): Step => ({
  send: `POST ${reviews}/${kind}`,
  body: { apiVersion: 'authorization.k8s.io/v1', spec },
  code: 201,
  gives: { status: expected },
  eventually: true,
  ...more,
});
const node = { user: 'system:node:n-{id}', groups: ['system:nodes', 'system:authenticated'] };
const lease = { group: 'coordination.k8s.io', resource: 'leases', namespace: 'kube-node-lease' };

export const reviewCases: readonly ParityCase[] = [
  {
    name: 'a path is allowed by a cluster binding',
    steps: [
      makeClusterRole('paths', { verbs: ['get'], nonResourceURLs: ['/metrics', '/logs/*'] }),
      bindEverywhere('paths'),
      ...['/metrics', '/logs/a'].map(path =>
        review(
          'selfsubjectaccessreviews',
          { nonResourceAttributes: { verb: 'get', path } },
          {
            allowed: true,
            reason: `RBAC: allowed by ClusterRoleBinding "paths-{id}" of ClusterRole "paths-{id}" to User "${jane}"`,
          },
          { as: jane },
        ),
      ),
      review(
        'selfsubjectaccessreviews',
        { nonResourceAttributes: { verb: 'get', path: '/logs' } },
        { allowed: false },
        { as: jane },
      ),
    ],
  },
  {
    name: 'somebody asks for their own rights',
    steps: [
      ...allowing(on(['list'], ['configmaps'])),
      review(
        'selfsubjectaccessreviews',
        { resourceAttributes: { verb: 'list', resource: 'configmaps', namespace: '{ns}' } },
        { allowed: true, reason: `RBAC: allowed by RoleBinding "own/{ns}" of Role "own" to User "${jane}"` },
        { as: jane },
      ),
      review(
        'selfsubjectaccessreviews',
        { resourceAttributes: { verb: 'list', resource: 'configmaps' } },
        { allowed: false },
        { as: jane, lacks: ['status.reason'] },
      ),
      review(
        'selfsubjectaccessreviews',
        { nonResourceAttributes: { verb: 'get', path: '/version' } },
        { allowed: true },
        { as: jane },
      ),
    ],
  },
  {
    name: 'somebody asks for the rights of others, if allowed',
    steps: [
      review(
        'subjectaccessreviews',
        { user: 'x', groups: ['system:masters'], resourceAttributes: { verb: 'destroy', resource: 'worlds' } },
        { allowed: true },
      ),
      review(
        'subjectaccessreviews',
        { user: jane, resourceAttributes: { verb: 'get', resource: 'nodes' } },
        { allowed: false },
      ),
      {
        send: `POST ${reviews}/subjectaccessreviews`,
        body: { spec: { user: 'x', resourceAttributes: { verb: 'get', resource: 'nodes' } } },
        as: jane,
        code: 403,
      },
    ],
  },
  {
    name: 'a list of rights',
    steps: [
      ...allowing({ ...on(['get'], ['configmaps']), resourceNames: ['a'] }),
      review(
        'selfsubjectrulesreviews',
        { namespace: '{ns}' },
        {
          incomplete: false,
          resourceRules: [
            on(['create'], ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'], 'authorization.k8s.io'),
            { ...on(['get'], ['configmaps']), resourceNames: ['a'] },
          ],
        },
        { as: jane },
      ),
    ],
  },
  {
    name: 'what a kubelet may do',
    steps: [
      ['get', { ...lease, name: 'n-{id}' }, { allowed: true }],
      ['create', lease, { allowed: true }],
      [
        'get',
        { ...lease, name: 'other' },
        { allowed: false, reason: 'can only access node lease with the same name as the requesting node' },
      ],
      ['get', { resource: 'nodes', name: 'other' }, { allowed: true }],
      ['delete', { resource: 'nodes', name: 'n-{id}' }, { allowed: false }],
      ['create', { group: 'certificates.k8s.io', resource: 'certificatesigningrequests' }, { allowed: true }],
      ['list', { resource: 'secrets', namespace: '{ns}' }, { allowed: false, reason: 'No Object name found' }],
      [
        'get',
        { resource: 'secrets', namespace: '{ns}', name: 'a' },
        { allowed: false, reason: "no relationship found between node 'n-{id}' and this object" },
      ],
    ].map(([verb, attributes, expected]) =>
      review('subjectaccessreviews', { ...node, resourceAttributes: { verb, ...(attributes as object) } }, expected),
    ),
  },
  {
    name: 'a kubelet reads what its pods refer to',
    steps: [
      { send: 'POST /api/v1/nodes', body: { metadata: { name: 'n-{id}' } }, code: 201 },
      {
        send: `POST ${core}/pods`,
        body: {
          metadata: { name: 'p' },
          spec: {
            nodeName: 'n-{id}',
            containers: [{ name: 'c', image: 'i' }],
            volumes: [{ name: 'v', secret: { secretName: 'a' } }],
          },
        },
        code: 201,
      },
      review(
        'subjectaccessreviews',
        { ...node, resourceAttributes: { verb: 'get', resource: 'secrets', namespace: '{ns}', name: 'a' } },
        { allowed: true },
      ),
      review(
        'subjectaccessreviews',
        { ...node, resourceAttributes: { verb: 'get', resource: 'secrets', namespace: '{ns}', name: 'b' } },
        { allowed: false, reason: "no relationship found between node 'n-{id}' and this object" },
      ),
    ],
  },
];
