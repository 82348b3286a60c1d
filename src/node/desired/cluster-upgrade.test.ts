import { expect, test } from 'vitest';
import { toBase64 } from '#base/bytes.ts';
import { Secret } from '#base/secret.ts';
import { openshiftFacts } from '#cluster/openshift.ts';
import { printManifest } from '#contract/services/print.ts';
import { benchSettings } from '../../../test/kit/fixed-facts.ts';
import {
  apiServer,
  type ClusterParts,
  cloudConfigText,
  controllerConfig,
  hybridOverlay,
  ignitionFile,
  infrastructure,
  kubeletCaPem,
  kubeletUnit,
  machineConfig,
  networkConfig,
  networkOperator,
  openshiftCluster,
  type PlainObject,
  proxyConfig,
  readObjects,
  registryCaPem,
  trustedCa,
} from '../../../test/kit/openshift-objects.ts';
import { nodeFiles } from './files.ts';
import { servicesManifest } from './services.ts';

/** What an upgrade of the cluster, or its administrator, changes, and what hosts get from it. */

const cloud = ['--cloud-provider=external', '--cloud-config=/etc/kubernetes/cloud.conf'];
const cloudFile = (text: string) => ignitionFile('/etc/kubernetes/cloud.conf', text);

/** A newer rendered config; the old one stays, as in a cluster. */
function rendered(options: string[], text = cloudConfigText, files: PlainObject[] = []): PlainObject {
  return machineConfig({
    name: 'rendered-worker-next',
    creationTimestamp: '2027-01-01T00:00:00Z',
    unit: kubeletUnit(options),
    files: [cloudFile(text), ...files],
  });
}

/** The content for a host of a kubelet that still reads a cloud config. */
function contentOf(overrides: Partial<ClusterParts>, more: PlainObject[]): Map<string, string> {
  const settings = { ...benchSettings, kubeletVersion: 'v1.33.0' };
  const objects = readObjects([
    ...openshiftCluster({
      machineConfig: machineConfig({ unit: kubeletUnit(cloud), files: [cloudFile(cloudConfigText)] }),
      ...overrides,
    }),
    ...more,
  ]);
  const { facts, findings } = openshiftFacts(objects, settings);
  if (facts === undefined) throw new Error(findings.map(({ message }) => message).join('; '));
  const account = { ca: 'CA', token: new Secret('token') };
  const { files } = nodeFiles({
    facts,
    bootstrapToken: account,
    agentToken: account,
    tls: { certificate: 'CERT', key: new Secret('key') },
    registries: {},
  });
  return new Map([
    ['services', JSON.stringify(printManifest(servicesManifest(facts, settings)))],
    ...files.map(({ path, content }) => [path.replace('C:\\k\\', ''), content.reveal()] as const),
  ]);
}

const network = (spec: PlainObject) => ({ networkConfig: networkConfig(spec) });
const changes: [name: string, overrides: Partial<ClusterParts>, more: PlainObject[], changed: string[]][] = [
  ['a new rendered config with the same content', {}, [rendered(cloud)], []],
  [
    'a new rendered config with other files and kubelet flags of Linux',
    {},
    [rendered([...cloud, '--system-reserved=cpu=1'], cloudConfigText, [ignitionFile('/etc/motd', 'hello')])],
    [],
  ],
  ['another cloud provider', {}, [rendered(['--cloud-provider=azure', cloud[1] ?? ''])], ['services']],
  ['a kubelet without a cloud config', {}, [rendered(['--cloud-provider=external'])], ['cloud.conf', 'services']],
  ['another cloud config', {}, [rendered(cloud, '{"cloud":"AzureUSGovernment"}\n')], ['cloud.conf']],
  [
    'a credential provider',
    {},
    [
      rendered(cloud, cloudConfigText, [
        ignitionFile('/etc/kubernetes/credential-providers/ecr-credential-provider.yaml', 'providers: []\n'),
      ]),
    ],
    ['credential-provider-config.yaml'],
  ],
  [
    'CA-04: another kubelet CA',
    { controllerConfig: controllerConfig({ kubeAPIServerServingCAData: toBase64(`${kubeletCaPem}${registryCaPem}`) }) },
    [],
    ['kubelet-ca.crt'],
  ],
  [
    'CA-03: another CA of an image registry',
    { controllerConfig: controllerConfig({ imageRegistryBundleUserData: [] }) },
    [],
    ['ca-bundle.crt'],
  ],
  [
    'a field of the ControllerConfig that Windows nodes do not need',
    { controllerConfig: controllerConfig({ osImageURL: 'quay.io/openshift/os@sha256:01' }) },
    [],
    [],
  ],
  [
    'another TLS profile, which counts only for the metrics of the operator',
    {
      apiServer: apiServer({ tlsSecurityProfile: { type: 'Modern', modern: {} }, tlsAdherence: 'StrictAllComponents' }),
    },
    [],
    [],
  ],
  ['another service network', network({ serviceNetwork: ['10.40.0.0/16'] }), [], ['kubelet.conf', 'services']],
  ['another cluster network', network({ clusterNetwork: [{ cidr: '10.200.0.0/14', hostPrefix: 23 }] }), [], []],
  [
    'another port of the overlay',
    { networkOperator: networkOperator(hybridOverlay({ hybridOverlayVXLANPort: 9898 })) },
    [],
    ['services'],
  ],
  [
    'another address of the API server',
    { infrastructure: infrastructure('Azure', { apiServerInternalURI: 'https://api-int.west.example.com:6443' }) },
    [],
    ['bootstrap-kubeconfig', 'cloud-node-manager-kubeconfig', 'services', 'wicd-kubeconfig'],
  ],
  ['a Proxy that is off', {}, [proxyConfig()], []],
  [
    'PRX-01, CA-03: a proxy',
    {},
    [proxyConfig({ httpsProxy: 'http://proxy:3128' }), trustedCa('BUNDLE', benchSettings.namespace)],
    ['ca-bundle.crt', 'services'],
  ],
  ['PRX-04: a bundle without a proxy', {}, [trustedCa('BUNDLE', benchSettings.namespace)], []],
];
for (const [name, overrides, more, changed] of changes) {
  test(`${name} changes ${changed.join(', ') || 'nothing'}`, () => {
    const [before, after] = [contentOf({}, []), contentOf(overrides, more)];
    const paths = [...new Set([...before.keys(), ...after.keys()])];
    expect(paths.filter(path => before.get(path) !== after.get(path)).toSorted()).toEqual(changed);
  });
}
