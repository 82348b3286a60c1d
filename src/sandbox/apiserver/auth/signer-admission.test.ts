import { expect, test } from 'vitest';
import { readerOf, stored } from '../../../../test/kit/api-reader.ts';
import { makeCsr } from '../../../../test/kit/csr.ts';
import { toBase64 } from '../../../base/bytes.ts';
import type { Resource } from '../../../kube/resource.ts';
import { certificateSigningRequests, clusterRoleBindings, clusterRoles, configMaps } from '../../../kube/resources.ts';
import type { AdmissionRequest } from '../ports.ts';
import { createAuthorizer } from './authorizer.ts';
import { guardSigners } from './signer-admission.ts';

const client = 'kubernetes.io/kube-apiserver-client';
const kubelet = 'kubernetes.io/kubelet-serving';

interface Write {
  verbs?: string[];
  signers?: string[];
  object?: object;
  old?: object | undefined;
  operation?: AdmissionRequest['operation'];
  subresource?: string;
  resource?: Resource;
}

function attempt({ verbs = [], signers = [], object = {}, old, ...rest }: Write): string {
  const rules = [{ verbs, apiGroups: ['certificates.k8s.io'], resources: ['signers'], resourceNames: signers }];
  const api = readerOf([
    [clusterRoles, { metadata: { name: 'r' }, rules }],
    [
      clusterRoleBindings,
      {
        metadata: { name: 'b' },
        roleRef: { kind: 'ClusterRole', name: 'r' },
        subjects: [{ kind: 'User', name: 'jane' }],
      },
    ],
  ]);
  const { resource = certificateSigningRequests } = rest;
  const fill = (content: object) => stored(resource, { metadata: { name: 'csr-1' }, ...content });
  try {
    guardSigners(
      {
        user: { username: 'jane', groups: [] },
        operation: old === undefined ? 'create' : 'update',
        subresource: '',
        ...rest,
        resource,
        object: fill(object),
        old: old && fill(old),
      },
      createAuthorizer(api),
    );
    return 'allowed';
  } catch (error) {
    return (error as Error).message;
  }
}

const pending = { spec: { signerName: kubelet } };
const approve: Write = { object: pending, old: pending, subresource: 'approval' };
const signed = { ...pending, status: { certificate: 'AAAA' } };
const failed = { ...pending, status: { conditions: [{ type: 'Failed' }] } };
const request = (organizations: string[], signerName = client): Write => ({
  object: { spec: { signerName, request: toBase64(makeCsr({ organizations })) } },
});
const refusal = 'certificatesigningrequests.certificates.k8s.io "csr-1" is forbidden: ';
const mayNotApprove = `${refusal}user not permitted to approve requests with signerName "${kubelet}"`;
const mayNotSign = `${refusal}user not permitted to sign requests with signerName "${kubelet}"`;

const cases: [string, Write, string][] = [
  ['approving with the right on the signer', { ...approve, verbs: ['approve'], signers: [kubelet] }, 'allowed'],
  [
    'approving with the right on its domain',
    { ...approve, verbs: ['approve'], signers: ['kubernetes.io/*'] },
    'allowed',
  ],
  ['approving with the right on all signers', { ...approve, verbs: ['approve'] }, 'allowed'],
  ['approving with all rights', { ...approve, verbs: ['*'] }, 'allowed'],
  ['approving without a right', approve, mayNotApprove],
  ['approving with the right to sign', { ...approve, verbs: ['sign'] }, mayNotApprove],
  ['approving with the right on another signer', { ...approve, verbs: ['approve'], signers: [client] }, mayNotApprove],
  [
    'approving with the right on another domain',
    { ...approve, verbs: ['approve'], signers: ['example.com/*'] },
    mayNotApprove,
  ],
  [
    'approving while naming another signer, for the stored one counts',
    { ...approve, object: { spec: { signerName: client } }, verbs: ['approve'], signers: [client] },
    mayNotApprove,
  ],
  ['signing with the right', { object: signed, old: pending, subresource: 'status', verbs: ['sign'] }, 'allowed'],
  ['signing without the right', { object: signed, old: pending, subresource: 'status' }, mayNotSign],
  [
    'failing without the right',
    { object: failed, old: pending, subresource: 'status', verbs: ['approve'] },
    mayNotSign,
  ],
  ['a status that changes nothing', { object: signed, old: signed, subresource: 'status' }, 'allowed'],
  ['a change of labels', { object: pending, old: pending }, 'allowed'],
  ['a request for a user', request(['dev']), 'allowed'],
  [
    'a request for a master',
    request(['dev', 'system:masters']),
    `${refusal}use of ${client} signer with system:masters group is not allowed`,
  ],
  [
    'a request for a master to another signer, which rejects it itself',
    request(['system:masters'], kubelet),
    'allowed',
  ],
  ['a deletion', { ...request(['system:masters']), operation: 'delete' }, 'allowed'],
  ['another kind', { ...request(['system:masters']), resource: configMaps }, 'allowed'],
];
test.each(cases)('%s', (_, write, want) => expect(attempt(write)).toBe(want));

test('a request that cannot be read is refused', () => {
  expect(attempt({ object: { spec: { signerName: client, request: toBase64('hello') } } })).toMatch(
    /failed to parse CSR: /,
  );
  expect(attempt({ object: { spec: { signerName: client, request: '%%%' } } })).toMatch(/failed to parse CSR: /);
  expect(attempt({ object: { spec: { signerName: client } } })).toMatch(/failed to parse CSR: /);
});
