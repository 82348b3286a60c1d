import { afterAll, beforeAll, expect, inject, test as testAlways } from 'vitest';
import type { Client } from '../../src/kube/client.ts';
import { createClient } from '../../src/kube/http-client.ts';
import { type Cluster, startCluster } from '../kit/cluster/cluster.ts';
import { type Comparison, compareReadings, type Judged } from '../kit/csr-differential.ts';
import { knownAttacks, mutatedRequests } from '../kit/hostile-requests.ts';
import { issuedContent } from '../kit/issued-certificate.ts';

/** The controller manager signs. */
const hasSigner = inject('hasControllerManager');
const test = testAlways.runIf(hasSigner);

/** A separate cluster, because of hundreds of requests. */
let cluster: Cluster;
let admin: Client;
let comparison: Comparison;
const requests = [...knownAttacks(), ...mutatedRequests(150, 1), ...mutatedRequests(100, Date.now() % 2 ** 31)];

beforeAll(async () => {
  if (!hasSigner) return;
  cluster = await startCluster();
  admin = createClient(cluster.adminConfig);
  comparison = await compareReadings(admin, requests, () => true);
});
afterAll(async () => {
  await admin?.close();
  await cluster?.stop();
});

const commonNameOf = ({ certificate }: Judged) =>
  certificate === undefined ? undefined : issuedContent(certificate).subject['CN']?.at(-1);

test('issued certificates match the decision in subject, names, key and usages', () => {
  expect(requests.length).toBeGreaterThan(300);
  expect(comparison.differences).toEqual([]);
});

test('good requests of every kind are approved and issued', () => {
  const approved = comparison.judged.filter(({ decision }) => decision.do === 'approve');
  const issued = approved.filter(({ certificate }) => certificate !== undefined);
  expect(approved.length).toBeGreaterThan(60);
  for (const kind of ['kubelet-client', 'kubelet-serving', 'agent']) {
    expect(issued.map(({ request }) => request.name)).toContain(`${kind}: text: as it should be`);
  }
});

test('the server stores hundreds of requests that the operator refuses', () => {
  const refused = comparison.judged.filter(({ decision }) => decision.do === 'refuse');
  expect(refused.length).toBeGreaterThan(200);
});

test('refuses requests that the server and a lenient parser read differently', () => {
  const attacks = comparison.judged.filter(({ request }) => request.evil !== undefined);
  expect(attacks.filter(({ decision }) => decision.do === 'approve').map(({ request }) => request.name)).toEqual([]);
});

// These show the danger: an approval would issue the certificate that the attacker wants.
const attacks = ['in an attribute and a decoy behind', 'behind the signature and a decoy behind'];
const wanted: [kind: string, commonName: string][] = [
  ['agent', 'system:kube-controller-manager'],
  ['kubelet-client', 'system:node:control-plane-1'],
  ['kubelet-serving', 'system:node:control-plane-1'],
];
for (const where of attacks) {
  for (const [kind, commonName] of wanted) {
    test(`a good ${kind} request ${where} would be issued to ${commonName}, and is refused`, () => {
      const name = `${kind}: text: a good request ${where}`;
      const attack = comparison.judged.find(({ request }) => request.name === name);
      expect(attack?.decision).toMatchObject({ do: 'refuse', why: expect.stringMatching(/one block and no more/) });
      expect(attack && commonNameOf(attack)).toBe(commonName);
    });
  }
}
