import { systemClock } from '../../src/base/clock.ts';
import { windowsInstances } from '../../src/cluster/windows-instance-resource.ts';
import { reportName } from '../../src/contract/agent-report.ts';
import { configMapName, operatorName } from '../../src/contract/names.ts';
import { servicesConfigMapName } from '../../src/contract/version.ts';
import { parsePrivateKey } from '../../src/host/keys/private-key.ts';
import { authorizedKey } from '../../src/host/keys/public-key.ts';
import { isNotFound, unless } from '../../src/kube/api-error.ts';
import type { Client } from '../../src/kube/client.ts';
import { configMaps, pods } from '../../src/kube/resources.ts';
import { markGoNode, type PinPlace, turnIntoGoCluster } from '../../src/sandbox/go-operator/cluster.ts';
import { turnIntoGoHost } from '../../src/sandbox/go-operator/host.ts';
import { goPodName, goVersion } from '../../src/sandbox/go-operator/objects.ts';
import { goServicesData } from '../../src/sandbox/go-operator/services.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { accountToken } from './account-token.ts';
import { applyManifests, installedRights } from './install-manifests.ts';
import { tokenKubeconfig } from './operator-scene.ts';

const places: readonly PinPlace[] = ['node', 'configmap', 'none'];

/** Turns a sandbox whose hosts are nodes, and whose operator has ended, into the cluster of a Go operator that runs. */
export async function turnIntoGoSandbox(
  sandbox: Sandbox,
  client: Client,
  environment: Readonly<Record<string, string>> = {},
): Promise<void> {
  const { url: apiServerUrl, ca, namespace, hosts, privateKey } = sandbox;
  const facts = { apiServerUrl, ca, namespace, clock: systemClock, environment };
  for (const host of hosts) await turnIntoGoHost(host, facts);
  const nodes = hosts.map(({ spec }, index) => {
    const address = spec.dnsSuffix === '' ? spec.address : `${spec.name}.${spec.dnsSuffix}`;
    return { name: spec.name, address, pin: places[index % places.length] ?? 'none' };
  });
  const line = authorizedKey(parsePrivateKey(privateKey.reveal()).publicKey);
  await turnIntoGoCluster(client, nodes, { apiServerUrl, namespace, environment, authorizedKey: line });
}

/** Turns one host that has joined into one of the Go operator; the others stay. */
export async function turnIntoOneGoHost(sandbox: Sandbox, client: Client, name: string): Promise<void> {
  const { url: apiServerUrl, ca, namespace } = sandbox;
  const host = sandbox.host(name);
  const { address } = host.spec;
  await turnIntoGoHost(host, { apiServerUrl, ca, namespace, clock: systemClock });
  await markGoNode(client, { name, address, pin: 'none' });
  await client.delete(windowsInstances, address, { namespace });
  await client.delete(configMaps, reportName(name), { namespace });
  const keys = { type: 'merge', body: { data: { [address]: null } } } as const;
  await client.patch(configMaps, configMapName.hostKeys, keys, { namespace }).catch(unless(isNotFound));
  const metadata = { name: servicesConfigMapName(goVersion), namespace };
  await client.create(configMaps, { metadata, data: goServicesData({ apiServerUrl }), immutable: true });
}

/** Ends the pod that leads, as the deletion of its Deployment does. */
export async function endGoOperator(client: Client, namespace: string): Promise<void> {
  await client.delete(pods, goPodName, { namespace, gracePeriodSeconds: 0 });
}

/** Pod of this operator. */
export const ownPodName = `${operatorName}-7d9c5b8f6c-x2k4q`;

/** What `wmco install` brings: the rights of the operator, and its pod. Gives the login of the operator. */
export async function installOwnOperator(sandbox: Sandbox, client: Client): Promise<{ kubeconfig: string }> {
  const { namespace } = sandbox;
  await applyManifests(client, installedRights('openshift'));
  await client.create(pods, {
    metadata: { name: ownPodName, namespace },
    spec: { containers: [{ name: 'manager', image: 'operator' }] },
  });
  const token = await accountToken(client, namespace, operatorName);
  return { kubeconfig: tokenKubeconfig(sandbox, token) };
}
