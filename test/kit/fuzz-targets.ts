import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AppError, attempt } from '../../src/base/errors.ts';
import { Fields } from '../../src/base/fields.ts';
import { printPem, scanPem } from '../../src/base/pem.ts';
import { Secret } from '../../src/base/secret.ts';
import { serviceCidrSources } from '../../src/cluster/discovery.ts';
import { readWorkerFiles } from '../../src/cluster/ignition-files.ts';
import { readKubeletArguments, readWorkerConfig } from '../../src/cluster/ignition.ts';
import { kubeletArguments } from '../../src/cluster/kubelet-unit.ts';
import { linesOf, readKeyLine, readKeyWord } from '../../src/contract/authorized-keys.ts';
import { parseHeader, preambleBytes, printHeader, readPreamble } from '../../src/contract/bundle.ts';
import { parseCertificateRequest } from '../../src/contract/csr-request.ts';
import { resolveInstances, usernameForNode } from '../../src/contract/instances.ts';
import { parseInventory } from '../../src/contract/inventory.ts';
import { readNode } from '../../src/contract/node.ts';
import { readObject } from '../../src/contract/object.ts';
import { service } from '../../src/contract/services/manifest.ts';
import { parseManifest } from '../../src/contract/services/parse.ts';
import { printManifest } from '../../src/contract/services/print.ts';
import { parsePrivateKey } from '../../src/host/keys/private-key.ts';
import { parseAuthorizedKey } from '../../src/host/keys/public-key.ts';
import { openUsername } from '../../src/host/keys/username-seal.ts';
import { evaluateJsonPath } from '../../src/kube/jsonpath/evaluate.ts';
import { parseJsonPath } from '../../src/kube/jsonpath/parse.ts';
import { jsonPathText } from './json-path-text.ts';
import { parseKubeconfig, resolveContext } from '../../src/kube/config/kubeconfig.ts';
import { kubeletConfig } from '../../src/node/desired/kubelet-config.ts';
import { kubeletSettingsFor, readKubeletProfiles } from '../../src/node/desired/kubelet-settings.ts';
import { registryFiles } from '../../src/node/desired/registries/registries.ts';
import { parseManifest as parseImageManifest } from '../../src/payload/fetch/manifest.ts';
import type { Row } from '../conformance/row.ts';
import { requestInfo, signInfo } from './csr.ts';
import { kubeadmText } from './kubeadm-objects.ts';
import { maxInputLength } from './mutate.ts';
import { ignitionFile, kubeletUnit, machineConfig } from './openshift-objects.ts';

/** A parser with valid inputs. `run` returns whether it accepts an input; AppErrors count as a rejection, bugs are thrown. */
export interface FuzzTarget {
  name: string;
  seeds: readonly string[];
  /** Inputs are cut at this length. */
  maxLength: number;
  run(this: void, input: string): boolean;
}

const json = JSON.stringify;

