import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { AppError } from '#base/errors.ts';
import {
  cloudConfigText,
  type ClusterParts,
  controllerConfig,
  credentialProviderText,
  hybridOverlay,
  ignitionFile,
  infrastructure,
  kubeletCaPem,
  kubeletUnit,
  machineConfig,
  networkConfig,
  networkOperator,
  openshiftCluster,
  proxyConfig,
  type PlainObject,
  readObjects,
  registryCaPem,
  trustedCa,
} from '../../test/kit/openshift-objects.ts';
import type { OperatorSettings } from './facts.ts';
import { checkCluster, openshiftFacts } from './openshift.ts';

const settings: OperatorSettings = {
  namespace: 'openshift-windows-machine-config-operator',
  version: '11.0.0-abcdef0',
  debug: false,
  logRotation: { fileSize: '', fileAge: '', flushInterval: '' },
  proxy: {},
};
const behindProxy = { ...settings, proxy: { NO_PROXY: '' } };

const factsOf = (overrides: Partial<ClusterParts>, more: PlainObject[] = [], given = settings) =>
  openshiftFacts(readObjects([...openshiftCluster(overrides), ...more]), given);

test('reads all facts of a healthy cluster', () => {
  expect(factsOf({})).toEqual({
    findings: [],
    facts: {
      platform: 'Azure',
      apiServerUrl: 'https://api-int.east.example.com:6443',
      network: { serviceCidr: '172.30.0.0/16', clusterDns: '172.30.0.10', vxlanPort: '' },
      kubeletArguments: { 'cloud-provider': 'external', 'cloud-config': '/etc/kubernetes/cloud.conf' },
      workerFiles: { '/etc/kubernetes/cloud.conf': cloudConfigText },
      kubeletCa: kubeletCaPem,
      registryBundles: [
        { file: 'mirror.example.com..5000', data: registryCaPem },
        { file: 'image-registry.openshift-image-registry.svc..5000', data: kubeletCaPem },
      ],
      proxy: {},
      trustedCa: undefined,
      reserved: {
        networks: ['172.30.0.0/16', '10.128.0.0/14', '10.132.0.0/14'],
        addresses: [],
        names: ['api.east.example.com', 'api-int.east.example.com'],
        domains: ['apps.east.example.com'],
      },
    },
  });
});

test('reads the credential providers and the VXLAN port of a cluster on AWS', () => {
  const path = '/etc/kubernetes/credential-providers/ecr-credential-provider.yaml';
  const { facts } = factsOf({
    infrastructure: infrastructure('AWS'),
    networkOperator: networkOperator(hybridOverlay({ hybridOverlayVXLANPort: 9898 })),
    machineConfig: machineConfig({ files: [ignitionFile(path, credentialProviderText)] }),
  });
  expect(facts).toMatchObject({
    platform: 'AWS',
    kubeletArguments: {},
    workerFiles: { [path]: credentialProviderText },
  });
  expect(facts?.network.vxlanPort).toBe('9898');
});

test('does not depend on the order of the objects', () => {
  const objects = openshiftCluster();
  expect(openshiftFacts(readObjects(objects.toReversed()), settings)).toEqual(
    openshiftFacts(readObjects(objects), settings),
  );
});

test('REC-03: uses the newest rendered worker config of several', () => {
  const newer = machineConfig({ name: 'rendered-worker-f00', creationTimestamp: '2026-04-01T00:00:00Z' });
  const master = machineConfig({ name: 'rendered-master-f00', creationTimestamp: '2026-05-01T00:00:00Z', unit: '' });
  expect(factsOf({}, [newer, master]).facts).toMatchObject({ kubeletArguments: {}, workerFiles: {} });
});

test('takes the kubelet CA from any ControllerConfig, the bundles from the one of the cluster', () => {
  const own = controllerConfig({
    kubeAPIServerServingCAData: null,
    imageRegistryBundleData: [],
    imageRegistryBundleUserData: [],
  });
  const other = { ...controllerConfig(), metadata: { name: 'another' } };
  expect(factsOf({ controllerConfig: own }, [other]).facts).toMatchObject({
    kubeletCa: kubeletCaPem,
    registryBundles: [],
  });
});

