import { expect, test } from 'vitest';
import { Secret } from '#base/secret.ts';
import type { ClusterFacts } from '#cluster/facts.ts';
import { noReservations } from '#contract/reserved.ts';
import { type FileUse, filesHash, type NodeFilesInput, nodeFiles, settingsFiles } from './files.ts';

const facts: ClusterFacts = {
  platform: 'None',
  apiServerUrl: 'https://api-int.c.example.com:6443',
  network: { serviceCidr: '172.30.0.0/16', clusterDns: '172.30.0.10', vxlanPort: '' },
  kubeletArguments: {},
  workerFiles: {},
  kubeletCa: 'KUBELET CA',
  registryBundles: [{ file: 'r.example.com', data: 'REGISTRY CA' }],
  proxy: {},
  trustedCa: undefined,
  reserved: noReservations,
};
const input: NodeFilesInput = {
  facts,
  bootstrapToken: { ca: 'BOOT CA', token: new Secret('boot-token') },
  agentToken: { ca: 'AGENT CA', token: new Secret('agent-token') },
  tls: { certificate: 'CERT', key: new Secret('tls-private-key') },
  registries: {},
};
const withFacts = (changes: Partial<ClusterFacts>) => nodeFiles({ ...input, facts: { ...facts, ...changes } });
const contentOf = (files: ReturnType<typeof nodeFiles>, path: string) =>
  files.files.find(file => file.path === path)?.content.reveal();

test('a plain node gets these files, in byte order', () => {
  expect(nodeFiles(input).files.map(({ path }) => path)).toEqual([
    'C:\\k\\bootstrap-ca.crt',
    'C:\\k\\bootstrap-kubeconfig',
    'C:\\k\\ca-bundle.crt',
    'C:\\k\\containerd\\containerd_conf.toml',
    'C:\\k\\kubelet-ca.crt',
    'C:\\k\\kubelet.conf',
    'C:\\k\\tls\\certs\\tls.crt',
    'C:\\k\\tls\\certs\\tls.key',
    'C:\\k\\tls\\windows-exporter-webconfig.yaml',
    'C:\\k\\wicd-kubeconfig',
  ]);
});