/** Every parser of text from outside the operator. */
export const fuzzTargets: readonly FuzzTarget[] = [
  target('windows-instances', instanceSeeds(), input => {
    const data = configMapData(input);
    const answers = { 'win-1.example.com': '10.0.0.2', 'win-2': null, ...data };
    const nodes = [readNode(readObject(node))];
    resolveInstances(data, answers, nodes);
    usernameForNode(data, 'win-1', { '10.0.0.1': 'win-1' });
  }),
  {
    ...target('kubelet settings', kubeletSeeds(), input => {
      const { profiles, problems } = readKubeletProfiles({ input }, 'ConfigMap');
      kubeletConfig('10.96.0.10', undefined, kubeletSettingsFor(profiles, { pool: 'large' }).settings);
      for (const problem of problems) throw problem;
    }),
    maxLength: 2500,
  },
  target('services ConfigMap', servicesSeeds(), input => parseManifest(configMapData(input))),
  target('mirror sets', mirrorSeeds(), input => {
    const fields = new Fields(parseJson(input), 'input');
    const objects = fields
      .objects('objects')
      .map((_, index) => readObject((fields.raw('objects') as unknown[])[index]));
    registryFiles(objects, new Secret(fields.string('pullSecret') ?? ''));
  }),
  target('CSR in PEM', requests(), input => parseCertificateRequest(input)),
  target('CSR in DER', requests().map(derOf), input =>
    parseCertificateRequest(printPem('CERTIFICATE REQUEST', bytes(input))),
  ),
  // Signed after the damage: only so it comes to what is behind the signature.
  target('CSR signed again', requestInfos(), input =>
    parseCertificateRequest(printPem('CERTIFICATE REQUEST', signInfo(bytes(input)))),
  ),
  target('ignition', ignitionSeeds(), input => {
    const config = readWorkerConfig(readObject(parseJson(input)));
    readWorkerFiles(config, readKubeletArguments(config));
  }),
  target('kubelet unit', [kubeletUnit(), kubeletUnit(['--cloud-provider=', '"--cloud-config=/a b"'])], input =>
    kubeletArguments(input),
  ),
  target('username annotation', sealed(), input => openUsername(input, 'secret key')),
  target('username message', sealed().map(messageOf), input => openUsername(bytes(input).toBase64(), 'secret key')),
  // The YAML library takes microseconds for each character, which is all right for a file of the administrator.
  { ...target('kubeconfig', kubeconfigSeeds(), input => resolveContext(parseKubeconfig(input))), maxLength: 2500 },
  { ...target('kubeadm-config', kubeadmSeeds(), readSubnet), maxLength: 2500 },
  target('private key in PEM', privateKeys(), input => parsePrivateKey(input)),
  target('private key in DER', privateKeys().map(typedDerOf), input => {
    const [type = '', ...rest] = input.split('\n');
    parsePrivateKey(printPem(type, bytes(rest.join('\n'))));
  }),
  target('public key', publicKeys(), input => parseAuthorizedKey(input)),
  target('authorized_keys', publicKeys(), input => linesOf(input).map(readKeyLine)),
  target('word of a public key', publicKeyWords(), input => {
    if (readKeyWord(input) === undefined) throw new AppError('USAGE', 'no key', { remedy: '' });
  }),
  target('JSONPath', jsonPathSeeds(), input => {
    jsonPathText(input, node);
    evaluateJsonPath(parseJsonPath(input), node);
  }),
  target('bundle header', bundleSeeds(), input => parseHeader(bytes(input))),
  target('bundle', bundleSeeds().map(framed), input => {
    const whole = bytes(input);
    parseHeader(whole.subarray(preambleBytes, preambleBytes + readPreamble(whole.subarray(0, preambleBytes))));
  }),
  target('inventory', inventorySeeds(), input => parseInventory(input, '10.0.0.1')),
  target('image manifest', imageSeeds(), input =>
    parseImageManifest(bytes(input), 'image', why => new AppError('USAGE', why, { remedy: '' })),
  ),
];

function target(name: string, seeds: readonly string[], parse: (input: string) => unknown): FuzzTarget {
  return { name, seeds, maxLength: maxInputLength, run: input => attempt(() => parse(input)).ok };
}

function imageSeeds(): string[] {
  const blob = { digest: `sha256:${'a'.repeat(64)}`, size: 5 };
  const platform = { os: 'windows', architecture: 'amd64' };
  return [{ config: blob, layers: [blob, blob] }, { manifests: [{ ...blob, platform }] }].map(each => json(each));
}

/** Text that is not JSON does not count: the API server never sends it. */
function parseJson(input: string): unknown {
  try {
    return JSON.parse(input);
  } catch {
    return undefined;
  }
}

function configMapData(input: string): Record<string, string> {
  return new Fields({ data: parseJson(input) }, 'ConfigMap').stringMap('data');
}

/** Bytes travel through the mutations as text with one character for each. */
function bytes(text: string): Uint8Array {
  return Buffer.from(text, 'latin1');
}

function latin1(content: Uint8Array): string {
  return Buffer.from(content).toString('latin1');
}

const node = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'win-1', annotations: { 'k8s.ovn.org/hybrid-overlay-node-subnet': '10.132.0.0/24' } },
  spec: { taints: [{ key: 'os', effect: 'NoSchedule' }] },
  status: {
    capacity: { cpu: 4, memory: '16Gi' },
    addresses: [
      { type: 'InternalIP', address: '10.0.0.1' },
      { type: 'Hostname', address: 'win-1' },
    ],
  },
};

function kubeletSeeds(): string[] {
  const eviction = {
    evictionSoft: { 'memory.available': '1Gi' },
    evictionSoftGracePeriod: { 'memory.available': '2m' },
  };
  return [
    'priority: 10\nselector:\n  pool: large\nkubelet:\n  maxPods: 100\n  systemReserved: {cpu: 1, memory: 4Gi}\n',
    json({ kubelet: { imageGCHighThresholdPercent: 70, imageGCLowThresholdPercent: 60, ...eviction } }),
    'kubelet: {containerLogMaxSize: 10Mi, imageMaximumGCAge: 168h, serializeImagePulls: true}',
  ];
}

function instanceSeeds(): string[] {
  return [
    json({ '10.0.0.1': 'username=Administrator' }),
    json({ '10.0.0.1': 'username=core\n', 'win-1.example.com': 'username=CORP\\user', 'win-2': 'username=a@b' }),
  ];
}

