import { X509Certificate } from 'node:crypto';
import { expect, test } from 'vitest';
import { textFromBase64 } from '../../src/base/bytes.ts';
import { configMapName, exporterService, secretName } from '../../src/contract/names.ts';
import { configMaps, events, secrets, serviceCidrs, services } from '../../src/kube/resources.ts';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { administratorOf, startOperator } from '../kit/sandbox-operator.ts';

/** A private key and one entry are all that a user creates. */

const clusters = [
  ['openshift', 'the service CA', true],
  ['kubernetes', 'the operator', false],
] as const;

for (const [kind, issuer, isOwned] of clusters) {
  test(`on ${kind} a private key and one entry give a Ready host with a pair of ${issuer}`, async () => {
    await using sandbox = await startSandbox({ kind, hosts: 1, speed: 10 });
    await using operator = startOperator(sandbox);
    const { client } = operator;
    const { namespace } = sandbox;
    await operator.allReady(1);

    const maps = (await client.list(configMaps, { namespace })).items.map(({ metadata }) => metadata.name);
    expect(maps).toContain(configMapName.instances);
    expect(maps).not.toContain('windows-cluster');
    const service = await client.get(services, exporterService.name, { namespace });
    expect(service).toMatchObject({ metadata: { labels: { name: 'windows-exporter' } } });
    expect(service.spec?.selector).toBeUndefined();
    const secret = await client.get(secrets, secretName.tls, { namespace });
    expect(secret.metadata.ownerReferences !== undefined).toBe(isOwned);
    const certificate = new X509Certificate(textFromBase64(secret.data?.['tls.crt'] ?? '') ?? '');
    expect(certificate.checkHost(`windows-exporter.${namespace}.svc`)).toBeDefined();

    const [host] = sandbox.hosts;
    const onHost = await host?.files.read('C:\\k\\tls\\certs\\tls.crt');
    expect(onHost).toBe(textFromBase64(secret.data?.['tls.crt'] ?? ''));
    const warnings = (await client.list(events, { namespace: '' })).items.filter(({ type }) => type !== 'Normal');
    expect(warnings.map(({ reason, message }) => `${reason}: ${message}`)).toEqual([]);
  }, 120_000);
}

test('on kubernetes the EndpointSlice of the API server and kubeadm-config are enough', async () => {
  await using sandbox = await startSandbox({ kind: 'kubernetes', hosts: 1, speed: 10 });
  await using admin = administratorOf(sandbox);
  await admin.client.delete(configMaps, 'cluster-info', { namespace: 'kube-public' });
  await admin.client.delete(serviceCidrs, 'kubernetes');
  await admin.client.delete(services, 'kube-dns', { namespace: 'kube-system' });
  await using operator = startOperator(sandbox);
  await operator.allReady(1);
  const line = operator.lines.find(each => each.includes('Discovered cluster')) ?? '{}';
  expect(JSON.parse(line)).toMatchObject({
    apiServerUrl: sandbox.url,
    clusterDns: '172.30.0.10',
    origins: {
      apiServerUrl: 'EndpointSlice default/kubernetes',
      serviceCidr: 'ConfigMap kube-system/kubeadm-config',
      clusterDns: 'tenth address of the service network',
    },
  });
}, 120_000);
