import { toBase64 } from '../../../src/base/bytes.ts';
import { type CsrContent, makeCsr } from '../csr.ts';
import { type ParityCase, type Step, status } from './case.ts';

const csrs = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const rbac = '/apis/rbac.authorization.k8s.io/v1';
const apiGroup = 'rbac.authorization.k8s.io';
const jane = 'jane-{id}';
const serving = ['digital signature', 'key encipherment', 'server auth'];
const client = ['digital signature', 'key encipherment', 'client auth'];

const body = (signer: string, usages: string[], content: CsrContent) => ({
  metadata: { name: 'csr-{id}' },
  spec: { request: toBase64(makeCsr(content)), signerName: `kubernetes.io/${signer}`, usages },
});
const request = (signer: string, usages: string[], content: CsrContent = {}): Step => ({
  send: `POST ${csrs}`,
  body: body(signer, usages, content),
  code: 201,
  keep: { version: 'metadata.resourceVersion' },
});
const judged = (type: string) => ({
  metadata: { name: 'csr-{id}' },
  spec: {},
  status: { conditions: [{ type, status: 'True', reason: 'Parity', message: 'by a test' }] },
});
const approve: Step = {
  send: `PATCH ${csrs}/csr-{id}/approval`,
  body: { status: judged('Approved').status },
  code: 200,
};
const signed: Step = {
  send: `GET ${csrs}/csr-{id}`,
  code: 200,
  gives: { status: { certificate: /^LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS/, conditions: [{ type: 'Approved' }] } },
  eventually: true,
};
const failed = (message: string): Step => ({
  send: `GET ${csrs}/csr-{id}`,
  code: 200,
  gives: {
    status: {
      conditions: [
        { type: 'Approved', status: 'True' },
        { type: 'Failed', status: 'True', reason: 'SignerValidationFailure', message },
      ],
    },
  },
  lacks: ['status.certificate'],
  eventually: true,
});

const good: readonly [string, string, string[], CsrContent][] = [
  ['a kubelet as a client', 'kube-apiserver-client-kubelet', client, {}],
  ['a kubelet that serves', 'kubelet-serving', serving, { dnsNames: ['win1'], ips: [[10, 0, 0, 1]] }],
  ['a user', 'kube-apiserver-client', ['client auth'], { organizations: ['dev'], commonNames: ['jane'] }],
  [
    'a user with names',
    'kube-apiserver-client',
    client,
    { commonNames: ['jane'], dnsNames: ['a'], uris: ['spiffe://a/b'] },
  ],
];

const servingUsages = 'usages did not match [digital signature key encipherment server auth]';
const bad: readonly [string, string, string[], CsrContent, string][] = [
  [
    'of another organization',
    'kubelet-serving',
    serving,
    { organizations: ['dev'], dnsNames: ['a'] },
    'subject organization is not system:nodes',
  ],
  ['without names', 'kubelet-serving', serving, {}, 'DNS or IP subjectAltName is required'],
  [
    'with mail',
    'kubelet-serving',
    serving,
    { dnsNames: ['a'], emails: ['a@b.c'] },
    'Email subjectAltNames are not allowed',
  ],
  [
    'with a URI',
    'kubelet-serving',
    serving,
    { dnsNames: ['a'], uris: ['a://b'] },
    'URI subjectAltNames are not allowed',
  ],
  ['with wrong usages', 'kubelet-serving', client, { dnsNames: ['a'] }, servingUsages],
  ['with a usage too many', 'kubelet-serving', [...serving, 'client auth'], { dnsNames: ['a'] }, servingUsages],
  [
    'of no node',
    'kubelet-serving',
    serving,
    { commonNames: ['jane'], dnsNames: ['a'] },
    'subject common name does not begin with system:node:',
  ],
  [
    'of a client with a DNS name',
    'kube-apiserver-client-kubelet',
    client,
    { dnsNames: ['a'] },
    'DNS subjectAltNames are not allowed',
  ],
  [
    'of a client with an address',
    'kube-apiserver-client-kubelet',
    client,
    { ips: [[1, 2, 3, 4]] },
    'IP subjectAltNames are not allowed',
  ],
  [
    'of a client with usages of a server',
    'kube-apiserver-client-kubelet',
    serving,
    {},
    'usages did not match [client auth digital signature key encipherment]',
  ],
  [
    'of a user as a server',
    'kube-apiserver-client',
    ['client auth', 'server auth'],
    {},
    'invalid usage for client certificate: server auth',
  ],
  [
    'of a user without usage',
    'kube-apiserver-client',
    ['digital signature'],
    {},
    'missing required usage for client certificate: client auth',
  ],
];