test('needs no APIServer object and no Node for the facts', () => {
  expect(factsOf({ apiServer: null, node: null }).findings).toEqual([]);
});

test('reads the injected bundle only behind a proxy', () => {
  expect(factsOf({}, [trustedCa('BUNDLE')], behindProxy).facts?.trustedCa).toBe('BUNDLE');
  expect(factsOf({}, [trustedCa('BUNDLE')]).facts?.trustedCa).toBeUndefined();
});

const bundleProblems: [name: string, more: PlainObject[], code: string, part: string][] = [
  ['is missing', [], 'OBJECT_MISSING', 'ConfigMap openshift-windows-machine-config-operator/trusted-ca'],
  ['is in another namespace', [trustedCa('B', 'default')], 'OBJECT_MISSING', 'trusted-ca is not among the objects'],
  ['is empty', [trustedCa('\n')], 'FIELD_INVALID', 'data["ca-bundle.crt"] is missing'],
  ['is not filled yet', [trustedCa(undefined)], 'FIELD_INVALID', 'data["ca-bundle.crt"] is missing'],
];
for (const [name, more, code, part] of bundleProblems)
  test(`reports that the bundle behind a proxy ${name}`, () => {
    const { facts, findings } = factsOf({}, more, behindProxy);
    expect(facts).toBeUndefined();
    expect(findings.map(finding => finding.code)).toEqual([code]);
    expect(findings[0]?.message).toContain(part);
    expect(findings[0]?.remedy).not.toBe('');
  });

const noFacts: [name: string, overrides: Partial<ClusterParts>, codes: string[]][] = [
  ['a missing Network config', { networkConfig: null }, ['OBJECT_MISSING']],
  ['a missing operator Network', { networkOperator: null }, ['OBJECT_MISSING']],
  ['a missing Infrastructure', { infrastructure: null }, ['OBJECT_MISSING']],
  ['no MachineConfig', { machineConfig: null }, ['RENDERED_WORKER_MISSING']],
  ['no ControllerConfig', { controllerConfig: null }, ['KUBELET_CA_MISSING', 'OBJECT_MISSING']],
  ['another network type', { networkConfig: networkConfig({ networkType: 'Calico' }) }, ['NETWORK_TYPE_UNSUPPORTED']],
  [
    'an IPv6 service network',
    { networkConfig: networkConfig({ serviceNetwork: ['fd02::/112'] }) },
    ['NETWORK_SERVICE_CIDR_INVALID'],
  ],
  [
    'two problems in one object',
    { networkConfig: networkConfig({ networkType: 'Calico', serviceNetwork: [] }) },
    ['NETWORK_TYPE_UNSUPPORTED', 'NETWORK_SERVICE_CIDR_INVALID'],
  ],
  ['no hybrid overlay', { networkOperator: networkOperator(null) }, ['NETWORK_HYBRID_OVERLAY_MISSING']],
  ['an empty hybrid overlay', { networkOperator: networkOperator({}) }, ['NETWORK_HYBRID_OVERLAY_INVALID']],
  [
    'a bad VXLAN port',
    { networkOperator: networkOperator(hybridOverlay({ hybridOverlayVXLANPort: 0 })) },
    ['NETWORK_HYBRID_OVERLAY_INVALID'],
  ],
  [
    'an Infrastructure without a status',
    { infrastructure: { ...infrastructure('AWS'), status: {} } },
    ['PLATFORM_MISSING', 'API_SERVER_URL_MISSING'],
  ],
  ['a kubelet unit without a command', { machineConfig: machineConfig({ unit: 'x' }) }, ['KUBELET_UNIT_MALFORMED']],
  [
    'an old ignition',
    { machineConfig: machineConfig({ config: { ignition: { version: '2.2.0' } } }) },
    ['IGNITION_MALFORMED'],
  ],
  [
    'a cloud config without a source',
    {
      machineConfig: machineConfig({
        unit: kubeletUnit(['--cloud-config=/etc/kubernetes/cloud.conf']),
        files: [{ path: '/etc/kubernetes/cloud.conf' }],
      }),
    },
    ['IGNITION_MALFORMED'],
  ],
  [
    'a CA in the clear',
    { controllerConfig: controllerConfig({ kubeAPIServerServingCAData: kubeletCaPem }) },
    ['FIELD_INVALID'],
  ],
];
for (const [name, overrides, codes] of noFacts)
  test(`has no facts, but every finding once, with ${name}`, () => {
    const { facts, findings } = factsOf(overrides);
    expect(facts).toBeUndefined();
    expect(findings.map(finding => finding.code)).toEqual(codes);
    for (const finding of findings) expect(finding.remedy).not.toBe('');
  });

