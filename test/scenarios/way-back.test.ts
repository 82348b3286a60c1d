import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { namespaceName, nodeAnnotation, nodeLabel, secretKey, secretName } from '../../src/contract/names.ts';
import type { Client } from '../../src/kube/client.ts';
import type { Resource } from '../../src/kube/resource.ts';
import * as kinds from '../../src/kube/resources.ts';
import { goClusterObjects, goVersion } from '../../src/sandbox/go-operator/objects.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { allowedOf, wideRights } from '../kit/agent-reviews.ts';
import { fastClock } from '../kit/fast-clock.ts';
import { endGoOperator, installOwnOperator, ownPodName, turnIntoGoSandbox } from '../kit/go-cluster.ts';
import { readAsGoOperator } from '../kit/go-reader.ts';
import { administratorOf, startOperator } from '../kit/sandbox-operator.ts';

/** The way back to the Go operator, as far as objects go: what it would read when it starts. */

const version = '11.0.0-ours';
const hosts = 2;
const machines = 1;
const clock = fastClock(20);
/** Must survive a clock that makes waits short. */
const lease = { leaseDurationMs: 3e6, renewDeadlineMs: 2e6, retryPeriodMs: 2000 };

let sandbox: Sandbox;
let administrator: ReturnType<typeof administratorOf>;

beforeAll(async () => {
  sandbox = await startSandbox({ hosts, machines, speed: 2, clock });
  administrator = administratorOf(sandbox);
  await takeOverAndUninstall(sandbox, administrator.client);
}, 240_000);
afterAll(async () => {
  await administrator?.[Symbol.asyncDispose]();
  await sandbox?.stop();
});

/** Takes the nodes of a Go operator over, and ends this operator as `wmco uninstall` does. */
async function takeOverAndUninstall(sandbox: Sandbox, client: Client): Promise<void> {
  const { namespace } = sandbox;
  {
    await using before = startOperator(sandbox, { clock, settings: { lease } });
    await before.allReady(hosts + machines);
  }
  await turnIntoGoSandbox(sandbox, client);
  const { kubeconfig } = await installOwnOperator(sandbox, client);
  await endGoOperator(client, namespace);
  const data = { maxUnavailable: '3', first: '3', soak: '1s' };
  await client.create(kinds.configMaps, { metadata: { name: 'windows-rollout', namespace }, data });
  {
    const settings = { lease, podName: ownPodName };
    await using operator = startOperator(sandbox, { clock, release: { version }, kubeconfig, settings });
    const taken = async () =>
      (await operator.instances()).filter(({ status }) => status?.upgrade?.soaked !== undefined).length;
    const limits = { timeout: 120_000, interval: 100 };
    await vi.waitUntil(async () => (await taken()) === hosts + machines, limits);
  }
  await client.delete(kinds.pods, ownPodName, { namespace, gracePeriodSeconds: 0 });
}

const agentAccess: readonly Resource[] = [
  kinds.roles,
  kinds.roleBindings,
  kinds.clusterRoles,
  kinds.clusterRoleBindings,
];

test('the Go operator can read everything it needs, and would upgrade each node once and replace no Machine', async () => {
  const { client } = administrator;
  const { namespace } = sandbox;
  const view = await readAsGoOperator(client, namespace);
  const node = (name: string, isByoh: boolean) => ({
    name,
    isByoh,
    // Not its own: it cleans and configures each node once.
    version,
    username: 'Administrator',
    address: sandbox.host(name).spec.address,
    hasCurrentKey: true,
    hostKey: expect.stringMatching(/^[A-Za-z0-9+/]{60,}=*$/),
    upgrading: false,
    rebootRequired: false,
  });
  expect(version).not.toBe(goVersion);
  expect(view.nodes.toSorted((one, other) => (one.name < other.name ? -1 : 1))).toEqual([
    node('win-1', true),
    node('win-2', true),
    node('winworker-1', false),
  ]);
  // It finds the Node of an entry by address, or it would configure a second one.
  expect(Object.keys(view.entries)).toEqual(view.nodes.filter(({ isByoh }) => isByoh).map(({ address }) => address));
  expect(Object.values(view.entries)).toEqual(['Administrator', 'Administrator']);
  expect(view.services).toEqual({
    [version]: ['containerd', 'kubelet', 'windows_exporter', 'hybrid-overlay-node', 'csi-proxy', 'kube-proxy'],
  });
  expect(view.isLockFree).toBe(true);
});

test('its objects can be made again: rights by the names that agents of both operators use, and its user data', async () => {
  const { client } = administrator;
  const { namespace, url: apiServerUrl } = sandbox;
  // As docs/take-over.md says: what this operator has made for agents goes first.
  const labelSelector = 'app.kubernetes.io/part-of=wicd';
  for (const resource of agentAccess) {
    const place = resource.namespaced ? { namespace } : {};
    const { items } = await client.list(resource, { labelSelector, ...place });
    for (const { metadata } of items) await client.delete(resource, metadata.name ?? '', place);
  }
  const authorizedKey = 'ssh-ed25519 AAAA\n';
  const userData: kinds.SecretObject | undefined = goClusterObjects({ namespace, apiServerUrl, authorizedKey }).at(
    -1,
  )?.object;
  for (const { resource, object } of goClusterObjects({ namespace, apiServerUrl })) {
    const { name = '', namespace: place } = object.metadata;
    const options = place === undefined ? {} : { namespace: place };
    const present = await client.find(resource, name, options);
    // Only the account is shared.
    expect([resource.kind, name, present !== undefined]).toEqual([
      resource.kind,
      name,
      resource === kinds.serviceAccounts,
    ]);
    if (present === undefined) await client.create(resource, object);
  }
  const place = { namespace: namespaceName.machineApi };
  const body = { data: userData?.data };
  await client.patch(kinds.secrets, secretName.userData, { type: 'merge', body }, place);
  const stored = await client.get(kinds.secrets, secretName.userData, place);
  expect(stored.data?.[secretKey.userData]).toBe(userData?.data?.[secretKey.userData]);
  const wide = wideRights({ namespace, node: 'win-1', other: 'win-2' });
  expect(await allowedOf(client, wide)).toHaveLength(wide.length);
  const { items } = await client.list(kinds.nodes, { labelSelector: `${nodeLabel.os}=windows` });
  expect(items.map(({ metadata }) => metadata.annotations?.[nodeAnnotation.version])).toEqual(items.map(() => version));
});