const contents: [string, string | RegExp][] = [
  ['C:\\k\\bootstrap-ca.crt', /^BOOT CA$/],
  ['C:\\k\\bootstrap-kubeconfig', /"name":"kubelet".*"token":"boot-token"/],
  ['C:\\k\\wicd-kubeconfig', /"name":"wicd".*"token":"agent-token"/],
  ['C:\\k\\ca-bundle.crt', /^# r\.example\.com\nREGISTRY CA\n\n$/],
  ['C:\\k\\kubelet-ca.crt', /^KUBELET CA$/],
  ['C:\\k\\kubelet.conf', /"clusterDNS":\["172\.30\.0\.10"\]/],
  ['C:\\k\\tls\\certs\\tls.crt', /^CERT$/],
  ['C:\\k\\tls\\certs\\tls.key', /^tls-private-key$/],
];
for (const [path, pattern] of contents) {
  test(`${path} holds what belongs there`, () => {
    expect(contentOf(nodeFiles(input), path)).toMatch(pattern);
  });
}

const cloudConfig = '/etc/kubernetes/cloud.conf';
test('a cloud config is written only where the kubelet is told to read it', () => {
  const workerFiles = { [cloudConfig]: '{"a":1}' };
  const asked = withFacts({ kubeletArguments: { 'cloud-config': cloudConfig }, workerFiles });
  expect(contentOf(asked, 'C:\\k\\cloud.conf')).toBe('{"a":1}');
  expect(contentOf(withFacts({ workerFiles }), 'C:\\k\\cloud.conf')).toBeUndefined();
});

test('a cloud config is not written for a kubelet without its flag', () => {
  const kubeletArguments = { 'cloud-config': cloudConfig };
  const written = (kubeletVersion: string) =>
    contentOf(
      withFacts({ kubeletArguments, workerFiles: { [cloudConfig]: 'C' }, kubeletVersion }),
      'C:\\k\\cloud.conf',
    );
  expect([written('v1.33.0'), written('v1.34.0')]).toEqual(['C', undefined]);
});

test('the kubelet configuration depends on the version of the kubelet', () => {
  const written = (kubeletVersion: string) => contentOf(withFacts({ kubeletVersion }), 'C:\\k\\kubelet.conf');
  expect([written('v1.35.0'), written('v1.36.0')].map(text => text?.includes('NodeLogQuery'))).toEqual([true, false]);
});

test('every hosts.toml goes below the registries folder', () => {
  const files = nodeFiles({ ...input, registries: { 'quay.io\\hosts.toml': 'server = "x"\n' } });
  expect(contentOf(files, 'C:\\k\\containerd\\registries\\quay.io\\hosts.toml')).toBe('server = "x"\n');
});

test('what holds a key, a token or a password is marked as sensitive, and nothing else', () => {
  const registries = {
    'open\\hosts.toml': 'server = "x"\n',
    'closed\\hosts.toml': 'authorization = "Basic abc"\n',
  };
  const kubeletArguments = { 'cloud-config': cloudConfig };
  const all = nodeFiles({
    ...input,
    facts: { ...facts, kubeletArguments, workerFiles: { [cloudConfig]: 'secret' } },
    registries,
  });
  expect(all.files.filter(({ sensitive }) => sensitive).map(({ path }) => path)).toEqual([
    'C:\\k\\bootstrap-kubeconfig',
    'C:\\k\\cloud.conf',
    'C:\\k\\containerd\\registries\\closed\\hosts.toml',
    'C:\\k\\tls\\certs\\tls.key',
    'C:\\k\\wicd-kubeconfig',
  ]);
});

test('the kubelet gets the logins of registries where the cluster has some, as Linux nodes do', () => {
  const path = 'C:\\var\\lib\\kubelet\\config.json';
  expect(contentOf(nodeFiles(input), path)).toBeUndefined();
  const files = nodeFiles({ ...input, logins: new Secret('{"auths":{}}') });
  expect(files.files.find(each => each.path === path)).toMatchObject({ sensitive: true, use: 'live' });
  expect(contentOf(files, path)).toBe('{"auths":{}}');
});

test('printing the whole value shows no content', () => {
  const text = JSON.stringify(nodeFiles(input));
  for (const secret of ['boot-token', 'agent-token', 'tls-private-key', 'KUBELET CA'])
    expect(text).not.toContain(secret);
});

test('owns the folders that hold nothing but our files', () => {
  expect(nodeFiles(input).ownedDirectories).toEqual(['C:\\k\\containerd\\registries', 'C:\\k\\tls\\certs']);
});

const salt = new Secret('salt');
const hashes = (over: Partial<NodeFilesInput> = {}) => {
  const { files } = nodeFiles({ ...input, ...over });
  const of = (use: FileUse) =>
    filesHash(
      files.filter(each => each.use === use),
      salt,
    );
  return { live: of('live'), start: of('start') };
};

test('the hash is that of paths and contents, and the same for the same input', () => {
  expect(hashes().live).toMatch(/^[0-9a-f]{32}$/);
  expect(hashes()).toEqual(hashes(structuredCloneOf(input)));
});

test('without the salt nobody can check a guessed password by the hash', () => {
  const { files } = nodeFiles(input);
  expect(filesHash(files, salt)).not.toBe(filesHash(files, new Secret('other')));
});

const changes: [string, Partial<NodeFilesInput>, want: 'live' | 'start' | undefined][] = [
  ['a mirror', { registries: { 'a\\hosts.toml': 'x' } }, 'live'],
  ['the exporter key', { tls: { certificate: 'CERT', key: new Secret('new') } }, 'live'],
  ['the exporter certificate', { tls: { certificate: 'NEW', key: new Secret('tls-private-key') } }, 'live'],
  ['the kubelet CA', { facts: { ...facts, kubeletCa: 'NEW' } }, 'live'],
  ['a registry CA', { facts: { ...facts, registryBundles: [] } }, 'live'],
  ['the proxy CA', { facts: { ...facts, trustedCa: 'PROXY CA' } }, 'live'],
  ['the service network', { facts: { ...facts, network: { ...facts.network, clusterDns: '10.0.0.10' } } }, 'start'],
  [
    'the cloud config',
    {
      facts: {
        ...facts,
        kubeletArguments: { 'cloud-config': cloudConfig },
        workerFiles: { [cloudConfig]: 'C' },
      },
    },
    'start',
  ],
  ['a token, which is no content', { agentToken: { ca: 'AGENT CA', token: new Secret('new') } }, undefined],
  ['a token of the kubelet', { bootstrapToken: { ca: 'BOOT CA', token: new Secret('new') } }, undefined],
];
test.each(changes)('the hashes tell what changes with %s', (_, change, want) => {
  const [before, after] = [hashes(), hashes(change)];
  expect(after.live !== before.live).toBe(want === 'live');
  expect(after.start !== before.start).toBe(want === 'start');
});

test('files of the folders that the operator owns are live', () => {
  const { files, ownedDirectories } = nodeFiles({ ...input, registries: { 'a\\hosts.toml': 'x' } });
  const owned = files.filter(({ path }) => ownedDirectories.some(each => path.startsWith(`${each}\\`)));
  expect(owned.map(({ use }) => use)).toEqual(['live', 'live', 'live']);
});

test('the settings are all files but the credentials', () => {
  const all = nodeFiles(input).files.filter(({ use }) => use !== 'credential');
  expect(settingsFiles(input).files.map(({ path }) => path)).toEqual(all.map(({ path }) => path));
});

test('content that looks like another path gives another hash', () => {
  const one = hashes({ registries: { a: 'b', c: 'd' } });
  const other = hashes({ registries: { a: 'd', c: 'b' } });
  expect(one.live).not.toBe(other.live);
});

function structuredCloneOf(value: NodeFilesInput): NodeFilesInput {
  return { ...value, facts: structuredClone(value.facts), registries: { ...value.registries } };
}
