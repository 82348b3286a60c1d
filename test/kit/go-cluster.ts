import { systemClock } from '../../src/base/clock.ts';
import { operatorName } from '../../src/contract/names.ts';
import { parsePrivateKey } from '../../src/host/keys/private-key.ts';
import { authorizedKey } from '../../src/host/keys/public-key.ts';
import type { Client } from '../../src/kube/client.ts';
import { pods } from '../../src/kube/resources.ts';
import { type PinPlace, turnIntoGoCluster } from '../../src/sandbox/go-operator/cluster.ts';
import { turnIntoGoHost } from '../../src/sandbox/go-operator/host.ts';
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

/** What `wmco install` brings: the rights of the operator, and its pod. Gives the login of the operator. */
export async function installOwnOperator(
  sandbox: Sandbox,
  client: Client,
): Promise<{ kubeconfig: string; podName: string }> {
  const { namespace } = sandbox;
  await applyManifests(client, installedRights('openshift'));
  const podName = `${operatorName}-7d9c5b8f6c-x2k4q`;
  await client.create(pods, {
    metadata: { name: podName, namespace },
    spec: { containers: [{ name: 'manager', image: 'operator' }] },
  });
  const token = await accountToken(client, namespace, operatorName);
  return { kubeconfig: tokenKubeconfig(sandbox, token), podName };
}
