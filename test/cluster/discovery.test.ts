import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Client } from '../../src/kube/client.ts';
import type { KubeResource } from '../../src/kube/resource.ts';
import { configMaps, services } from '../../src/kube/resources.ts';
import { type Cluster, startCluster } from '../kit/cluster/cluster.ts';
import { clusterInfo, kubeadmConfig } from '../kit/kubeadm-objects.ts';
import { type OperatorScene, operatorScene, operatorVersion, type RunningOperator } from '../kit/operator-scene.ts';

let cluster: Cluster;
let scene: OperatorScene;
let admin: Client;

beforeAll(async () => {
  // API servers do not publish loopback addresses.
  cluster = await startCluster({ apiServerFlags: ['--advertise-address=10.0.0.2'] });
  const { url, ca, kubeconfigText: kubeconfig } = cluster;
  scene = await operatorScene({ url, ca, kubeconfig, openshift: false });
  ({ admin } = scene);
});

afterAll(async () => {
  await scene?.[Symbol.asyncDispose]();
  await cluster?.stop();
});

/** The API server in the commands of services on hosts. */
async function apiServerOfHosts(): Promise<string | undefined> {
  const { namespace } = scene;
  const map = await admin.find(configMaps, `windows-services-${operatorVersion}`, { namespace });
  return /--k8s-apiserver=([^ "]+)/.exec(map?.data?.['services'] ?? '')?.[1];
}

const discovered = ({ log }: RunningOperator) =>
  log.lines.filter(({ message }) => message === 'Discovered cluster').map(({ fields }) => fields);

const create = (object: object) => admin.create(configMaps, object as KubeResource);

test('discovers a cluster from its objects, follows them, and lets windows-cluster override them', async () => {
  const { port } = new URL(cluster.url);
  const operator = await scene.start();
  await expect.poll(() => operator.log.messages('info')).toContain('Waiting to create services ConfigMap');

  await create(kubeadmConfig('10.96.0.0/16,fd00:96::/112'));
  await expect.poll(apiServerOfHosts).toBe(`https://10.0.0.2:${port}`);
  await expect
    .poll(() => discovered(operator).at(-1))
    .toMatchObject({
      serviceCidr: '10.96.0.0/16',
      clusterDns: '10.96.0.10',
      origins: {
        apiServerUrl: 'EndpointSlice default/kubernetes',
        serviceCidr: 'ConfigMap kube-system/kubeadm-config',
      },
    });

  const metadata = { namespace: 'kube-system', name: 'kube-dns' };
  await admin.create(services, { metadata, spec: { clusterIP: '10.96.0.53', ports: [{ port: 53 }] } });
  await expect
    .poll(() => discovered(operator).at(-1))
    .toMatchObject({
      clusterDns: '10.96.0.53',
      origins: { clusterDns: 'Service kube-system/kube-dns' },
    });

  await create(clusterInfo('https://lb.example.com:6443'));
  await expect.poll(apiServerOfHosts).toBe('https://lb.example.com:6443');

  const data = { apiServerURL: 'https://set.example.com:6443' };
  await create({ metadata: { namespace: scene.namespace, name: 'windows-cluster' }, data });
  await expect.poll(apiServerOfHosts).toBe('https://set.example.com:6443');
  expect(discovered(operator).at(-1)).toMatchObject({ serviceCidr: '10.96.0.0/16', clusterDns: '10.96.0.53' });
  expect(operator.log.messages('error')).toEqual([]);
});
