import { createPrivateKey } from 'node:crypto';
import { expect, inject, test } from 'vitest';
import { Secret } from '../../src/base/secret.ts';
import type { Client } from '../../src/kube/client.ts';
import { createClient } from '../../src/kube/http-client.ts';
import type { KubeResource, Resource } from '../../src/kube/resource.ts';
import * as kubernetes from '../../src/kube/resources.ts';
import { selfSubjectAccessReviews } from '../kit/resources.ts';
import * as openshift from '../../src/kube/resources-openshift.ts';
import type { Connection, Identity } from '../../src/kube/transport/connection.ts';
import { adminClient, adminConnection, makeNamespace } from '../kit/cluster/shared-cluster.ts';
import { generateKey } from '../kit/certificates.ts';
import { makeCsr } from '../kit/csr.ts';

const { certificateSigningRequests, nodes, pods, secrets, serviceAccounts, tokenReviews } = kubernetes;
const client = adminClient();
const namespace = await makeNamespace(client, 'client-sub');
const place = { namespace };
const hasControllerManager = inject('hasControllerManager');

/** Kinds that exist only as subresources. */
interface Plain extends KubeResource {
  [member: string]: unknown;
}
const as = (resource: Resource) => resource as Resource<Plain>;

function clientOf(identity: Partial<Identity>): Client {
  const connection: Connection = {
    ...adminConnection(),
    identity: { current: () => Promise.resolve({}), renew: () => Promise.resolve(false), ...identity },
  };
  return createClient(connection);
}

test('the server serves every kind as declared', async () => {
  const minor = inject('minor');
  const since = new Map<unknown, number>([
    [kubernetes.podDisruptionBudgets, 21],
    [kubernetes.endpointSlices, 21],
    [kubernetes.serviceCidrs, 33],
    // Not enabled by default.
    [kubernetes.serviceCidrsV1beta1, Infinity],
  ]);
  const until = new Map<unknown, number>([
    [kubernetes.podDisruptionBudgetsV1beta1, 25],
    [kubernetes.endpointSlicesV1beta1, 25],
  ]);
  const served = (resource: Resource) =>
    minor >= (since.get(resource) ?? 0) && minor < (until.get(resource) ?? Infinity);
  const described = [...Object.values(kubernetes), ...Object.values(openshift)]
    .filter((value): value is Resource => typeof value === 'object')
    .filter(served);
  expect(described.length).toBeGreaterThan(25);
  for (const { group, version, plural, kind, namespaced } of described) {
    const path = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
    const { resources } = await client.raw<{ resources: Record<string, unknown>[] }>('GET', path);
    const found = resources.find(({ name }) => name === plural);
    expect([plural, found?.kind, found?.namespaced]).toEqual([plural, kind, namespaced]);
  }
});

test('only the status subresource changes the status', async () => {
  const node = await client.create(nodes, { metadata: { name: `status-${namespace}` } });
  const name = node.metadata.name ?? '';
  const conditions = [{ type: 'Ready', status: 'True' }];
  const replaced = await client.replace(nodes, { ...node, status: { conditions } }, { subresource: 'status' });
  expect(replaced.status?.conditions).toMatchObject(conditions);
  const body = { status: { conditions: [{ type: 'Ready', status: 'False' }] } };
  const patched = await client.patch(nodes, name, { type: 'strategic', body }, { subresource: 'status' });
  expect(patched.status?.conditions).toMatchObject([{ type: 'Ready', status: 'False' }]);
  await client.delete(nodes, name);
});

test('a custom resource has a status subresource', async () => {
  const { machines } = openshift;
  const made = await client.create(machines, {
    metadata: { name: 'm', namespace },
    spec: { providerID: 'x' },
    status: { phase: 'Lost' },
  });
  expect(made.status).toBeUndefined();
  await client.patch(
    machines,
    'm',
    { type: 'merge', body: { status: { phase: 'Running' } } },
    { ...place, subresource: 'status' },
  );
  await client.patch(
    machines,
    'm',
    { type: 'merge', body: { spec: { providerID: 'y' }, status: { phase: 'Lost' } } },
    place,
  );
  expect(await client.get(machines, 'm', place)).toMatchObject({
    spec: { providerID: 'y' },
    status: { phase: 'Running' },
    metadata: { generation: 2 },
  });
});

test('the scale subresource scales a set', async () => {
  const { machineSets } = openshift;
  await client.create(machineSets, { metadata: { name: 's', namespace }, spec: { replicas: 1 } });
  const scale = await client.get(as(machineSets), 's', { ...place, subresource: 'scale' });
  expect(scale).toMatchObject({ kind: 'Scale', spec: { replicas: 1 } });
  await client.replace(as(machineSets), { ...scale, spec: { replicas: 3 } }, { subresource: 'scale' });
  expect((await client.get(machineSets, 's', place)).spec?.replicas).toBe(3);
});

test('evicts a pod, and reports a missing one as not found', async () => {
  await client.create(pods, {
    metadata: { name: 'evicted', namespace },
    spec: { containers: [{ name: 'a', image: 'b' }] },
  });
  const apiVersion = inject('minor') < 22 ? 'policy/v1beta1' : 'policy/v1';
  const eviction = (name: string): Plain => ({ apiVersion, kind: 'Eviction', metadata: { name, namespace } });
  await client.create(as(pods), eviction('evicted'), { subresource: 'eviction' });
  await expect(client.get(pods, 'evicted', place)).rejects.toMatchObject({ code: 404 });
  await expect(client.create(as(pods), eviction('none'), { subresource: 'eviction' })).rejects.toMatchObject({
    code: 404,
  });
});

