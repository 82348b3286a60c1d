import { expect, test } from 'vitest';
import { toBase64 } from '#base/bytes.ts';
import { configMapName } from '#contract/names.ts';
import type { KubeResource, Resource } from '#kube/resource.ts';
import { configMaps, serviceCidrs } from '#kube/resources.ts';
import * as openshift from '#kube/resources-openshift.ts';
import { benchSettings } from '../../test/kit/fixed-facts.ts';
import { clusterInfo, serviceCidr } from '../../test/kit/kubeadm-objects.ts';
import { manualClock } from '../../test/kit/manual-clock.ts';
import {
  controllerConfig,
  infrastructure,
  kubeletCaPem,
  machineConfig,
  openshiftCluster,
  type PlainObject,
  proxyConfig,
  registryCaPem,
  trustedCa,
} from '../../test/kit/openshift-objects.ts';
import { benchNamespace } from '../../test/kit/source-bench.ts';
import { WatchedApi } from '../../test/kit/watched-api.ts';
import { discoveryObject } from './discovery-objects.ts';
import { kubernetesSource, openshiftResources, openshiftSource } from './facts-source.ts';

const resources = Object.values(openshift).filter((each): each is Resource => typeof each === 'object');

function put(api: WatchedApi, object: PlainObject): void {
  const [group] = String(object['apiVersion']).split('/');
  const resource = [...resources, configMaps].find(
    each => each.kind === object['kind'] && (each.group === group || each.group === ''),
  );
  if (resource !== undefined) api.put(resource, object as unknown as KubeResource);
}

/** A cluster with these objects, and where facts about it come from. */
function setUpWith(objects: readonly PlainObject[], { proxy = {}, serves = () => true }: Partial<SetUpOptions> = {}) {
  const api = new WatchedApi(manualClock());
  for (const object of objects) put(api, object);
  const source = openshiftSource(api.informers, { ...benchSettings, proxy }, serves);
  return { api, source };
}

interface SetUpOptions {
  proxy: Record<string, string>;
  serves: (resource: Resource) => boolean;
}

test('reads the facts of a healthy OpenShift cluster', () => {
  const { facts, findings } = setUpWith(openshiftCluster()).source.read();
  expect(findings).toEqual([]);
  expect(facts).toMatchObject({
    platform: 'Azure',
    apiServerUrl: 'https://api-int.east.example.com:6443',
    network: { serviceCidr: '172.30.0.0/16' },
    kubeletArguments: { 'cloud-provider': 'external' },
    kubeletCa: kubeletCaPem,
    trustedCa: undefined,
  });
});

test('gives the same value until something changes, and another one then', () => {
  const { api, source } = setUpWith(openshiftCluster());
  const before = source.read();
  expect(source.read()).toBe(before);
  put(api, infrastructure('GCP'));
  expect(source.read()).not.toBe(before);
  expect(source.read().facts?.platform).toBe('GCP');
});

const changes: [name: string, change: (api: WatchedApi) => void, want: object][] = [
  ['a new platform', api => put(api, infrastructure('AWS')), { facts: { platform: 'AWS' } }],
  [
    'a newer worker config',
    api => put(api, machineConfig({ name: 'rendered-worker-new', creationTimestamp: '2027-01-01T00:00:00Z' })),
    { facts: { kubeletArguments: {} } },
  ],
  [
    'the end of the worker config',
    api => api.remove(openshift.machineConfigs, 'rendered-worker-5d0c8f8b'),
    { facts: undefined, findings: [{ code: 'RENDERED_WORKER_MISSING' }] },
  ],
  [
    'a ControllerConfig without CA',
    api => put(api, controllerConfig({ kubeAPIServerServingCAData: undefined })),
    { facts: undefined, findings: [{ code: 'KUBELET_CA_MISSING' }] },
  ],
];
for (const [name, change, want] of changes) {
  test(`reports ${name}`, () => {
    const { api, source } = setUpWith(openshiftCluster());
    let told = 0;
    source.onChange(() => (told += 1));
    change(api);
    expect(told).toBeGreaterThan(0);
    expect(source.read()).toMatchObject(want);
  });
}

test('reports no one who does not want to be told any more', () => {
  const { api, source } = setUpWith(openshiftCluster());
  let told = 0;
  const end = source.onChange(() => (told += 1));
  end();
  put(api, infrastructure('AWS'));
  expect(told).toBe(0);
});

