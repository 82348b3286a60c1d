import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { managedDescription, nodeAnnotation } from '../../src/contract/names.ts';
import { file } from '../../src/contract/paths.ts';
import { createClient } from '../../src/kube/http-client.ts';
import { certificateSigningRequests, configMaps, nodes } from '../../src/kube/resources.ts';
import {
  type AgentBench,
  agentAccount,
  containerd,
  isMarked,
  kubelet,
  makeAgentBench,
  namespace,
  nodeName,
  startAgentController,
  statesOf,
  wanted,
} from '../kit/agent-bench.ts';
import { type Cluster, startCluster } from '../kit/cluster/cluster.ts';
import { until } from '../kit/until.ts';

const { rebootRequired } = nodeAnnotation;
const proxy = { HTTP_PROXY: 'http://proxy' };
const running = { containerd: 'running', kubelet: 'running', 'kube-proxy': 'running' };

let cluster: Cluster;
let bench: AgentBench;

beforeAll(async () => {
  cluster = await startCluster();
  const client = createClient(cluster.adminConfig);
  bench = await makeAgentBench({ client, kubeconfig: cluster.kubeconfigFor(agentAccount), stop: () => cluster.stop() });
});
afterAll(() => bench?.[Symbol.asyncDispose]());

/** A controller in real time, as the server needs. */
const start = () => startAgentController(bench, systemClock);
const access = `--kubeconfig ${file.agentKubeconfig} --namespace ${namespace}`;

test('bootstraps a host against a real API server', async () => {
  await bench.publish('v1');
  const { code, out } = await bench.run(`bootstrap --node ${nodeName} --desired-version v1 ${access} -o json`);
  expect([code, JSON.parse(out)]).toEqual([0, { version: 'v1', services: ['containerd', 'kubelet'] }]);
});

test('gets a certificate, configures the host and reports the version', async () => {
  await bench.register(wanted('v1'));
  start();
  await until(() => isMarked(bench, 'v1'));
  expect(await statesOf(bench)).toEqual(running);
  const { items } = await bench.client.list(certificateSigningRequests);
  expect(items.map(({ spec }) => spec.username)).toEqual([agentAccount]);
});

test('needs no request for another certificate while it has one', async () => {
  start();
  await until(() => bench.logged.messages('info').filter(text => text === 'Host is configured').length > 1);
  expect((await bench.client.list(certificateSigningRequests)).items.length).toBe(1);
});

test('follows another version and a recreated ConfigMap', async () => {
  start();
  await bench.publish('v2', [containerd]);
  await bench.annotate(wanted('v2'));
  await until(() => isMarked(bench, 'v2'));
  await bench.client.delete(configMaps, 'windows-services-v2', { namespace });
  const changed = { ...kubelet, command: 'changed.exe' };
  await bench.publish('v2', [containerd, changed]);
  await until(async () => (await bench.host.services.query('kubelet'))?.config.command === 'changed.exe');
});

test('applies variables without a reboot, and reports them', async () => {
  await bench.publish('v3', [containerd], proxy);
  start();
  await bench.annotate(wanted('v3'));
  await until(() => isMarked(bench, 'v3'));
  expect((await bench.host.services.query('containerd'))?.config.environment).toEqual(proxy);
  expect(await bench.annotations()).not.toHaveProperty([rebootRequired]);
  await until(async () => (await bench.events()).some(event => event.startsWith('SettingsChanged: ')));
});

test('keeps services running without the API server, and follows the Node afterwards', async () => {
  start();
  const before = bench.logged.messages('info').length;
  await until(() => bench.logged.messages('info').slice(before).includes('Host is configured'));
  await bench.stopApproving();
  await cluster.kill('kube-apiserver');
  await cluster.restart('kube-apiserver');
  await bench.publish('v4', [containerd, kubelet], proxy);
  await bench.annotate(wanted('v4'));
  await until(() => isMarked(bench, 'v4'));
});

test('cleans up the host, reports the needed reboot, and does not touch the Node', async () => {
  const before = await bench.annotations();
  const { code, out } = await bench.run(`cleanup ${access} -o json`);
  expect([code, JSON.parse(out)]).toMatchObject([0, { clusterReached: true, rebootNeeded: true }]);
  expect(await statesOf(bench)).toEqual({});
  expect(await bench.annotations()).toEqual(before);
});

test('cleans up the host without Node and API server', async () => {
  const clean = async () => JSON.parse((await bench.run(`cleanup ${access} -o json`)).out) as unknown;
  await bench.client.delete(nodes, nodeName);
  expect(await clean()).toMatchObject({ removed: [], clusterReached: true });
  await cluster.kill('kube-apiserver');
  bench.host.fileTexts.set(file.stagedRecord, JSON.stringify({ version: 'v4' }));
  bench.host.services.install('left-over', { description: managedDescription('left-over') });
  expect(await clean()).toMatchObject({ removed: ['left-over'], clusterReached: false });
});
