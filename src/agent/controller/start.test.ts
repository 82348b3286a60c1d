import { expect, onTestFinished, test } from 'vitest';
import { dir, file } from '#contract/paths.ts';
import { nodes } from '#kube/resources.ts';
import {
  type AgentBench,
  containerd,
  kubelet,
  namespace,
  nodeName,
  startAgentBench,
  statesOf,
} from '../../../test/kit/agent-bench.ts';
import { fastClock } from '../../../test/kit/fast-clock.ts';
import { until } from '../../../test/kit/until.ts';
import { createHostValues } from '../host-values/host-values.ts';
import { saveKnownGood } from '../known-good.ts';
import { enroll } from './start.ts';

async function bench(): Promise<AgentBench> {
  const made = await startAgentBench();
  onTestFinished(() => made[Symbol.asyncDispose]());
  return made;
}

/** An enrolment under way, with all that it tells. */
function enrolling({ host, world, logged }: AgentBench, speed = 10) {
  const stop = new AbortController();
  const told: { ready: number; troubles: string[] } = { ready: 0, troubles: [] };
  const clock = fastClock(speed);
  const enrolled = enroll(
    {
      ports: { ...world.host(), host: createHostValues(host, { clock }) },
      client: world.client,
      clock,
      log: logged.log,
    },
    {
      kubeconfigPath: file.agentKubeconfig,
      namespace,
      nodeName,
      cloudNode: false,
      caBundle: '',
      certDir: dir.agentCerts,
      certDurationMs: 3_600_000,
      signal: stop.signal,
      onReady: () => void (told.ready += 1),
      onTrouble: error => void told.troubles.push(error.message),
      onCloudNode: () => undefined,
    },
  ).then(
    async identity => {
      onTestFinished(() => identity.client.close());
      return identity;
    },
    (error: unknown) => error,
  );
  onTestFinished(async () => {
    stop.abort(new Error('stop'));
    await enrolled;
  });
  return { told, stop, enrolled };
}

/** The host knows that it once ran two services. */
async function knows({ host }: AgentBench): Promise<void> {
  const manifest = { services: [containerd, kubelet], files: [], environment: {}, watchedEnvironment: [] };
  const object = { apiVersion: 'v1', kind: 'Node', metadata: { name: nodeName } };
  await saveKnownGood({ version: 'v1', manifest, node: { name: nodeName, object } }, host.files);
}

test('gets a certificate, and reports once that it is ready', async () => {
  const world = await bench();
  const { told, enrolled } = enrolling(world);
  await enrolled;
  expect([told.ready, told.troubles]).toEqual([1, []]);
  expect(world.host.fileTexts.has(file.agentCertificate)).toBe(true);
});

test('gives a client with exactly the rights of agents', async () => {
  const world = await bench();
  await world.register();
  const { client } = (await enrolling(world).enrolled) as Awaited<ReturnType<typeof enroll>>;
  expect(await client.get(nodes, nodeName)).toMatchObject({ metadata: { name: nodeName } });
  const patch = { type: 'merge', body: { metadata: { labels: { a: 'b' } } } } as const;
  await expect(client.patch(nodes, nodeName, patch)).rejects.toThrow(`"system:wicd-node:${nodeName}" cannot patch`);
  await expect(client.list(nodes)).rejects.toThrow('cannot list');
});

test('starts the last known services when its certificate is not approved, although the API server responds', async () => {
  const world = await bench();
  await world.stopApproving();
  await knows(world);
  const { told } = enrolling(world, 100);
  await until(async () => (await statesOf(world))['kubelet'] === 'running');
  expect(told.ready).toBe(1);
  expect(world.logged.messages('warn')).toContain(
    'API server cannot be reached; starting services of the last known version',
  );
});

test('shows as running without an approved certificate, but starts no service without a record', async () => {
  const world = await bench();
  await world.stopApproving();
  const { told } = enrolling(world, 100);
  await until(() => world.logged.messages('info').includes('Waiting for the API server'));
  expect([told.ready, await statesOf(world)]).toEqual([1, {}]);
});

test('keeps reconciling services while its certificate is not approved', async () => {
  const world = await bench();
  await world.stopApproving();
  await knows(world);
  enrolling(world, 200);
  await until(async () => (await statesOf(world))['kubelet'] === 'running');
  world.host.services.install('kubelet', (await world.host.services.query('kubelet'))?.config, 'stopped');
  await until(async () => (await statesOf(world))['kubelet'] === 'running');
});

test('retries until the operator writes a new token', async () => {
  const world = await bench();
  const kubeconfig = world.host.fileTexts.get(file.agentKubeconfig) ?? '';
  world.host.fileTexts.delete(file.agentKubeconfig);
  const { enrolled, told } = enrolling(world, 500);
  await until(() => world.logged.messages('warn').filter(text => text.startsWith('Using the kubeconfig')).length > 20);
  expect(told.ready).toBe(1);
  world.host.fileTexts.set(file.agentKubeconfig, kubeconfig);
  expect(await enrolled).toHaveProperty('client');
});

test('reports failures of its certificate', async () => {
  const world = await bench();
  await world.rights.revoke();
  const { told } = enrolling(world);
  await until(() => told.troubles.length > 0);
  expect(told.troubles[0]).toContain('certificatesigningrequests');
});

test('stops before it begins when aborted', async () => {
  const world = await bench();
  const { stop, enrolled } = enrolling(world);
  stop.abort(new Error('shutting down'));
  expect(await enrolled).toMatchObject({ message: 'shutting down' });
});

test('keeps the last known services running with a valid certificate when the API server does not respond', async () => {
  const world = await bench();
  const first = enrolling(world);
  await first.enrolled;
  first.stop.abort(new Error('stop'));
  await knows(world);
  await world.stopServer();
  const { told } = enrolling(world, 100);
  await until(async () => (await statesOf(world))['kubelet'] === 'running');
  expect(told.ready).toBe(1);
});