function servicesSeeds(): string[] {
  const variable = { name: 'NODE_NAME', jsonPath: '{.metadata.name}' };
  const services = [
    service({ name: 'containerd', command: 'C:\\k\\containerd.exe', bootstrap: true }),
    service({
      name: 'kube-proxy',
      command: 'kube-proxy.exe --node NODE_NAME',
      nodeVariables: [variable],
      preScripts: [{ variable: 'V', path: 'network-conf.ps1 NODE_NAME', args: [variable] }],
      hostVariables: [{ name: 'NODE_IP', source: 'nodeIP' }],
      prepare: [{ kind: 'defender-exclusion', arguments: { path: 'C:\\k' } }],
      dependencies: ['containerd', 'vmcompute'],
      priority: 3,
    }),
  ];
  const files = [{ path: 'C:\\k\\a.ps1', checksum: '00' }];
  const manifest = { services, files, environment: { NO_PROXY: 'a,b' }, watchedEnvironment: ['NO_PROXY'] };
  return [json({ services: '[]', files: '[]' }), json(printManifest(manifest))];
}

function mirrorSeeds(): string[] {
  const mirrors = ['mirror.example.com:5000/redhat', 'other.example.com'];
  const set = (kind: string, list: string, entries: object[]) => ({
    apiVersion: 'config.openshift.io/v1',
    kind,
    metadata: { name: 'mirrors' },
    spec: { [list]: entries },
  });
  const objects = [
    set('ImageDigestMirrorSet', 'imageDigestMirrors', [{ source: 'registry.redhat.io/ubi9', mirrors }]),
    set('ImageTagMirrorSet', 'imageTagMirrors', [
      { source: 'docker.io', mirrors, mirrorSourcePolicy: 'NeverContactSource' },
      { source: '*.example.com', mirrors: [] },
    ]),
    {
      apiVersion: 'config.openshift.io/v1',
      kind: 'Image',
      metadata: { name: 'cluster' },
      spec: {
        registrySources: {
          insecureRegistries: ['a.io:5000'],
          blockedRegistries: ['*.b.io'],
          allowedRegistries: ['c.io/d'],
        },
      },
    },
  ];
  const auths = {
    'mirror.example.com:5000': { auth: 'dXNlcjpwYXNz' },
    'https://index.docker.io/v1/': { username: 'user', password: 'pass' },
  };
  return [json({ objects, pullSecret: json({ auths }) }), json({ objects: [], pullSecret: '{"auths":{}}' })];
}

function ignitionSeeds(): string[] {
  const files = [
    ignitionFile('/etc/kubernetes/cloud.conf', '{"cloud":"AzurePublicCloud"}'),
    ignitionFile('/etc/kubernetes/credential-providers/ecr-credential-provider.yaml', 'providers: []'),
    { path: '/etc/plain', contents: { source: 'data:,a%20b', compression: 'gzip' } },
  ];
  const unit = kubeletUnit(['--cloud-provider=external', '--cloud-config=/etc/kubernetes/cloud.conf']);
  return [json(machineConfig({ unit, files })), json(machineConfig())];
}

function readSubnet(config: string): void {
  const objects = [readObject(kubeadmText(config))];
  for (const source of serviceCidrSources) source.read(objects);
}

function kubeadmSeeds(): string[] {
  const networking = { podSubnet: '10.244.0.0/16', serviceSubnet: '10.96.0.0/12,fd00::/108' };
  return [json({ kind: 'ClusterConfiguration', networking }), 'networking:\n  serviceSubnet: 10.96.0.0/12\n'];
}

function kubeconfigSeeds(): string[] {
  const cluster = {
    server: 'https://api.example.com:6443',
    'certificate-authority-data': 'Y2E=',
    'proxy-url': 'http://p',
  };
  const exec = {
    apiVersion: 'client.authentication.k8s.io/v1',
    command: 'login',
    args: ['-x'],
    env: [{ name: 'A', value: 'b' }],
  };
  const config = {
    'current-context': 'admin',
    clusters: [{ name: 'east', cluster }],
    users: [{ name: 'me', user: { token: 't', 'client-key-data': 'a2V5', exec } }],
    contexts: [{ name: 'admin', context: { cluster: 'east', user: 'me', namespace: 'wmco' } }],
  };
  const yaml =
    'current-context: admin\nclusters:\n- name: east\n  cluster: &c\n    server: https://api.example.com\n' +
    'contexts:\n- name: admin\n  context: {cluster: east, user: "me"}\nusers:\n- name: me\n  user:\n    token: |\n      abc\n';
  return [json(config), yaml];
}

