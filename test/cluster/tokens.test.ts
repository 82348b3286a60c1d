import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { agentName, secretName } from '../../src/contract/names.ts';
import type { Permission } from '../../src/kube/permissions.ts';
import { ApiError } from '../../src/kube/api-error.ts';
import type { Client } from '../../src/kube/client.ts';
import { loadKubeconfig } from '../../src/kube/config/load-kubeconfig.ts';
import { createClient } from '../../src/kube/http-client.ts';
import { namespaces, secrets, serviceAccounts } from '../../src/kube/resources.ts';
import { lastingTokenPermissions } from '../../src/node/inputs/lasting-tokens.ts';
import { operatorPermissions } from '../../src/operator/permissions.ts';
import { type Account, permissions, issueToken } from '../../src/node/inputs/tokens.ts';
import { type Cluster, startCluster } from '../kit/cluster/cluster.ts';
import { grant } from '../kit/grant.ts';
import { rejectionOf } from '../kit/outcome.ts';
import { recordedLog } from '../kit/recorded-log.ts';

const namespace = `tokens-${randomUUID().slice(0, 8)}`;
const agent: Account = { namespace, name: agentName, secret: secretName.agentToken, isOwned: true };
const { signal } = new AbortController();
let cluster: Cluster;
let admin: Client;

/** A client with only these permissions in the namespace. */
async function user(rights: readonly Permission[]): Promise<Client> {
  const name = `user-${randomUUID()}`;
  await grant(
    admin,
    name,
    namespace,
    rights.filter(({ in: place }) => place === 'own namespace'),
  );
  const client = createClient(loadKubeconfig(cluster.kubeconfigFor(name)));
  onTestFinished(() => client.close());
  return client;
}

const ask = (client: Client, allowLasting: boolean, clusterCa: () => string | undefined = () => 'ca') =>
  issueToken(
    agent,
    { client, namespace, seconds: 600, allowLasting, clusterCa, clock: systemClock, log: recordedLog().log },
    signal,
  );
const tokenSecrets = async () =>
  (await admin.listAll(secrets, { namespace })).items.filter(({ metadata }) => metadata.name === agent.secret);

beforeAll(async () => {
  cluster = await startCluster();
  admin = createClient(cluster.adminConfig);
  await admin.create(namespaces, { metadata: { name: namespace } });
  await admin.create(serviceAccounts, { metadata: { name: agentName, namespace } });
});
afterAll(async () => {
  await admin?.close();
  await cluster?.stop();
});

test('the operator gets a token that expires with its default permissions', async () => {
  const client = await user(permissions);
  const { token, expires } = await ask(client, false);
  expect(token.reveal()).not.toBe('');
  const leftMs = Date.parse(expires ?? '') - Date.now();
  expect(leftMs).toBeGreaterThan(0);
  expect(leftMs).toBeLessThan(700_000);
  expect(await tokenSecrets()).toEqual([]);
});

test('the operator cannot create a token that never expires with its default permissions', async () => {
  const client = await user(operatorPermissions);
  for (const account of [agentName, 'default']) {
    const annotations = { 'kubernetes.io/service-account.name': account };
    const secret = {
      metadata: { name: agent.secret, namespace, annotations },
      type: 'kubernetes.io/service-account-token',
    };
    const error: unknown = await client.create(secrets, secret).catch((caught: unknown) => caught);
    expect(error instanceof ApiError && error.code).toBe(403);
  }
});

test('waits for the CA without creating objects', async () => {
  const client = await user([...permissions, ...lastingTokenPermissions]);
  expect(await rejectionOf(ask(client, true, () => undefined))).toMatchObject({ code: 'MATERIAL_MISSING' });
  expect(await tokenSecrets()).toEqual([]);
});

test('names the account for which it cannot request tokens, and creates nothing', async () => {
  const client = await user(lastingTokenPermissions);
  expect(await rejectionOf(ask(client, false))).toMatchObject({
    code: 'TOKEN_NOT_ISSUED',
    message: expect.stringContaining(`ServiceAccount ${namespace}/${agentName}`) as string,
  });
  expect(await tokenSecrets()).toEqual([]);
});

test('creates a lasting token when it is allowed and permitted', async () => {
  const client = await user(lastingTokenPermissions);
  const handed = await ask(client, true);
  expect(handed).toMatchObject({ id: undefined, expires: undefined });
  expect(await tokenSecrets()).toHaveLength(1);
});