/** A user with permission to approve requests, and these permissions on signers. */
const approver = (resourceNames: string[]): Step[] => [
  {
    send: `POST ${rbac}/clusterroles`,
    body: {
      metadata: { name: 'approver-{id}' },
      rules: [
        {
          verbs: ['get', 'update', 'patch'],
          apiGroups: ['certificates.k8s.io'],
          resources: [
            'certificatesigningrequests',
            'certificatesigningrequests/approval',
            'certificatesigningrequests/status',
          ],
        },
        { verbs: ['approve'], apiGroups: ['certificates.k8s.io'], resources: ['signers'], resourceNames },
      ],
    },
    code: 201,
  },
  {
    send: `POST ${rbac}/clusterrolebindings`,
    body: {
      metadata: { name: 'approver-{id}' },
      roleRef: { apiGroup, kind: 'ClusterRole', name: 'approver-{id}' },
      subjects: [{ apiGroup, kind: 'User', name: jane }],
    },
    code: 201,
  },
];
const refusal = (says: string) =>
  status('Forbidden', `certificatesigningrequests.certificates.k8s.io "csr-{id}" is forbidden: ${says}`);

const permissionCases: readonly ParityCase[] = [
  {
    name: 'a request records its requester and ignores the given one',
    steps: [
      ...approver(['example.com/none']),
      {
        send: `POST ${csrs}`,
        body: {
          ...body('kube-apiserver-client', client, {}),
          spec: { ...body('kube-apiserver-client', client, {}).spec, username: 'root', groups: ['system:masters'] },
        },
        code: 201,
        gives: { spec: { username: 'admin', groups: ['system:masters', 'system:authenticated'] } },
      },
    ],
  },
  {
    name: 'approval needs permission for the signer',
    steps: [
      ...approver(['kubernetes.io/kubelet-serving']),
      request('kube-apiserver-client-kubelet', client),
      {
        ...approve,
        as: jane,
        code: 403,
        eventually: true,
        gives: refusal(
          'user not permitted to approve requests with signerName "kubernetes.io/kube-apiserver-client-kubelet"',
        ),
      },
    ],
  },
  {
    name: 'permission for the domain of the signer is enough',
    steps: [
      ...approver(['kubernetes.io/*']),
      request('kube-apiserver-client-kubelet', client),
      { ...approve, as: jane, eventually: true },
      signed,
    ],
  },
  {
    name: 'signing needs a separate permission',
    steps: [
      ...approver(['kubernetes.io/*']),
      request('kube-apiserver-client-kubelet', client),
      {
        send: `PATCH ${csrs}/csr-{id}/status`,
        body: { status: { conditions: [{ type: 'Failed', status: 'True', reason: 'x' }] } },
        as: jane,
        code: 403,
        eventually: true,
        gives: refusal(
          'user not permitted to sign requests with signerName "kubernetes.io/kube-apiserver-client-kubelet"',
        ),
      },
    ],
  },
  {
    name: 'rejects requests for system:masters',
    steps: [
      {
        ...request('kube-apiserver-client', client, { organizations: ['system:masters'], commonNames: ['x'] }),
        code: 403,
        gives: refusal('use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed'),
      },
    ],
  },
];

export const csrCases: readonly ParityCase[] = [
  ...good.map(([name, signer, usages, content]) => ({
    name: `signs ${name}`,
    steps: [request(signer, usages, content), approve, signed],
  })),
  ...bad.map(([name, signer, usages, content, message]) => ({
    name: `fails a request ${name}`,
    steps: [request(signer, usages, content), approve, failed(message)],
  })),
  ...permissionCases,
];
