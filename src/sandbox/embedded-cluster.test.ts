import { afterAll, beforeAll, expect, test } from 'vitest';
import { toBase64 } from '#base/bytes.ts';
import { credentialIdKey } from '#contract/token-id.ts';
import { createClient } from '#kube/http-client.ts';
import { loadKubeconfig } from '#kube/config/load-kubeconfig.ts';
import type { Client } from '#kube/client.ts';
import { certificateSigningRequests, configMaps, namespaces, secrets, serviceAccounts } from '#kube/resources.ts';
import { accountToken } from '../../test/kit/account-token.ts';
import { makeCsr } from '../../test/kit/csr.ts';
import type { UserInfo } from './apiserver/ports.ts';
import { type EmbeddedCluster, startEmbeddedCluster } from './embedded-cluster.ts';

let cluster: EmbeddedCluster;
let admin: Client;
const clientOf = (user?: Parameters<EmbeddedCluster['kubeconfigFor']>[0]) =>
  createClient(loadKubeconfig(cluster.kubeconfigFor(user)));

beforeAll(async () => {
  cluster = await startEmbeddedCluster();
  admin = clientOf();
});
afterAll(async () => {
  await admin.close();
  await cluster.close();
});

test('works with the client in src/kube', async () => {
  const made = await admin.create(configMaps, { metadata: { name: 'a' }, data: { k: 'v' } }, { namespace: 'default' });
  expect(made.metadata.uid).toBeDefined();
  expect((await admin.get(configMaps, 'a', { namespace: 'default' })).data).toEqual({ k: 'v' });
});

test('a user without permissions is rejected by name', async () => {
  const client = clientOf({ commonName: 'nobody' });
  await expect(client.list(configMaps, { namespace: 'default' })).rejects.toMatchObject({
    code: 403,
    reason: 'Forbidden',
    message: expect.stringContaining('User "nobody" cannot list resource "configmaps"') as string,
  });
  await client.close();
});

const versions: [minor: string, ofToken: RegExp | undefined, ofCertificate: RegExp | undefined][] = [
  ['29', undefined, undefined],
  ['30', /^JTI=/, undefined],
  ['31', /^JTI=/, undefined],
  ['32', /^JTI=/, /^X509SHA256=[0-9a-f]{64}$/],
];
test.each(versions)('a server of version 1.%s writes the ids of credentials', async (minor, ofToken, ofCertificate) => {
  await using older = await startEmbeddedCluster({ version: { major: '1', minor, gitVersion: `v1.${minor}.0` } });
  await expectIds(older, ofToken, ofCertificate);
});

test('by default the ids of credentials are those of the newest server', async () => {
  await expectIds(cluster, /^JTI=/, /^X509SHA256=[0-9a-f]{64}$/);
});

/** The ids of a requested token and of the administrator's certificate. */
async function expectIds(server: EmbeddedCluster, ofToken?: RegExp, ofCertificate?: RegExp): Promise<void> {
  const client = createClient(loadKubeconfig(server.kubeconfigFor()));
  await client.create(serviceAccounts, { metadata: { name: 'robot', namespace: 'default' } });
  const body = { spec: { token: await accountToken(client, 'default', 'robot') } };
  const review = await client.raw<{ status: { user: UserInfo } }>(
    'POST',
    '/apis/authentication.k8s.io/v1/tokenreviews',
    { body },
  );
  const spec = { request: toBase64(makeCsr({})), signerName: 'example.com/x', usages: ['client auth'] };
  const request = await client.create(certificateSigningRequests, { metadata: { name: 'r' }, spec });
  const idOf = ({ extra }: Pick<UserInfo, 'extra'>) => extra?.[credentialIdKey]?.[0] ?? '';
  expect(idOf(review.status.user)).toMatch(ofToken ?? /^$/);
  expect(idOf(request.spec)).toMatch(ofCertificate ?? /^$/);
  await client.close();
}

test('a token Secret is filled in by its controller', async () => {
  await admin.create(namespaces, { metadata: { name: 'accounts' } });
  await admin.create(serviceAccounts, { metadata: { name: 'agent' } }, { namespace: 'accounts' });
  await admin.create(
    secrets,
    {
      metadata: { name: 'agent-token', annotations: { 'kubernetes.io/service-account.name': 'agent' } },
      type: 'kubernetes.io/service-account-token',
    },
    { namespace: 'accounts' },
  );
  await expect
    .poll(async () =>
      Object.keys((await admin.get(secrets, 'agent-token', { namespace: 'accounts' })).data ?? {}).sort(),
    )
    .toEqual(['ca.crt', 'namespace', 'token']);
});
