import { afterAll, beforeAll, expect, test } from 'vitest';
import { kubeProxyBinding } from '../../src/controllers/agent-access/desired.ts';
import type { Client } from '../../src/kube/client.ts';
import { loadKubeconfig } from '../../src/kube/config/load-kubeconfig.ts';
import { createClient } from '../../src/kube/http-client.ts';
import { clusterRoleBindings } from '../../src/kube/resources.ts';
import { type Cluster, startCluster } from '../kit/cluster/cluster.ts';
import { type OperatorScene, operatorScene } from '../kit/operator-scene.ts';

let cluster: Cluster;
let scene: OperatorScene;
/** With the identity of a kubelet, which kube-proxy shares. */
let node: Client;

beforeAll(async () => {
  cluster = await startCluster();
  const { url, ca, kubeconfigText: kubeconfig } = cluster;
  scene = await operatorScene({ url, ca, kubeconfig, openshift: false });
  node = createClient(loadKubeconfig(cluster.kubeconfigFor('system:node:win-1', ['system:nodes'])));
});

afterAll(async () => {
  await node?.close();
  await scene?.[Symbol.asyncDispose]();
  await cluster?.stop();
});

/** Whether a node is allowed to list EndpointSlices, which older servers have in another version. */
async function isAllowed(): Promise<boolean> {
  const body = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    spec: { resourceAttributes: { group: 'discovery.k8s.io', resource: 'endpointslices', verb: 'list' } },
  };
  const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
  return (await node.raw<{ status: { allowed: boolean } }>('POST', path, { body })).status.allowed;
}

test('kube-proxy of a plain cluster is allowed to list EndpointSlices once the operator runs, and stays so', async () => {
  const { admin } = scene;
  expect(await isAllowed()).toBe(false);
  const operator = await scene.start();
  await expect.poll(isAllowed, { interval: 100 }).toBe(true);
  const { metadata } = await admin.get(clusterRoleBindings, kubeProxyBinding);
  await admin.delete(clusterRoleBindings, kubeProxyBinding);
  const uid = async () => (await admin.find(clusterRoleBindings, kubeProxyBinding))?.metadata.uid ?? metadata.uid;
  await expect.poll(uid, { interval: 100 }).not.toBe(metadata.uid);
  await admin.patch(clusterRoleBindings, kubeProxyBinding, { type: 'merge', body: { subjects: null } });
  const subjects = async () =>
    (await admin.get(clusterRoleBindings, kubeProxyBinding)).subjects?.map(({ name }) => name);
  await expect.poll(subjects, { interval: 100 }).toEqual(['system:nodes']);
  expect(operator.log.messages('error')).toEqual([]);
});
