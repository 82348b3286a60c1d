import { expect, test } from 'vitest';
import { maxReportBytes, reportName } from '#contract/agent-report.ts';
import type { Client } from '#kube/client.ts';
import type { KubeResource, WatchEvent } from '#kube/resource.ts';
import { type ConfigMap, configMaps, type Node, nodes, type SecretObject } from '#kube/resources.ts';
import { type MachineConfig, machineConfigs, networkConfigs } from '#kube/resources-openshift.ts';
import {
  cloudConfigText,
  ignitionFile,
  kubeletUnit,
  machineConfig,
  openshiftCluster,
  readObjects,
} from '../../test/kit/openshift-objects.ts';
import { benchSettings } from '../../test/kit/fixed-facts.ts';
import { openshiftFacts } from './openshift.ts';
import { maxRequestCharacters } from '#contract/csr-request.ts';
import { signer } from '#contract/names.ts';
import { credentialIdKey } from '#contract/token-id.ts';
import { slimClient, slimConfigMap, slimRequest, slimMachineConfig, slimNode, slimSecret } from './slim.ts';

const node: Node = {
  metadata: { name: 'n', annotations: { a: 'b' } },
  spec: { taints: [{ key: 'k', effect: 'NoSchedule' }] },
  status: Object.assign(
    { addresses: [{ type: 'InternalIP', address: '10.0.0.1' }], conditions: [{ type: 'Ready', status: 'True' }] },
    { images: [{ names: ['big'] }], volumesInUse: ['v'], volumesAttached: [{ name: 'v' }] },
  ),
};

test('leaves images and volumes of a Node out, and nothing else', () => {
  expect(slimNode(node)).toEqual({
    ...node,
    status: { addresses: node.status?.addresses, conditions: node.status?.conditions },
  });
});

test('does not touch the Node it was given', () => {
  const before = structuredClone(node);
  slimNode(node);
  expect(node).toEqual(before);
});

test.each([[{ metadata: { name: 'n' } }], [{ metadata: { name: 'n' }, status: 'odd' }]])(
  'leaves a Node without a usable status as it is: %j',
  odd => expect(slimNode(odd as unknown as Node)).toEqual(odd),
);

const files = [
  ignitionFile('/etc/kubernetes/cloud.conf', cloudConfigText),
  ignitionFile('/etc/big', 'x'.repeat(50_000)),
  ignitionFile('/etc/kubernetes/credential-providers/ecr-credential-provider.yaml', 'providers: []\n'),
];
const rendered = machineConfig({
  unit: kubeletUnit(['--cloud-provider=external', '--cloud-config=/etc/kubernetes/cloud.conf']),
  files,
}) as unknown as MachineConfig;

test('keeps of a rendered worker config what Windows nodes share', () => {
  const slim = slimMachineConfig(rendered);
  expect(JSON.stringify(slim).length).toBeLessThan(JSON.stringify(rendered).length / 10);
  expect(slim.spec).toEqual({
    config: {
      ignition: { version: '3.5.0' },
      systemd: { units: [expect.objectContaining({ name: 'kubelet.service' })] },
      storage: { files: [files[0], files[2]] },
    },
  });
  expect(slim.metadata).toEqual(rendered.metadata);
});

test('reads the same facts from slim objects as from whole ones', () => {
  const objects = openshiftCluster();
  const slim = objects.map(object =>
    object['kind'] === 'MachineConfig' ? slimMachineConfig(object as unknown as MachineConfig) : object,
  );
  const whole = openshiftFacts(readObjects(objects), benchSettings);
  expect(whole.findings).toEqual([]);
  expect(openshiftFacts(readObjects(slim as unknown as typeof objects), benchSettings)).toEqual(whole);
});

test('knows of any other config only that it is there', () => {
  const other = { ...rendered, metadata: { name: 'rendered-master-1' } };
  expect(slimMachineConfig(other)).toMatchObject({ metadata: { name: 'rendered-master-1' }, spec: {} });
});

const odd: [name: string, spec: unknown][] = [
  ['no spec', undefined],
  ['no config', {}],
  ['a config that is a text', { config: '{"ignition":{}}' }],
  ['no units', { config: { ignition: {}, storage: { files: [] } } }],
  ['no files', { config: { ignition: {}, systemd: { units: [] } } }],
];
for (const [name, spec] of odd) {
  test(`leaves a rendered config with ${name} to the reader`, () => {
    const object = { metadata: { name: 'rendered-worker-1' }, spec } as MachineConfig;
    expect(slimMachineConfig(object)).toEqual(object);
  });
}

test('passes over entries that are none, and over lists that are none', () => {
  const config = { ignition: {}, systemd: { units: [null, 'x', { name: 'kubelet.service' }] }, storage: { files: 7 } };
  const object = { metadata: { name: 'rendered-worker-1' }, spec: { config } } as unknown as MachineConfig;
  expect(slimMachineConfig(object).spec?.config).toMatchObject({
    systemd: { units: [{ name: 'kubelet.service' }] },
    storage: { files: 7 },
  });
});

const report = (data: Record<string, string>, more: object = {}): ConfigMap => ({
  metadata: { name: reportName('win-1'), namespace: 'wmco' },
  data,
  ...more,
});
const full = { version: 'v1', remarks: 'x'.repeat(maxReportBytes - 'versionv1remarks'.length) };

