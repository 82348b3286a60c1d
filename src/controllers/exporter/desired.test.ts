import { expect, test } from 'vitest';
import type { Service } from '#kube/resources.ts';
import { newService, repairOf } from './desired.ts';

const annotation = 'service.alpha.openshift.io/serving-cert-secret-name';
const port = { name: 'metrics', port: 9182, protocol: 'TCP', targetPort: 9182 };

test('the Service is the one of the Go operator', () => {
  expect(newService('wmco', true)).toEqual({
    metadata: {
      name: 'windows-exporter',
      namespace: 'wmco',
      labels: { name: 'windows-exporter' },
      annotations: { [annotation]: 'windows-machine-config-operator-tls' },
    },
    spec: { ports: [port] },
  });
});

test('without a service CA the Service asks for no certificate', () => {
  expect(newService('wmco', false).metadata.annotations).toBeUndefined();
});

const good = newService('wmco', true);
const metadata = { annotations: { [annotation]: 'windows-machine-config-operator-tls' } };
const withSpec = (spec: NonNullable<Service['spec']>): Service => ({ ...good, spec });
const other = { name: 'web', port: 80, protocol: 'TCP', targetPort: 'http' };

const cases: [name: string, service: Service, patch: object | undefined][] = [
  ['keeps a right Service', good, undefined],
  ['keeps fields of others', withSpec({ clusterIP: '172.30.1.1', type: 'ClusterIP', ports: [port, other] }), undefined],
  [
    'keeps annotations of the service CA',
    { ...good, metadata: { ...good.metadata, annotations: { ...good.metadata.annotations, signer: 'x' } } },
    undefined,
  ],
  [
    'restores the label',
    { ...good, metadata: { ...good.metadata, labels: { a: 'b' } } },
    { metadata: { labels: { name: 'windows-exporter' } }, spec: {} },
  ],
  ['restores the annotation', { ...good, metadata: { labels: { name: 'windows-exporter' } } }, { metadata, spec: {} }],
  ['restores a deleted port', withSpec({ ports: [other] }), { metadata: {}, spec: { ports: [other, port] } }],
  [
    'restores a changed port',
    withSpec({ ports: [{ ...port, targetPort: 1 }, other] }),
    { metadata: {}, spec: { ports: [other, port] } },
  ],
  ['removes a selector', withSpec({ ports: [port], selector: { a: 'b' } }), { metadata: {}, spec: { selector: null } }],
];
for (const [name, service, patch] of cases) test(name, () => expect(repairOf(service, true)).toEqual(patch));

test('without a service CA neither adds nor removes the annotation', () => {
  expect(repairOf(good, false)).toBeUndefined();
  expect(repairOf(newService('wmco', false), false)).toBeUndefined();
});
