import { randomUUID, X509Certificate } from 'node:crypto';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { textFromBase64, toBase64 } from '../../src/base/bytes.ts';
import type { Client } from '../../src/kube/client.ts';
import { loadKubeconfig } from '../../src/kube/config/load-kubeconfig.ts';
import { runManager } from '../../src/kube/controller/manager.ts';
import { noMetrics } from '../../src/kube/controller/metrics.ts';
import { EventRecorder } from '../../src/kube/events/events.ts';
import { createClient } from '../../src/kube/http-client.ts';
import { Informers } from '../../src/kube/informer/informers.ts';
import type { Permission } from '../../src/kube/permissions.ts';
import { events, namespaces, type SecretObject, secrets, services } from '../../src/kube/resources.ts';
import { exporterController, permissions } from '../../src/controllers/exporter/controller.ts';
import { pairPermissions } from '../../src/controllers/exporter/pair.ts';
import { type Cluster, startCluster } from '../kit/cluster/cluster.ts';
import { grant } from '../kit/grant.ts';
import { recordedLog } from '../kit/recorded-log.ts';
import { skippingClock } from '../kit/skipping-clock.ts';

const [serviceName, secretName] = ['windows-exporter', 'windows-machine-config-operator-tls'];
const dayMs = 86_400_000;
const ofEvents: Permission = { in: 'own namespace', group: '', resources: ['events'], verbs: ['create', 'patch'] };

let cluster: Cluster;
let admin: Client;
beforeAll(async () => {
  cluster = await startCluster();
  admin = createClient(cluster.adminConfig);
});
afterAll(async () => {
  await admin?.close();
  await cluster?.stop();
});

/** A namespace of its own; the controller runs there from `run` to the end of the test. */
async function scene(rights: readonly Permission[] = pairPermissions) {
  const namespace = `exporter-${randomUUID().slice(0, 8)}`;
  await admin.create(namespaces, { metadata: { name: namespace } });
  await grant(admin, namespace, namespace, [...permissions, ...rights, ofEvents]);
  const clock = skippingClock();
  const run = () => {
    const client = createClient(loadKubeconfig(cluster.kubeconfigFor(namespace)));
    const { log } = recordedLog();
    const informers = new Informers({ client });
    const recorder = new EventRecorder({ client, component: 'test' });
    const parts = { client, informers, recorder, namespace, version: 'v', clock, log, metrics: noMetrics };
    const stop = new AbortController();
    const running = runManager(
      { caches: [informers], others: [recorder], leaderOnly: [exporterController(parts)], log },
      stop.signal,
    );
    onTestFinished(async () => {
      stop.abort();
      await running;
      await client.close();
    });
  };
  const inNamespace = { namespace };
  return {
    namespace,
    clock,
    run,
    service: () => admin.find(services, serviceName, inNamespace),
    secret: () => admin.find(secrets, secretName, inNamespace),
    warnings: async () =>
      (await admin.list(events, inNamespace)).items.filter(({ type }) => type === 'Warning').map(each => each.message),
  };
}

const certificateOf = (secret: SecretObject | undefined) =>
  new X509Certificate(textFromBase64(secret?.data?.['tls.crt'] ?? '') ?? '');

test('makes Service and pair, and repairs both, with the permissions of the manifests', async () => {
  const { namespace, run, service, secret, warnings } = await scene();
  run();
  await expect.poll(secret).toMatchObject({ type: 'kubernetes.io/tls' });
  expect(certificateOf(await secret()).checkHost(`windows-exporter.${namespace}.svc`)).toBeDefined();
  await expect.poll(service).toMatchObject({
    metadata: { labels: { name: 'windows-exporter' } },
    spec: { ports: [{ name: 'metrics', port: 9182, protocol: 'TCP', targetPort: 9182 }] },
  });

  await admin.delete(services, serviceName, { namespace });
  await expect.poll(service).toBeDefined();
  const ports = [{ name: 'web', port: 80, protocol: 'TCP', targetPort: 80 }];
  const body = { metadata: { labels: { name: null, mine: 'x' } }, spec: { ports, selector: { a: 'b' } } };
  await admin.patch(services, serviceName, { type: 'merge', body }, { namespace });
  await expect.poll(service).toMatchObject({
    metadata: { labels: { name: 'windows-exporter', mine: 'x' } },
    spec: { ports: [{ port: 80 }, { port: 9182 }] },
  });
  expect((await service())?.spec?.selector).toBeUndefined();

  const first = await secret();
  await admin.delete(secrets, secretName, { namespace });
  await expect.poll(async () => (await secret())?.metadata.uid ?? first?.metadata.uid).not.toBe(first?.metadata.uid);
  const damage = { data: { 'tls.key': toBase64('x') } };
  await admin.patch(secrets, secretName, { type: 'merge', body: damage }, { namespace });
  await expect.poll(async () => (await secret())?.data?.['tls.key']).not.toBe(damage.data['tls.key']);
  expect(await warnings()).toEqual([]);
});

test('renews its pair before it expires', async () => {
  const { run, secret, clock } = await scene();
  run();
  await expect.poll(secret).toBeDefined();
  const before = await secret();
  clock.skip(500 * dayMs);
  await expect.poll(async () => (await secret())?.data?.['tls.crt']).not.toBe(before?.data?.['tls.crt']);
  const after = await secret();
  expect(after?.metadata.uid).toBe(before?.metadata.uid);
  expect(certificateOf(after).validToDate.getTime()).toBeGreaterThan(clock.now() + 700 * dayMs);
});

test('leaves the Secret of an administrator alone and reports what is wrong with it', async () => {
  const { namespace, run, secret, service, warnings } = await scene();
  const data = { 'tls.crt': toBase64('x'), 'tls.key': toBase64('y') };
  const made = await admin.create(secrets, {
    metadata: { name: secretName, namespace },
    type: 'kubernetes.io/tls',
    data,
  });
  run();
  await expect.poll(warnings).toEqual([expect.stringContaining('TLS_PAIR_INVALID')]);
  await expect.poll(service).toBeDefined();
  expect((await secret())?.metadata.resourceVersion).toBe(made.metadata.resourceVersion);
});

test('two operators at once end with one pair', async () => {
  const { run, secret, warnings } = await scene();
  run();
  run();
  await expect.poll(secret).toBeDefined();
  expect(certificateOf(await secret()).ca).toBe(false);
  expect(await warnings()).toEqual([]);
});

test('without permission for the Secret it names the manifest to apply', async () => {
  const { run, secret, warnings } = await scene([]);
  run();
  await expect.poll(warnings).toEqual([expect.stringMatching(/TLS_PAIR_NOT_STORED: .*deploy\/rbac\/kubernetes\.yaml/)]);
  expect(await secret()).toBeUndefined();
});

test('hands over to a service CA that is installed later', async () => {
  const { run, secret, service } = await scene();
  run();
  await expect.poll(secret).toBeDefined();
  await admin.create(namespaces, { metadata: { name: 'openshift-service-ca' } });
  onTestFinished(() => admin.delete(namespaces, 'openshift-service-ca'));
  await expect.poll(secret).toBeUndefined();
  await expect
    .poll(async () => (await service())?.metadata.annotations)
    .toMatchObject({
      'service.alpha.openshift.io/serving-cert-secret-name': secretName,
    });
});