function bundleSeeds(): string[] {
  const sizes = { sha256: 'ab'.repeat(32), bytes: 12, packedBytes: 12, secret: false };
  const entries = [
    { path: 'C:\\k\\kubelet.exe', encoding: 'none', ...sizes },
    { path: 'C:\\k\\bootstrap-kubeconfig', encoding: 'zstd', ...sizes, packedBytes: 9, secret: true },
  ];
  return [
    json({ format: 1, version: '11.0.0-1', entries, remove: ['C:\\k\\old.exe'] }),
    json({ format: 1, version: '11.0.0-1', entries: [], remove: [] }),
  ];
}

/** The header as it stands at the beginning of a bundle. */
function framed(header: string): string {
  return latin1(printHeader(parseHeader(bytes(header))));
}

function inventorySeeds(): string[] {
  const short = {
    agentVersion: '11.0.0-1',
    hostName: 'win-1',
    fqdn: 'win-1.example.com',
    os: { product: 'Windows Server 2022 Datacenter', build: '10.0.20348.2700', installationType: 'Server Core' },
    bootId: 'b-1',
    containersFeature: 'enabled',
    time: '2026-03-01T12:00:00.000Z',
  };
  const full = {
    ...short,
    pendingReboot: ['Windows Update'],
    adapters: [{ name: 'Ethernet', mac: '00-15-5d-aa-bb-cc', addresses: ['10.0.0.5/24'], isUp: true }],
    isAdministrator: true,
    portsInUse: [9182, 10250],
    services: [{ name: 'kubelet', state: 'running', command: 'kubelet.exe', isManaged: true }],
    files: { 'C:\\k\\kubelet.exe': 'ab'.repeat(32) },
    bundles: { ['cd'.repeat(32)]: 12 },
    networks: [{ name: 'OVNKubernetesHybridOverlayNetwork', subnets: ['10.0.0.0/24'], managementIp: '10.0.0.2' }],
    freeBytes: 1e12,
    certificateExpires: '2026-03-01T13:00:00.000Z',
    probe: { url: 'https://api:6443', clockAheadMs: -1500, problem: 'refused' },
    problems: ['networks: access denied'],
  };
  return [json(short), json(full)];
}

function jsonPathSeeds(): string[] {
  return [
    '{.metadata.name}',
    String.raw`{.metadata.annotations.k8s\.ovn\.org/hybrid-overlay-node-subnet}`,
    '{.status.addresses[?(@.type=="InternalIP")].address}',
    '{range .status.addresses[*]}{.type}={.address}{"\\n"}{end}',
    "{..address} {.status.addresses[0,-1].type} {.spec['taints'][0:1:1].key} C:\\k\\kubeconfig",
    '{.status.addresses[?(@.address)].type}{.status.capacity.*}',
  ];
}

/** The keys, requests and annotations of the conformance rows: made once, so that every run has the same seeds. */
function rowsOf(area: string, op: string): Row[] {
  const file = join(import.meta.dirname, '..', 'conformance', 'rows', `${area}.json`);
  return (JSON.parse(readFileSync(file, 'utf8')) as Row[]).filter(row => row.op === op);
}

function texts(area: string, op: string, member: string): string[] {
  return rowsOf(area, op).flatMap(row => (typeof row.input[member] === 'string' ? [row.input[member]] : []));
}

function requests(): string[] {
  return rowsOf('csr-validation', 'checkCertificateContent').map(row => row.input.request.pem as string);
}

function requestInfos(): string[] {
  const serving = { dnsNames: ['win1', 'win1.example.com'], ips: [[10, 0, 0, 1]] };
  return [{}, serving, { ...serving, emails: ['a@b.c'], uris: ['spiffe://x/y'] }].map(content =>
    latin1(requestInfo(content)),
  );
}

function privateKeys(): string[] {
  return texts('nodeconfig', 'publicKeyHash', 'privateKeyPem');
}

function publicKeys(): string[] {
  return texts('nodeconfig', 'publicKeyHash', 'authorizedKey').map(text => text.trim());
}

function publicKeyWords(): string[] {
  return publicKeys().map(text => Buffer.from(parseAuthorizedKey(text).blob).toString('base64url'));
}

function sealed(): string[] {
  return rowsOf('crypto', 'decrypt').flatMap(row =>
    row.input.key === 'secret key' ? [row.input.ciphertext as string] : [],
  );
}

function derOf(pem: string): string {
  return latin1(scanPem(pem).blocks[0]?.der ?? new Uint8Array());
}

function typedDerOf(pem: string): string {
  return `${scanPem(pem).blocks[0]?.type ?? ''}\n${derOf(pem)}`;
}

/** The message in the armor: frame, line ends and checksum taken off. */
function messageOf(annotation: string): string {
  const lines = annotation.replaceAll('<wmcoMarker>', '\n').split('\n');
  return latin1(Uint8Array.fromBase64(lines.filter(line => !/^(-|=|$)/.test(line)).join('')));
}