test('reports everything at once when there is nothing', () => {
  const { facts, findings } = openshiftFacts([], behindProxy);
  expect(facts).toBeUndefined();
  const commands = findings.map(({ remedy }) => /oc get (\S+)/.exec(remedy)?.[1]);
  expect(commands).toEqual([
    'networks.config.openshift.io',
    'networks.operator.openshift.io',
    'infrastructures.config.openshift.io',
    'machineconfigs.machineconfiguration.openshift.io',
    'controllerconfigs.machineconfiguration.openshift.io',
    'controllerconfigs.machineconfiguration.openshift.io',
    'configmaps',
  ]);
});

/** Replaces some value deep inside the objects by junk, so that readers meet every kind of wrong type at every depth. */
function withJunk(value: unknown, path: readonly number[], junk: unknown): unknown {
  const [step, ...rest] = path;
  if (step === undefined || typeof value !== 'object' || value === null) return junk;
  const keys = Object.keys(value);
  const key = keys[step % Math.max(keys.length, 1)];
  if (key === undefined) return junk;
  const replaced = withJunk((value as PlainObject)[key], rest, junk);
  return Array.isArray(value) ? value.with(Number(key), replaced) : { ...value, [key]: replaced };
}

test('junk anywhere in any object gives findings and failed checks, never a crash', () => {
  const all = [...openshiftCluster(), proxyConfig({ httpProxy: 'http://p', noProxy: '.svc' }), trustedCa('BUNDLE')];
  const place = fc.record({
    object: fc.nat(all.length - 1),
    member: fc.constantFrom('spec', 'status', 'data'),
    path: fc.array(fc.nat(20), { maxLength: 6 }),
    junk: fc.oneof(fc.jsonValue(), fc.constantFrom(undefined, null, '', 0, -1, NaN, {}, [], [null], { a: [] })),
  });
  fc.assert(
    fc.property(fc.array(place, { minLength: 1, maxLength: 4 }), places => {
      const objects = structuredClone(all);
      for (const { object, member, path, junk } of places) {
        const target = objects[object] ?? {};
        target[member] = withJunk(target[member], path, junk);
      }
      const read = readObjects(objects);
      const { facts, findings } = openshiftFacts(read, behindProxy);
      expect(facts === undefined).toBe(findings.length > 0);
      for (const finding of findings) expect(finding).toBeInstanceOf(AppError);
      for (const { ok, error } of checkCluster(read, behindProxy)) expect(error === undefined).toBe(ok);
    }),
    { numRuns: 2000 },
  );
});

test('objects that are nothing but junk give findings, never a crash', () => {
  const identities = openshiftCluster().map(({ apiVersion, kind, metadata }) => ({ apiVersion, kind, metadata }));
  const body = fc.record({ spec: fc.jsonValue(), status: fc.jsonValue(), data: fc.jsonValue() }, { requiredKeys: [] });
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.constantFrom(...identities), body), { maxLength: 8 }), list => {
      const objects = readObjects(list.map(([identity, members]) => ({ ...identity, ...members })));
      expect(openshiftFacts(objects, settings).findings.length).toBeGreaterThan(0);
      expect(checkCluster(objects, settings).length).toBe(13);
    }),
    { numRuns: 2000 },
  );
});
