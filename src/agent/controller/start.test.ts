import { expect, onTestFinished, test } from 'vitest';
import type { EventText } from '#contract/events.ts';
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
  until,
} from '../../../test/kit/agent-bench.ts';
import { fastClock } from '../../../test/kit/scripted-client.ts';
import { createHostValues } from '../host-values/host-values.ts';
import { saveKnownGood } from '../known-good.ts';
import { enrol } from './start.ts';

async function bench(): Promise<AgentBench> {
  const made = await startAgentBench();
  onTestFinished(() => made[Symbol.asyncDispose]());
  return made;
}

/** An enrolment under way, with all that it tells. */
function enrolling({ host, world, logged }: AgentBench, speed = 10) {
  const stop = new AbortController();
  const told: { ready: number; remarks: EventText[] } = { ready: 0, remarks: [] };
  const clock = fastClock(speed);
  const enrolled = enrol(
    {
      ports: { ...world.host(), host: createHostValues(host, { clock }) },
      client: world.client,
      clock,
      log: logged.log,
    },
    {
      kubeconfigPath: file.agentKubeconfig,
      namespace,
      caBundle: '',
      certDir: dir.agentCerts,
      certDurationMs: 3_600_000,
      signal: stop.signal,
      onReady: () => void (told.ready += 1),
      record: remark => void told.remarks.push(remark),
    },
  ).then(
    async enrolment => {
      onTestFinished(() => enrolment.identity.client.close());
      return enrolment;
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

test('finds the Node, gets a certificate, and only then says that it is ready', async () => {
  const world = await bench();
  await world.register();
  const { told, enrolled } = enrolling(world);
  const enrolment = await enrolled;
  expect(enrolment).toMatchObject({ node: { name: nodeName } });
  expect([told.ready, told.remarks]).toEqual([1, []]);
  expect(world.host.fileTexts.has(file.agentCertificate)).toBe(true);
});

test('gives a client that may do what agents may', async () => {
  const world = await bench();
  await world.register();
  const { identity } = (await enrolling(world).enrolled) as Awaited<ReturnType<typeof enrol>>;
  expect(await identity.client.get(nodes, nodeName)).toMatchObject({ metadata: { name: nodeName } });
  await expect(identity.client.delete(nodes, nodeName)).rejects.toThrow(`"system:wicd-node:${nodeName}" cannot delete`);
});

test('starts the services of before when nobody approves its certificate, though the API server answers', async () => {
  const world = await bench();
  await world.register();
  await world.stopApproving();
  await knows(world);
  const { told } = enrolling(world, 100);
  await until(async () => (await statesOf(world))['kubelet'] === 'running');
  expect(told.ready).toBe(1);
  expect(world.logged.messages('warn')).toContain(
    'Starting the services of the last version known, for the API server is out of reach',
  );
});

test('is not ready, and starts nothing, when nobody approves its certificate on a host that knows nothing', async () => {
  const world = await bench();
  await world.register();
  await world.stopApproving();
  const { told } = enrolling(world, 100);
  await until(() => world.logged.messages('info').includes('Still waiting for the cluster'));
  expect([told.ready, await statesOf(world)]).toEqual([0, {}]);
});

test('starts nothing of what the host knows when its Node has been removed', async () => {
  const world = await bench();
  await knows(world);
  const { told } = enrolling(world, 60);
  // The pauses of so many tries are longer than services wait for the API server.
  await until(() => world.logged.messages('warn').length > 5);
  expect([told.ready, await statesOf(world)]).toEqual([0, {}]);
});

test('ends after five minutes without a certificate, and tells why on the way', async () => {
  const world = await bench();
  await world.register();
  await world.stopApproving();
  const { enrolled } = enrolling(world, 2000);
  expect(await enrolled).toMatchObject({ code: 'START_TIMEOUT', message: expect.stringContaining('certificate') });
});

test('remarks on trouble with its certificate', async () => {
  const world = await bench();
  await world.register();
  await world.client.raw('PATCH', '/apis/rbac.authorization.k8s.io/v1/clusterroles/agent', {
    body: { rules: [{ apiGroups: [''], resources: ['nodes'], verbs: ['list'] }] },
    contentType: 'application/merge-patch+json',
  });
  const { told } = enrolling(world);
  await until(() => told.remarks.length > 0);
  expect(told.remarks[0]).toMatchObject({
    type: 'Warning',
    reason: 'CertificateRenewalFailure',
    message: expect.stringContaining('certificatesigningrequests'),
  });
});

test('is told to stop before it begins', async () => {
  const world = await bench();
  const { stop, enrolled } = enrolling(world);
  stop.abort(new Error('shutting down'));
  expect(await enrolled).toMatchObject({ message: 'shutting down' });
});
