import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClient } from '#kube/http-client.ts';
import { loadKubeconfig } from '#kube/config/load-kubeconfig.ts';
import type { Client } from '#kube/client.ts';
import { configMaps, namespaces, secrets, serviceAccounts } from '#kube/resources.ts';
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