test('is not disturbed by objects of other names', () => {
  const { api, source } = setUpWith(openshiftCluster());
  let told = 0;
  source.onChange(() => (told += 1));
  api.put(openshift.infrastructures, { metadata: { name: 'other' } });
  api.put(configMaps, { metadata: { name: configMapName.trustedCa, namespace: 'other' } });
  expect(told).toBe(0);
});

const proxy = { HTTPS_PROXY: 'http://proxy:3128' };
const bundles: [name: string, bundle: PlainObject | undefined, want: object][] = [
  ['its bundle', trustedCa('bundle', benchNamespace), { facts: { trustedCa: 'bundle' } }],
  ['that it has not come yet', trustedCa(undefined, benchNamespace), { findings: [{ code: 'FIELD_INVALID' }] }],
  ['that there is none', undefined, { findings: [{ code: 'OBJECT_MISSING' }] }],
  ['that of another namespace is none', trustedCa('bundle', 'other'), { findings: [{ code: 'OBJECT_MISSING' }] }],
];
for (const [name, bundle, want] of bundles) {
  test(`reports a cluster with a proxy ${name}`, () => {
    const { source } = setUpWith([...openshiftCluster(), ...(bundle ? [bundle] : [])], { proxy });
    expect(source.read()).toMatchObject(want);
  });
}

const on = { httpProxy: 'http://user:sesame@proxy:3128', noProxy: '.svc' };

test('PRX-01, PRX-04: follows the Proxy of the cluster, whatever the environment of the operator says', () => {
  const { api, source } = setUpWith([...openshiftCluster(), trustedCa('bundle', benchNamespace)], { proxy });
  expect(source.read().facts?.proxy).toEqual(proxy);
  put(api, proxyConfig(on));
  expect(source.read().facts).toMatchObject({
    proxy: { HTTP_PROXY: on.httpProxy, NO_PROXY: '.svc' },
    trustedCa: 'bundle',
  });
  put(api, proxyConfig());
  expect(source.read().facts).toMatchObject({ proxy: {}, trustedCa: undefined });
  api.remove(openshift.proxyConfigs, 'cluster');
  expect(source.read().facts?.proxy).toEqual(proxy);
});

test('CA-01: a proxy that is switched on counts when its bundle is there, and hosts join as before until then', () => {
  const { api, source } = setUpWith([...openshiftCluster(), proxyConfig()]);
  expect(source.read().facts).toMatchObject({ proxy: {}, trustedCa: undefined });
  put(api, proxyConfig(on));
  expect(source.read().facts).toMatchObject({ proxy: {}, trustedCa: undefined });
  put(api, trustedCa(undefined, benchNamespace));
  expect(source.read().facts).toMatchObject({ proxy: {}, trustedCa: undefined });
  put(api, trustedCa('bundle', benchNamespace));
  expect(source.read().facts).toMatchObject({ proxy: { HTTP_PROXY: on.httpProxy }, trustedCa: 'bundle' });
});

test('CA-01, CA-03: a bundle that goes away is kept until the next one is injected', () => {
  const { api, source } = setUpWith([...openshiftCluster(), proxyConfig(on), trustedCa('one', benchNamespace)]);
  expect(source.read().facts?.trustedCa).toBe('one');
  api.remove(configMaps, configMapName.trustedCa, benchNamespace);
  put(api, proxyConfig({ ...on, noProxy: '.other' }));
  expect(source.read().facts).toMatchObject({ proxy: { NO_PROXY: '.other' }, trustedCa: 'one' });
  put(api, trustedCa('', benchNamespace));
  expect(source.read().facts?.trustedCa).toBe('one');
  put(api, trustedCa('two', benchNamespace));
  expect(source.read().facts?.trustedCa).toBe('two');
});

test('CA-04, CA-05: follows the kubelet CA of the ControllerConfig', () => {
  const { api, source } = setUpWith(openshiftCluster());
  put(api, controllerConfig({ kubeAPIServerServingCAData: toBase64(`${kubeletCaPem}${registryCaPem}`) }));
  expect(source.read().facts?.kubeletCa).toBe(`${kubeletCaPem}${registryCaPem}`);
});

