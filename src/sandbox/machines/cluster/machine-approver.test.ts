import { expect, test } from 'vitest';
import { toBase64 } from '#base/bytes.ts';
import { identity, signer } from '#contract/names.ts';
import type { KubeResource } from '#kube/resource.ts';
import { type CertificateSigningRequest, certificateSigningRequests as requests } from '#kube/resources.ts';
import { type Machine, machines } from '#kube/resources-openshift.ts';
import { type CsrContent, makeCsr } from '../../../../test/kit/csr.ts';
import { quiet } from '../../../../test/kit/local-api.ts';
import { manualClock } from '../../../../test/kit/manual-clock.ts';
import { startOpenshiftApi } from '../../../../test/kit/openshift-api.ts';
import { makeRequest } from '../kubelet/certificate-request.ts';
import { createMachineApprover, decideRequest } from './machine-approver.ts';

const name = 'winworker-abcde';
const node = `${identity.nodeUserPrefix}${name}`;

interface Asked {
  username: string;
  signerName: string;
  content: CsrContent;
}

const client: Asked = {
  username: identity.nodeBootstrapper,
  signerName: signer.kubeletClient,
  content: { commonNames: [node] },
};
const serving: Asked = {
  username: node,
  signerName: signer.kubeletServing,
  content: { commonNames: [node], dnsNames: [name], ips: [[10, 0, 1, 7]] },
};
const machine: Machine = {
  metadata: { name },
  status: {
    addresses: [
      { type: 'InternalIP', address: '10.0.1.7' },
      { type: 'Hostname', address: name },
    ],
  },
};
const joined: Machine = { ...machine, status: { ...machine.status, nodeRef: { name } } };

const verdictOn = ({ content, ...spec }: Asked, all: Machine[]) =>
  decideRequest({ ...spec, request: toBase64(makeCsr(content)) }, all);

const approved: [string, Asked, Machine[]][] = [
  ['the first certificate of the kubelet of a Machine', client, [machine]],
  ['a serving certificate for names of its Machine', serving, [joined]],
  ['one for its address only', { ...serving, content: { commonNames: [node], ips: [[10, 0, 1, 7]] } }, [joined]],
  ['the renewal of its own certificate', { ...client, username: node }, []],
  ['a Machine among others', client, [joined, { metadata: { name: 'x' } }, machine]],
];
for (const [what, asked, all] of approved) {
  test(`approves ${what}`, () => expect(verdictOn(asked, all)).toBe('approve'));
}

const waiting: [string, Asked, Machine[]][] = [
  ['a kubelet of no Machine: the operator decides about those', client, []],
  ['a kubelet whose Machine has no address yet', client, [{ metadata: { name } }]],
  ['a first certificate for a Machine that has its Node already', client, [joined]],
  ['another user who requests a first certificate', { ...client, username: 'system:node:other' }, [machine]],
  ['a client certificate with names', { ...client, content: { commonNames: [node], dnsNames: ['x'] } }, [machine]],
  [
    'a serving certificate for another name',
    { ...serving, content: { ...serving.content, dnsNames: ['x'] } },
    [joined],
  ],
  [
    'a serving certificate for another address',
    { ...serving, content: { ...serving.content, ips: [[10, 0, 0, 1]] } },
    [joined],
  ],
  ['a serving certificate asked for by another node', { ...serving, username: 'system:node:other' }, [joined]],
  ['another signer', { ...client, signerName: signer.apiClient }, [machine]],
  ['another group', { ...client, content: { commonNames: [node], organizations: ['system:masters'] } }, [machine]],
  [
    'a second group',
    { ...client, content: { commonNames: [node], organizations: ['system:nodes', 'system:masters'] } },
    [machine],
  ],
  ['an address for mail', { ...serving, content: { ...serving.content, emails: ['a@b'] } }, [joined]],
  ['a URI', { ...serving, content: { ...serving.content, uris: ['https://x'] } }, [joined]],
];
for (const [what, asked, all] of waiting) {
  test(`does not approve ${what}`, () => expect(verdictOn(asked, all)).toBe('retry'));
}

test('requests of others than kubelets are left to others', () => {
  const agent = { ...client, content: { commonNames: ['system:wicd-node:x'], organizations: ['system:wicd-nodes'] } };
  expect(verdictOn(agent, [machine])).toBe('ignore');
});

for (const request of ['', 'no base64 !', toBase64('no PEM'), toBase64(makeCsr({}).slice(0, 100))]) {
  test(`ignores a malformed request: ${JSON.stringify(request.slice(0, 12))}`, () => {
    expect(decideRequest({ request, signerName: signer.kubeletClient, username: node }, [machine])).toBe('ignore');
  });
}

test('what the kubelet double asks for is good', () => {
  const spec = (names?: { dnsName: string; ipv4: string }) => toBase64(makeRequest(name, names).request);
  const first = { request: spec(), signerName: signer.kubeletClient, username: identity.nodeBootstrapper };
  const second = {
    request: spec({ dnsName: name, ipv4: '10.0.1.7' }),
    signerName: signer.kubeletServing,
    username: node,
  };
  expect([decideRequest(first, [machine]), decideRequest(second, [joined])]).toEqual(['approve', 'approve']);
});

async function scene() {
  const clock = manualClock();
  const api = await startOpenshiftApi([createMachineApprover()], clock);
  const key = { namespace: '', name: 'csr-1' };
  return {
    api,
    /** A local caller is the API server itself, so this simulates a renewal by a user of that name. */
    async ask(content: CsrContent, status?: object) {
      const usages = ['digital signature', 'client auth'];
      const spec = { request: toBase64(makeCsr(content)), signerName: signer.kubeletClient, usages };
      api.create(requests, { metadata: { name: key.name }, spec, ...(status && { status }) } as KubeResource);
      await quiet(api);
    },
    async wait(ms: number) {
      await clock.advance(ms);
      await quiet(api);
    },
    conditions: () => (api.get(requests, key) as CertificateSigningRequest | undefined)?.status?.conditions ?? [],
    [Symbol.asyncDispose]: () => api[Symbol.asyncDispose](),
  };
}

test('retries a request until its Machine exists or the request is deleted', async () => {
  await using made = await scene();
  await made.ask({ commonNames: [node] });
  await made.wait(5000);
  expect(made.conditions()).toEqual([]);
  made.api.delete(requests, { namespace: '', name: 'csr-1' });
  await made.wait(5000);
});

test('what was decided already stays decided', async () => {
  await using made = await scene();
  await made.ask({ commonNames: [node] });
  const present = made.api.get(requests, { namespace: '', name: 'csr-1' });
  const conditions = [{ type: 'Denied', status: 'True', reason: 'No', message: 'no' }];
  made.api.replace(requests, { ...present, status: { conditions } } as KubeResource, { subresource: 'approval' });
  await made.wait(5000);
  expect(made.conditions()).toMatchObject([{ type: 'Denied' }]);
});

test('identifies Machines by their status', () => {
  expect(machines.plural).toBe('machines');
  const renamed = { ...machine, status: { addresses: [{ type: 'InternalDNS', address: name }] } };
  expect(verdictOn(client, [renamed])).toBe('approve');
});
