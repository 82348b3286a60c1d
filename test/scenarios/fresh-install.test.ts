import { X509Certificate } from 'node:crypto';
import { expect, test } from 'vitest';
import { textFromBase64 } from '../../src/base/bytes.ts';
import { configMapName, exporterService, secretName } from '../../src/contract/names.ts';
import { configMaps, events, secrets, services } from '../../src/kube/resources.ts';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { startOperator } from '../kit/sandbox-operator.ts';

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
