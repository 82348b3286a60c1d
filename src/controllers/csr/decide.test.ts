import { expect, test } from 'vitest';
import { toBase64 } from '#base/bytes.ts';
import { parseCertificateRequest } from '#contract/csr-request.ts';
import { readObject } from '#contract/object.ts';
import { credentialIdKey } from '#contract/token-id.ts';
import { makeCsr } from '../../../test/kit/csr.ts';
import {
  agent,
  brief,
  type Change,
  client,
  cloudNode,
  decide,
  name,
  serving,
  viewOf,
} from '../../../test/kit/csr-facts.ts';
import { type CsrDecision, readCsr, subjectOf } from './decide.ts';

test('approves with the conditions that other components know', () => {
  const kubelet = { reason: 'WMCOApprove', message: 'This CSR was approved by the WMCO certificate Approver.' };
  const ours = { reason: 'WICDAutoApproved', message: 'This CSR was approved by the WICD certificate controller' };
  const approved = (more: object) => ({ do: 'approve', condition: { type: 'Approved', status: 'True', ...more } });
  expect(decide(client)).toEqual(approved(kubelet));
  expect(decide(serving)).toEqual(approved(kubelet));
  expect(decide(agent)).toEqual(approved(ours));
  expect(decide(cloudNode)).toEqual(approved(ours));
});

const events: [string, CsrDecision, string, RegExp][] = [
  [
    'an invalid node name',
    decide(client, { commonNames: ['system:node:win_1'] }),
    'NodeNameValidationFailed',
    /^node name win_1 does not comply.*RFC1123/,
  ],
  [
    'an endless node name',
    decide(client, { commonNames: [`system:node:${'x'.repeat(9000)}`] }),
    'NodeNameValidationFailed',
    /^node name x{253} does/,
  ],
  [
    'a broken rule',
    decide(serving, { dnsNames: ['kubernetes.default.svc'] }),
    'CSRRefused',
    /\(alternative-names\): .*kubernetes\.default\.svc.* name of the API server/,
  ],
  [
    'a wrong organization',
    decide(agent, { organizations: ['x'] }),
    'CSRRefused',
    /invalid subject organization in CSR content \["x"\]/,
  ],
  [
    'too many organizations',
    decide(agent, { organizations: ['x', 'y'] }),
    'CSRRefused',
    /invalid number of organizations in CSR content \["x","y"\]/,
  ],
  [
    'an unreadable request',
    decide(client, { requestText: '' }),
    'CSRRefused',
    /csr-1: CSR request spec should not be empty/,
  ],
];
for (const [title, decision, reason, message] of events) {
  test(`reports ${title} with an event`, () => {
    expect(decision).toMatchObject({ do: 'refuse', event: { type: 'Warning', reason } });
    expect((decision as { event: { message: string } }).event.message).toMatch(message);
    expect((decision as { event: { message: string } }).event.message.length).toBeLessThan(1024);
  });
}

test('waits with a serving request until the names and addresses of the cluster are known', () => {
  expect(decide(serving, { reserved: undefined })).toMatchObject({ do: 'wait', why: expect.stringMatching(/cluster/) });
  expect(brief(decide(serving, { reserved: undefined, usages: [] }))).toBe('usages');
  expect(brief(decide(client, { reserved: undefined }))).toBe('approve');
  expect(brief(decide(agent, { reserved: undefined }))).toBe('approve');
});

test('reports why it ignores a request', () => {
  expect(decide(client, { conditions: ['Denied'] })).toEqual({ do: 'ignore', why: 'CSR is already approved/denied' });
  expect(decide(client, { commonNames: ['x'] })).toMatchObject({ why: 'common name "x" is not of a kubelet or agent' });
  expect(decide(client, { instance: undefined })).toMatchObject({
    why: expect.stringContaining(`recorded as ${name}`),
  });
});

function csrObject(spec: object, status?: object): ReturnType<typeof readObject> {
  const metadata = { name: 'csr-1' };
  return readObject({
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata,
    spec,
    status,
  });
}

test('reads a CertificateSigningRequest', () => {
  const asked = { usages: ['a'], signerName: 's', username: 'u', groups: ['g'], expirationSeconds: 600 };
  const text = makeCsr();
  const spec = { request: toBase64(text), ...asked };
  expect(readCsr(csrObject(spec, { conditions: [{ type: 'Failed', status: 'True' }, {}] }))).toEqual({
    label: 'CertificateSigningRequest csr-1',
    parsed: { ok: true, value: parseCertificateRequest(text) },
    ...asked,
    conditions: ['Failed', ''],
  });
});

test('reads the id of the token that a request was made with', () => {
  const extra = { [credentialIdKey]: ['JTI=1'], other: ['x'] };
  expect(readCsr(csrObject({ extra }))).toMatchObject({ credentialId: 'JTI=1' });
  expect(readCsr(csrObject({ extra: { other: ['JTI=1'] } }))).not.toHaveProperty('credentialId');
});

test('reads an empty CertificateSigningRequest', () => {
  const empty = { parsed: { ok: false }, usages: [], signerName: '', username: '', groups: [], conditions: [] };
  expect(readCsr(csrObject({}))).toMatchObject(empty);
});

const unreadable: [string, object, string][] = [
  ['a request that is no base64', { request: '-----BEGIN' }, 'CSR_MALFORMED'],
  ['a request that is no text', { request: '/w==' }, 'CSR_MALFORMED'],
  ['a request that is too long to be looked at', { request: '%'.repeat(21_849) }, 'CSR_MALFORMED'],
  ['a request that is a number', { request: 5 }, 'FIELD_INVALID'],
  ['a lifetime that is no number', { expirationSeconds: 'x' }, 'FIELD_INVALID'],
  ['usages that are no list', { usages: 'client auth' }, 'FIELD_INVALID'],
  ['groups that are no texts', { groups: [1] }, 'FIELD_INVALID'],
];
for (const [title, spec, code] of unreadable) {
  test(`reports ${title}`, () => {
    const wanted = { code, message: expect.stringContaining('csr-1'), remedy: expect.stringMatching(/\S/) };
    expect(() => readCsr(csrObject(spec))).toThrow(expect.objectContaining(wanted));
  });
}

const subjectCases: [string, Change, ReturnType<typeof subjectOf>][] = [
  ['of a kubelet', client, { node: name, names: [] }],
  ['of a server', serving, { node: name, names: [name, '10.0.0.1'] }],
  ['of an agent', agent, { node: name, names: [] }],
  ['of cloud-node-manager', cloudNode, { node: name, names: [] }],
  ['of nobody', { ...client, commonNames: ['admin'] }, undefined],
  ['of a name that no Node can have', { ...client, commonNames: ['system:node:WIN_1'] }, undefined],
  ['of an empty name', { ...agent, commonNames: ['system:wicd-node:'] }, undefined],
  ['of something that cannot be read', { ...client, requestText: 'x' }, undefined],
];
for (const [about, change, want] of subjectCases) {
  test(`reads the subject ${about}`, () => expect(subjectOf(viewOf(change))).toEqual(want));
}