test('watches only what the server has', () => {
  const asked: string[] = [];
  const api = new WatchedApi(manualClock());
  const informers = {
    get: ((resource: Resource, scope: object) => {
      asked.push(`${resource.plural}.${resource.group} ${JSON.stringify(scope)}`);
      return api.informers.get(resource, scope);
    }) as typeof api.informers.get,
  };
  openshiftSource(informers, benchSettings, ({ plural }) => plural !== 'machineconfigs');
  expect(asked).toEqual([
    'infrastructures.config.openshift.io {"fieldSelector":"metadata.name=cluster"}',
    'networks.config.openshift.io {"fieldSelector":"metadata.name=cluster"}',
    'networks.operator.openshift.io {"fieldSelector":"metadata.name=cluster"}',
    'apiservers.config.openshift.io {"fieldSelector":"metadata.name=cluster"}',
    'proxies.config.openshift.io {"fieldSelector":"metadata.name=cluster"}',
    'controllerconfigs.machineconfiguration.openshift.io {}',
    `configmaps. {"namespace":"${benchNamespace}","fieldSelector":"metadata.name=trusted-ca"}`,
  ]);
  expect(openshiftResources).toHaveLength(7);
});

test('shows the objects themselves with their kind', () => {
  const kinds = setUpWith(openshiftCluster())
    .source.objects()
    .map(({ kind, apiVersion }) => `${apiVersion} ${kind}`);
  expect(kinds).toContain('config.openshift.io/v1 APIServer');
  expect(kinds).toContain('operator.openshift.io/v1 Network');
  expect(kinds).not.toContain('v1 Node');
});

const description = { apiServerURL: 'https://api:6443', serviceCIDR: '10.96.0.0/16' };
const place = { namespace: benchNamespace };
const rootCa = { metadata: { name: 'kube-root-ca.crt', ...place }, data: { 'ca.crt': kubeletCaPem } };

/** A cluster other than OpenShift, all objects of which can be read. */
function setUpKubernetes(denied: string[] = []) {
  const api = new WatchedApi(manualClock());
  const { clusterInfo: info, serviceCidr: cidr } = discoveryObject;
  const readable = [info, cidr].map(({ versions: [resource], ...scope }) => ({ resource, ...scope }));
  const source = kubernetesSource(api.informers, benchSettings, {
    readable: denied.length > 0 ? [] : readable,
    denied,
  });
  return { api, source, codes: () => source.read().findings.map(({ code }) => code) };
}

test('reads windows-cluster and the CA of the cluster, and follows both', () => {
  const { api, source, codes } = setUpKubernetes();
  expect(codes()).toEqual(['CLUSTER_UNDESCRIBED', 'KUBELET_CA_MISSING']);
  api.put(configMaps, { metadata: { name: 'windows-cluster', ...place }, data: description });
  expect(codes()).toEqual(['KUBELET_CA_MISSING']);
  api.put(configMaps, rootCa);
  expect(source.read()).toMatchObject({ findings: [], facts: { kubeletCa: kubeletCaPem } });
  api.remove(configMaps, 'windows-cluster', benchNamespace);
  expect(codes()).toEqual(['CLUSTER_UNDESCRIBED']);
});

test('follows the objects of a cluster without windows-cluster', () => {
  const { api, source, codes } = setUpKubernetes();
  api.put(configMaps, rootCa);
  let changes = 0;
  source.onChange(() => (changes += 1));
  api.put(serviceCidrs, serviceCidr(['10.96.0.0/12']) as unknown as KubeResource);
  expect([changes, codes()]).toEqual([1, ['CLUSTER_UNDESCRIBED']]);
  api.put(configMaps, clusterInfo('https://lb:6443') as unknown as KubeResource);
  expect(source.read().facts).toMatchObject({ apiServerUrl: 'https://lb:6443', network: { clusterDns: '10.96.0.10' } });
  api.put(configMaps, clusterInfo('https://other:6443') as unknown as KubeResource);
  expect(source.read().facts?.apiServerUrl).toBe('https://other:6443');
  api.put(configMaps, { metadata: { name: 'windows-cluster', ...place }, data: description });
  expect(source.read().facts?.apiServerUrl).toBe('https://api:6443');
  expect(changes).toBeGreaterThan(3);
});

test('ignores windows-cluster and the CA of another namespace', () => {
  const { api, codes } = setUpKubernetes();
  api.put(configMaps, { metadata: { name: 'windows-cluster', namespace: 'other' }, data: description });
  api.put(configMaps, { ...rootCa, metadata: { name: 'kube-root-ca.crt', namespace: 'other' } });
  expect(codes()).toEqual(['CLUSTER_UNDESCRIBED', 'KUBELET_CA_MISSING']);
});

test('reports objects that the operator is not allowed to read', () => {
  const { source } = setUpKubernetes(['ConfigMap kube-public/cluster-info']);
  expect(source.read().findings[0]).toMatchObject({
    code: 'CLUSTER_UNDESCRIBED',
    message: expect.stringContaining('permission denied for ConfigMap kube-public/cluster-info'),
  });
});