/** A token of a service account from the server. */
async function tokenFor(name: string): Promise<string> {
  const request: Plain = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    metadata: {},
    spec: { expirationSeconds: 600 },
  };
  const answer = await client.create(as(serviceAccounts), request, { ...place, name, subresource: 'token' });
  return (answer.status as { token: string }).token;
}

test('a token of the server is valid without permissions', async () => {
  await client.create(serviceAccounts, { metadata: { name: 'robot', namespace } });
  const token = await tokenFor('robot');
  const review = await client.create(tokenReviews, { metadata: {}, spec: { token } });
  expect(review.status).toMatchObject({
    authenticated: true,
    user: { username: `system:serviceaccount:${namespace}:robot` },
  });
  const robot = clientOf({ current: () => Promise.resolve({ authorization: new Secret(`Bearer ${token}`) }) });
  const error = (await robot.list(secrets, place).catch((thrown: unknown) => thrown)) as Error;
  expect(error).toMatchObject({ code: 403, reason: 'Forbidden' });
  expect(error.message).toContain(`system:serviceaccount:${namespace}:robot`);
  await robot.close();
});

test('an unknown token is rejected, and a valid one afterwards is used', async () => {
  await client.create(serviceAccounts, { metadata: { name: 'late', namespace } });
  let token = 'wrong';
  const late = clientOf({
    current: () => Promise.resolve({ authorization: new Secret(`Bearer ${token}`) }),
    renew: async refused => {
      token = refused.authorization?.reveal() === 'Bearer wrong' ? 'wrong again' : await tokenFor('late');
      return true;
    },
  });
  const review = { metadata: {}, spec: { resourceAttributes: { verb: 'get', resource: 'pods' } } };
  await expect(late.create(selfSubjectAccessReviews, review)).rejects.toMatchObject({
    code: 401,
    reason: 'Unauthorized',
  });
  expect((await late.create(selfSubjectAccessReviews, review)).status?.allowed).toBe(false);
  await late.close();
});

test('an anonymous client has few permissions', async () => {
  const anonymous = clientOf({});
  await expect(anonymous.list(nodes)).rejects.toMatchObject({
    code: 403,
    message: expect.stringContaining('system:anonymous'),
  });
  await anonymous.close();
});

test.runIf(hasControllerManager)('a request is approved by its own path, signed, and lets its owner in', async () => {
  const { key, publicKey } = generateKey();
  const pem = makeCsr(
    { commonNames: ['somebody'], organizations: ['system:masters'] },
    { privateKey: createPrivateKey(key), publicKey },
  );
  const name = `csr-${namespace}`;
  const request = await client
    .create(certificateSigningRequests, {
      metadata: { name },
      spec: {
        request: Buffer.from(pem).toString('base64'),
        // The signer rejects system:masters, so this test uses another name.
        signerName: 'kubernetes.io/kube-apiserver-client',
        usages: ['client auth'],
      },
    })
    .catch((error: unknown) => error);
  expect(request).toMatchObject({ code: 403 });

  const modest = makeCsr(
    { commonNames: ['somebody'], organizations: ['some-group'] },
    { privateKey: createPrivateKey(key), publicKey },
  );
  const made = await client.create(certificateSigningRequests, {
    metadata: { name },
    spec: {
      request: Buffer.from(modest).toString('base64'),
      signerName: 'kubernetes.io/kube-apiserver-client',
      usages: ['client auth'],
    },
  });
  const conditions = [{ type: 'Approved', status: 'True', reason: 'Test', message: 'approved by a test' }];
  await client.replace(certificateSigningRequests, { ...made, status: { conditions } }, { subresource: 'approval' });
  const signed = async () => (await client.get(certificateSigningRequests, name)).status?.certificate ?? '';
  await expect.poll(signed).not.toBe('');
  const certificate = Buffer.from(await signed(), 'base64').toString();
  const certified = clientOf({
    current: () => Promise.resolve({ clientCertificate: { certificate, key: new Secret(key) } }),
  });
  await expect(certified.list(nodes)).rejects.toMatchObject({
    code: 403,
    message: expect.stringContaining('User "somebody"'),
  });
  await certified.close();
  await client.delete(certificateSigningRequests, name);
});

test.runIf(hasControllerManager)('a token Secret is filled in', async () => {
  await client.create(serviceAccounts, { metadata: { name: 'filled', namespace } });
  const annotations = { 'kubernetes.io/service-account.name': 'filled' };
  await client.create(secrets, {
    metadata: { name: 'filled', namespace, annotations },
    type: 'kubernetes.io/service-account-token',
  });
  const keys = async () => Object.keys((await client.get(secrets, 'filled', place)).data ?? {}).sort();
  await expect.poll(keys).toEqual(['ca.crt', 'namespace', 'token']);
});

test.runIf(hasControllerManager)('what belongs to a deleted object goes with it', async () => {
  const { metadata } = await client.create(kubernetes.configMaps, { metadata: { name: 'owner', namespace } });
  const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: metadata.uid ?? '' }];
  await client.create(secrets, { metadata: { name: 'owned', namespace, ownerReferences } });
  await client.delete(kubernetes.configMaps, 'owner', { ...place, propagationPolicy: 'Background' });
  const isGone = () =>
    client.get(secrets, 'owned', place).then(
      () => false,
      () => true,
    );
  await expect.poll(isGone, { timeout: 60_000, interval: 250 }).toBe(true);
});
