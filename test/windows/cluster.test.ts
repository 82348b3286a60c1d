import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { certificateSigningRequests } from '../../src/kube/resources.ts';
import { makeCsr } from '../kit/csr.ts';
import { startApprover } from '../kit/approve-requests.ts';
import { type LabCluster, startLabCluster } from '../kit/winhost/cluster.ts';
import type { WindowsHost } from '../kit/winhost/host.ts';
import { WindowsLab } from '../kit/winhost/lab.ts';

let lab: WindowsLab;
let host: WindowsHost;
let kube: LabCluster;

beforeAll(async () => {
  lab = await WindowsLab.start();
  [host, kube] = await Promise.all([lab.createHost(), startLabCluster(lab)]);
});

afterAll(async () => {
  await kube?.stop();
  await lab?.stop();
});

/** Reviews its own identity with a kubeconfig, from the network of the host. */
const program = `
  const { request } = await import('node:https');
  const { clusters: [{ cluster }], users: [{ user }] } = JSON.parse(process.argv[1]);
  const bytes = text => Buffer.from(text, 'base64');
  const credentials = { ca: bytes(cluster['certificate-authority-data']), cert: bytes(user['client-certificate-data']), key: bytes(user['client-key-data']) };
  const call = request(cluster.server + '/api/v1/nodes', { ...credentials, timeout: 3000 }, answer => {
    answer.setEncoding('utf8').on('data', text => process.stdout.write(text));
  });
  call.on('timeout', () => call.destroy(new Error('no answer')));
  call.on('error', error => { console.log(error.message); process.exitCode = 1; });
  call.end();`;

async function askFromHost(kubeconfig: string): Promise<string> {
  return (await host.enter(process.execPath, ['--input-type=module', '--eval', program, kubeconfig])).stdout;
}

test('a host reaches the API server by a name in its certificate', async () => {
  expect(kube.url).toBe('https://apiserver.test:6443');
  expect(await host.run('ping -n 1 apiserver.test')).toContain(lab.address);
  expect(await askFromHost(kube.kubeconfigFor('boss', ['system:masters']))).toContain('"kind":"NodeList"');
  expect(await askFromHost(kube.kubeconfigFor('nobody'))).toContain('nodes is forbidden: User \\"nobody\\"');
});

test('the connection to the API server can be cut, frozen and restored', async () => {
  const kubeconfig = kube.kubeconfigFor('boss', ['system:masters']);
  kube.cut();
  expect(await askFromHost(kubeconfig)).toMatch(/ECONNRESET|socket/);
  kube.restore();
  expect(await askFromHost(kubeconfig)).toContain('NodeList');
  kube.freeze();
  expect(await askFromHost(kubeconfig)).toContain('no answer');
  kube.restore();
  expect(await askFromHost(kubeconfig)).toContain('NodeList');
});

test('the approver approves every certificate request until it stops', async () => {
  const ask = async (name: string) => {
    const spec = {
      request: Buffer.from(makeCsr({ commonNames: [name] })).toString('base64'),
      signerName: 'kubernetes.io/kube-apiserver-client',
      usages: ['digital signature', 'client auth'],
    };
    await kube.client.create(certificateSigningRequests, { metadata: { name }, spec });
  };
  const certificateOf = async (name: string) =>
    (await kube.client.get(certificateSigningRequests, name)).status?.certificate ?? '';
  const approver = startApprover(kube.client);
  await ask('early');
  await expect.poll(() => certificateOf('early')).not.toBe('');
  await approver.stop();
  await ask('late');
  // Longer than an approver needs.
  await delay(500);
  expect([approver.decided, await certificateOf('late')]).toEqual([['early'], '']);
});
