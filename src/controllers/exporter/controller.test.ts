import { expect, onTestFinished, test } from 'vitest';
import { toBase64 } from '#base/bytes.ts';
import { namespaces, secrets, services } from '#kube/resources.ts';
import { settle } from '../../../test/kit/manual-clock.ts';
import { refused } from '../../../test/kit/memory-api.ts';
import { benchNamespace as namespace, sourceBench } from '../../../test/kit/source-bench.ts';
import { exporterController } from './controller.ts';

const annotation = 'service.alpha.openshift.io/serving-cert-secret-name';
const [serviceName, name] = ['windows-exporter', 'windows-machine-config-operator-tls'];
const dayMs = 86_400_000;

function begin({ hasServiceCa = false } = {}) {
  const bench = sourceBench();
  onTestFinished(() => bench[Symbol.asyncDispose]());
  const addServiceCa = () => bench.put(namespaces, { metadata: { name: 'openshift-service-ca' } });
  if (hasServiceCa) void addServiceCa();
  return {
    ...bench,
    addServiceCa,
    service: () => bench.api.peek(services, serviceName, namespace),
    secret: () => bench.api.peek(secrets, name, namespace),
    run: () => bench.start(exporterController(bench.parts)),
  };
}

test('without a service CA makes the Service and a pair', async () => {
  const { run, service, secret, events } = begin();
  await run();
  expect(service()?.metadata.annotations).toBeUndefined();
  expect(Object.keys(secret()?.data ?? {}).sort()).toEqual(['ca.crt', 'tls.crt', 'tls.key']);
  expect(events).toEqual([]);
});

test('with a service CA makes the Service and leaves the pair to it', async () => {
  const { run, service, secret, events } = begin({ hasServiceCa: true });
  await run();
  expect(service()?.metadata.annotations).toEqual({ [annotation]: name });
  expect(secret()).toBeUndefined();
  expect(events).toEqual([]);
});

test('makes both again when a user deletes them', async () => {
  const { run, service, secret, api } = begin();
  await run();
  api.remove(services, serviceName, namespace);
  api.remove(secrets, name, namespace);
  await settle();
  expect([service(), secret()].map(each => each?.metadata.name)).toEqual([serviceName, name]);
});

test('renews its pair in time, and not before', async () => {
  const { run, secret, clock } = begin();
  await run();
  const before = secret()?.data?.['tls.crt'];
  for (let day = 0; day < 480; day += 1) await clock.advance(dayMs);
  expect(secret()?.data?.['tls.crt']).toBe(before);
  for (let day = 0; day < 10; day += 1) await clock.advance(dayMs);
  expect(secret()?.data?.['tls.crt']).not.toBe(before);
});

test('replaces its own pair when a user damages it', async () => {
  const { run, secret, api } = begin();
  await run();
  const made = secret();
  if (made === undefined) throw new Error('no Secret');
  api.put(secrets, { ...made, data: { ...made.data, 'tls.key': toBase64('x') } });
  await settle();
  expect(secret()?.data?.['tls.key']).not.toBe(toBase64('x'));
});

test('reports an unusable pair of another owner once and does not touch it', async () => {
  const bench = begin();
  const { run, secret, api, events } = bench;
  const data = { 'tls.crt': toBase64('x'), 'tls.key': toBase64('planted-key') };
  await bench.put(secrets, { metadata: { name, namespace }, data });
  await run();
  await bench.put(secrets, { metadata: { name, namespace, labels: { a: 'b' } }, data });
  expect(secret()?.data).toEqual(data);
  expect(events).toEqual([
    expect.stringMatching(/^Service\/windows-exporter ExporterCertificateUnusable TLS_PAIR_INVALID: .*tls\.crt/),
  ]);
  expect(events.join()).not.toContain('planted-key');
  expect(api.calls.filter(({ resource }) => resource === 'secrets')).toEqual([]);
});

test('hands over to a service CA that is installed later', async () => {
  const { run, service, secret, addServiceCa } = begin();
  await run();
  expect(secret()).toBeDefined();
  await addServiceCa();
  expect(secret()).toBeUndefined();
  expect(service()?.metadata.annotations).toEqual({ [annotation]: name });
});

test('reports a service CA that issues no pair, after a minute', async () => {
  const { run, events, clock } = begin({ hasServiceCa: true });
  await run();
  await clock.advance(30_000);
  expect(events).toEqual([]);
  await clock.advance(60_000);
  expect(events).toEqual([expect.stringContaining('TLS_PAIR_NOT_ISSUED: the service CA has not issued Secret')]);
});

test('quotes the reason of the service CA at once', async () => {
  const bench = begin({ hasServiceCa: true });
  const { run, events, service } = bench;
  await run();
  const made = service();
  if (made === undefined) throw new Error('no Service');
  const key = 'service.beta.openshift.io/serving-cert-generation-error';
  await bench.put(services, {
    ...made,
    metadata: { ...made.metadata, annotations: { ...made.metadata.annotations, [key]: 'no CA' } },
  });
  expect(events).toEqual([expect.stringMatching(/TLS_PAIR_NOT_ISSUED: .*: no CA\./)]);
});

test('names the manifest when it is not allowed to write the Secret, and retries', async () => {
  const { run, api, events, secret, clock } = begin();
  api.before = ({ verb, resource }) => {
    if (verb === 'create' && resource === 'secrets') throw refused(403, 'Forbidden');
  };
  await run();
  expect(events).toEqual([expect.stringMatching(/TLS_PAIR_NOT_STORED: .*deploy\/rbac\/kubernetes\.yaml/)]);
  api.before = () => undefined;
  await clock.advance(60_000);
  expect(secret()).toBeDefined();
});

const races: [verb: 'create' | 'replace', code: number, reason: string][] = [
  ['create', 409, 'AlreadyExists'],
  ['replace', 409, 'Conflict'],
  ['replace', 404, 'NotFound'],
];
for (const [verb, code, reason] of races) {
  test(`another operator that is faster is no failure: ${verb} ${reason}`, async () => {
    const bench = begin();
    const { run, api, log } = bench;
    if (verb === 'replace') {
      const labels = { 'app.kubernetes.io/managed-by': 'windows-machine-config-operator' };
      await bench.put(secrets, { metadata: { name, namespace, labels } });
    }
    api.before = call => {
      if (call.verb === verb) throw refused(code, reason);
    };
    await run();
    expect(log.messages('error')).toEqual([]);
  });
}