const reports: [name: string, given: ConfigMap, want: ConfigMap][] = [
  ['keeps a report of the largest size', report(full), report(full)],
  ['drops the data of a larger one', report({ ...full, a: '' }), report({})],
  ['counts keys, too', report({ ['k'.repeat(maxReportBytes + 1)]: '' }), report({})],
  [
    'keeps of binary data that there was some',
    report({ a: 'b' }, { binaryData: { big: 'AAAA' } }),
    report({ a: 'b' }, { binaryData: {} }),
  ],
  ['keeps that a report is immutable', report({}, { immutable: true }), report({}, { immutable: true })],
  [
    'leaves other ConfigMaps alone, whatever their size',
    { ...report({ a: 'x'.repeat(50_000) }), metadata: { name: 'windows-instances' } },
    { ...report({ a: 'x'.repeat(50_000) }), metadata: { name: 'windows-instances' } },
  ],
];
for (const [name, given, want] of reports) test(name, () => expect(slimConfigMap(given)).toEqual(want));

test('a report that is too large never comes to the cache', async () => {
  const { client } = serverOf([report({ a: 'x'.repeat(maxReportBytes) })]);
  expect((await client.list(configMaps)).items).toEqual([report({})]);
  const [first] = await Array.fromAsync(client.watch(configMaps, {}));
  expect(first?.object).toEqual(report({}));
});

/** A server whose every list and watch gives these objects. */
function serverOf(objects: readonly KubeResource[]) {
  const asked: unknown[] = [];
  const client = {
    list: async (_: unknown, options: unknown) => {
      asked.push(options);
      return { metadata: { resourceVersion: '7', continue: 'more' }, items: objects };
    },
    watch: async function* watch(_: unknown, options: unknown) {
      asked.push(options);
      for (const object of objects) yield { type: 'MODIFIED', object };
      yield { type: 'BOOKMARK', object: { metadata: { resourceVersion: '9' } } };
    },
  } as unknown as Pick<Client, 'list' | 'watch'>;
  return { client: slimClient(client), asked };
}

test('forgets the token that never expires, and nothing else of Secrets', () => {
  const secret = (name: string): SecretObject => ({ metadata: { name }, type: 't', data: { token: 'eA==' } });
  expect(slimSecret(secret('windows-instance-config-daemon'))).toEqual({
    metadata: { name: 'windows-instance-config-daemon' },
    type: 't',
  });
  expect(slimSecret(secret('cloud-private-key'))).toEqual(secret('cloud-private-key'));
});

test('slims pages, and keeps what goes with them', async () => {
  const { client, asked } = serverOf([node]);
  expect(await client.list(nodes, { limit: 5 })).toEqual({
    metadata: { resourceVersion: '7', continue: 'more' },
    items: [slimNode(node)],
  });
  expect(asked).toEqual([{ limit: 5 }]);
});

test('slims what watches tell, and lets bookmarks through', async () => {
  const { client } = serverOf([rendered]);
  const events: WatchEvent<MachineConfig>[] = await Array.fromAsync(client.watch(machineConfigs, {}));
  expect(events).toEqual([
    { type: 'MODIFIED', object: slimMachineConfig(rendered) },
    { type: 'BOOKMARK', object: { metadata: { resourceVersion: '9' } } },
  ]);
});

test.each([[configMaps], [networkConfigs], [{ ...nodes, group: 'other.example.com' }]])(
  'leaves other resources alone: %j',
  async resource => {
    const { client } = serverOf([node]);
    expect((await client.list(resource)).items[0]).toBe(node);
    const [first] = await Array.fromAsync(client.watch(resource, {}));
    expect(first?.object).toBe(node);
  },
);

const spec = {
  request: 'x'.repeat(maxRequestCharacters),
  signerName: signer.apiClient,
  usages: ['client auth'],
  username: 'u',
  groups: ['g'],
  expirationSeconds: 600,
};
const meta = { name: 'csr-1', uid: 'u-1', resourceVersion: '5', creationTimestamp: '2026-03-01T12:00:00Z' };
const verdict = { conditions: [{ type: 'Approved', status: 'True' }], certificate: 'Y2VydA==' };

test('keeps of a request what it is judged by', () => {
  const extra = { [credentialIdKey]: ['JTI=1'] };
  const slim = { apiVersion: 'v1', kind: 'X', metadata: meta, spec: { ...spec, extra }, status: verdict };
  expect(slimRequest(slim)).toEqual(slim);
  const more = { annotations: { a: 'b' }, labels: { c: 'd' }, managedFields: [{}], finalizers: ['f'] };
  const conditions = verdict.conditions.map(each => ({ ...each, message: 'm', reason: 'r' }));
  const fat = { ...slim, metadata: { ...meta, ...more }, status: { ...verdict, conditions } };
  expect(slimRequest({ ...fat, spec: { ...spec, extra: { ...extra, other: ['x'] } } })).toEqual(slim);
  expect(slimRequest({ metadata: meta, spec: { ...spec, extra: { other: ['x'] } } })).toEqual({ metadata: meta, spec });
});

test('keeps no certificates but those of agents', () => {
  const kubelet = { ...spec, signerName: signer.kubeletClient };
  const { conditions } = verdict;
  expect(slimRequest({ metadata: meta, spec: kubelet, status: verdict }).status).toEqual({ conditions });
});

test('keeps no request that no reader would take, and lets it be refused for its length', () => {
  const long = (sign: string) =>
    slimRequest({ metadata: meta, spec: { ...spec, request: sign.repeat(90_000) } }).spec.request;
  expect(long('x')).toHaveLength(maxRequestCharacters + 1);
  expect(long('x')).toBe(long('y'));
});
