import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { toBase64 } from '#base/bytes.ts';
import type { ClusterFacts } from '#cluster/facts.ts';
import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { file } from '#contract/paths.ts';
import { publicKeyHash } from '#host/keys/public-key.ts';
import { openUsername } from '#host/keys/username-seal.ts';
import type { Resource } from '#kube/resource.ts';
import { configMaps, type SecretObject, secrets } from '#kube/resources.ts';
import { imageDigestMirrorSets, imageTagMirrorSets } from '#kube/resources-openshift.ts';
import type { HostInputs } from '../lifecycle/deps.ts';
import { fixedFacts, unknownFacts } from '../../../test/kit/fixed-facts.ts';
import { newPrivateKey } from '../../../test/kit/new-private-key.ts';
import { rejectionOf } from '../../../test/kit/outcome.ts';
import { benchNamespace as namespace, benchVersion as version, sourceBench } from '../../../test/kit/source-bench.ts';
import { hostInputSource, permissions } from './host-inputs.ts';
import { type RunSettings, defaultSettings } from '#operator/settings.ts';

const { signal } = new AbortController();
const instance = (spec: Partial<WindowsInstance['spec']> = {}): WindowsInstance => ({
  metadata: { name: 'win-1', namespace },
  spec: { address: '10.0.0.5', username: 'Administrator', ...spec },
});
const pem = newPrivateKey();

interface Wishes {
  kind: 'openshift' | 'kubernetes';
  facts: ReturnType<typeof fixedFacts>;
  settings: Partial<RunSettings>;
  serves: (resource: Resource) => boolean;
}

/** A cluster that has everything a host needs. */
function setUp({ kind = 'openshift', facts = fixedFacts(), settings = {}, serves = () => true }: Partial<Wishes> = {}) {
  const bench = sourceBench();
  const { api, parts } = bench;
  const putSecret = (where: string, name: string, data: Record<string, string>): SecretObject =>
    api.put(secrets, {
      metadata: { name, namespace: where },
      data: Object.fromEntries(Object.entries(data).map(([key, text]) => [key, toBase64(text)])),
    });
  const putMap = (name: string, data: Record<string, string>) =>
    api.put(configMaps, { metadata: { name, namespace }, data });
  putSecret(namespace, 'cloud-private-key', { 'private-key.pem': pem });
  putSecret(namespace, 'windows-machine-config-operator-tls', { 'tls.crt': 'tls cert', 'tls.key': 'tls key' });
  putSecret('openshift-config', 'pull-secret', {
    '.dockerconfigjson': '{"auths":{"mirror.example.com":{"auth":"Ym9iOnMzY3JldA=="}}}',
  });
  putMap('kube-root-ca.crt', { 'ca.crt': 'cluster ca' });
  putMap(`windows-services-${version}`, {});
  const bootstrapper = kind === 'openshift' ? 'openshift-machine-config-operator' : namespace;
  const tokens: [path: string, token: string][] = [
    [`/api/v1/namespaces/${bootstrapper}/serviceaccounts/node-bootstrapper/token`, 'kubelet-token'],
    [`/api/v1/namespaces/${namespace}/serviceaccounts/windows-instance-config-daemon/token`, 'agent-token'],
  ];
  for (const [path, token] of tokens) api.paths.set(path, { status: { token } });
  const source = hostInputSource({
    ...parts,
    facts,
    settings: { ...defaultSettings({ namespace, version }), ...settings },
    kind,
    serves,
  });
  const bring = (spec: Partial<WindowsInstance['spec']> = {}) => source.prepareInputs(instance(spec), signal);
  return { ...bench, source, bring, putSecret, putMap };
}

const textOf = ({ files: { files } }: HostInputs, path: string) =>
  files.find(each => each.path === path)?.content.reveal();

test('brings what hosts need', async () => {
  const inputs = await setUp().bring();
  expect(inputs).toMatchObject({
    version,
    namespace,
    platform: 'None',
    apiServerUrl: 'https://api-int.example.com:6443',
    vxlanPort: fixedFacts().read().facts?.network.vxlanPort,
    publicKeyHash: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
  expect(inputs.agentLogMegabytes).toBeUndefined();
  expect(textOf(inputs, file.bootstrapCa)).toBe('cluster ca');
  expect(textOf(inputs, file.bootstrapKubeconfig)).toContain('"token":"kubelet-token"');
  expect(textOf(inputs, file.agentKubeconfig)).toContain('"token":"agent-token"');
  expect(textOf(inputs, file.tlsKey)).toBe('tls key');
  expect(textOf(inputs, file.kubeletCa)).toBe('kubelet-ca');
});

const jwt = (jti: string) => `e30.${Buffer.from(JSON.stringify({ jti })).toString('base64url')}.c2ln`;

const tokenPath = (where: string, account: string) => `/api/v1/namespaces/${where}/serviceaccounts/${account}/token`;

test('reports ids and ends of the tokens, so that they are recorded before the host gets them', async () => {
  const { bring, api } = setUp();
  const [kubelet, agent] = ['2026-03-01T13:00:00Z', '2026-03-01T14:00:00Z'];
  const answer = (jti: string, expirationTimestamp: string) => ({ status: { token: jwt(jti), expirationTimestamp } });
  api.paths.set(tokenPath('openshift-machine-config-operator', 'node-bootstrapper'), answer('one', kubelet));
  api.paths.set(tokenPath(namespace, 'windows-instance-config-daemon'), answer('two', agent));
  expect((await bring()).tokens).toEqual([
    { id: 'JTI=one', use: 'kubelet', expires: kubelet },
    { id: 'JTI=two', use: 'agent', expires: agent },
  ]);
  expect(api.calls.filter(({ verb }) => verb === 'patch')).toEqual([]);
});

test('reports nothing of tokens without id, as clusters before 1.30 issue them', async () => {
  expect((await setUp().bring()).tokens).toEqual([]);
});

test('gives agents certificates for as long as is set, and hosts no name of the cluster', async () => {
  const reserved = { networks: ['172.30.0.0/16'], addresses: [], names: [], domains: [] };
  const facts = fixedFacts({ reserved });
  const inputs = await setUp({ facts, settings: { certificateLifetime: '72h' } }).bring();
  expect(inputs).toMatchObject({ certificateLifetime: '72h', reserved });
});

test('seals user names with the key', async () => {
  const inputs = await setUp().bring();
  expect(openUsername(inputs.sealUsername('Administrator'), pem)).toBe('Administrator');
});

test('reports the agent how large its logs may grow, where that is set', async () => {
  const logRotation = { fileSize: '100Mi', fileAge: '', flushInterval: '' };
  expect((await setUp({ settings: { logRotation } }).bring()).agentLogMegabytes).toBe(105);
});

test('takes facts, certificates and mirrors as they are at the moment', async () => {
  const facts = fixedFacts();
  const { bring, putSecret, api } = setUp({ facts });
  const before = await bring();
  facts.become({ kubeletCa: 'new ca' });
  putSecret(namespace, 'windows-machine-config-operator-tls', { 'tls.crt': 'c2', 'tls.key': 'k2' });
  api.put(imageDigestMirrorSets, {
    metadata: { name: 'm' },
    spec: { imageDigestMirrors: [{ source: 'quay.io', mirrors: ['mirror.example.com'] }] },
  });
  const after = await bring();
  expect(textOf(after, file.kubeletCa)).toBe('new ca');
  expect(textOf(after, file.tlsCertificate)).toBe('c2');
  const registry = 'C:\\k\\containerd\\registries\\quay.io\\hosts.toml';
  expect([textOf(before, registry), textOf(after, registry)]).toEqual([
    undefined,
    expect.stringContaining('Basic Ym9i'),
  ]);
  expect(after.settings.liveHash).not.toBe(before.settings.liveHash);
});

test('takes tag mirrors too, and leaves out what is no mirror with a warning', async () => {
  const { bring, api, log } = setUp();
  const mirrors = [
    { source: 'docker.io/library', mirrors: ['mirror.example.com/hub'] },
    { source: '*.example.com', mirrors: ['mirror.example.com'] },
  ];
  api.put(imageTagMirrorSets, { metadata: { name: 'm' }, spec: { imageTagMirrors: mirrors } });
  const inputs = await bring();
  expect(inputs.files.files.filter(({ path }) => path.endsWith('hosts.toml'))).toHaveLength(1);
  expect(log.messages('warn')).toEqual(['A registry setting is not used']);
});

test('needs neither mirrors nor a pull secret where the cluster has no such things', async () => {
  const { bring } = setUp({ kind: 'kubernetes', serves: () => false });
  const inputs = await bring();
  expect(textOf(inputs, file.bootstrapKubeconfig)).toContain('kubelet-token');
});

test('on OpenShift the pull secret is not needed without mirrors', async () => {
  const { bring, api } = setUp();
  const paths = (inputs: Awaited<ReturnType<typeof bring>>) => inputs.files.files.map(({ path }) => path);
  const before = paths(await bring());
  api.remove(secrets, 'pull-secret', 'openshift-config');
  expect(paths(await bring())).toEqual(before);
});

const missing: [name: string, remove: (made: ReturnType<typeof setUp>) => void, code: string, message: string][] = [
  [
    'the key',
    made => made.api.remove(secrets, 'cloud-private-key', namespace),
    'PRIVATE_KEY_MISSING',
    'cloud-private-key',
  ],
  [
    'the certificate of the exporter',
    made => made.api.remove(secrets, 'windows-machine-config-operator-tls', namespace),
    'MATERIAL_MISSING',
    'windows-machine-config-operator-tls',
  ],
  [
    'its key',
    made => void made.putSecret(namespace, 'windows-machine-config-operator-tls', { 'tls.crt': 'x' }),
    'SECRET_KEY_MISSING',
    'tls.key',
  ],
  [
    'the services ConfigMap',
    made => made.api.remove(configMaps, `windows-services-${version}`, namespace),
    'MATERIAL_MISSING',
    `ConfigMap ${namespace}/windows-services-${version}`,
  ],
  ['a pull secret that can be read', breakPullSecret, 'PULL_SECRET_MALFORMED', 'pull'],
];
for (const [name, remove] of missing) {
  test(`reads the facts of hosts although ${name} is missing, and requests nothing`, () => {
    const made = setUp();
    remove(made);
    made.api.calls.length = 0;
    expect(made.source.readFacts()).toMatchObject({ version, platform: expect.any(String) });
    expect(made.api.calls).toEqual([]);
  });
}

for (const [name, remove, code, message] of missing) {
  test(`reports that ${name} is missing`, async () => {
    const made = setUp();
    remove(made);
    const error = await rejectionOf(made.bring());
    expect(error).toMatchObject({ code, remedy: expect.stringMatching(/\.$/) });
    expect(error?.message).toContain(message);
  });
}

function breakPullSecret({ putSecret, api }: ReturnType<typeof setUp>): void {
  putSecret('openshift-config', 'pull-secret', { '.dockerconfigjson': 'planted' });
  api.put(imageDigestMirrorSets, {
    metadata: { name: 'm' },
    spec: { imageDigestMirrors: [{ source: 'quay.io', mirrors: ['mirror.example.com'] }] },
  });
}

test('reports what is wrong with the cluster, and how much more', async () => {
  const error = await rejectionOf(setUp({ facts: unknownFacts() }).bring());
  expect(error).toMatchObject({ code: 'RENDERED_WORKER_MISSING', message: 'no config' });
  const facts = fixedFacts();
  const [finding] = unknownFacts().read().findings;
  if (finding === undefined) throw new Error('no finding');
  facts.read = () => ({ facts: undefined as ClusterFacts | undefined, findings: [finding, finding, finding] });
  expect((await rejectionOf(setUp({ facts }).bring()))?.message).toBe(
    'no config (and 2 more problems with the cluster)',
  );
});

test('makes no token before it knows that everything else is there', async () => {
  const { bring, api } = setUp();
  api.remove(secrets, 'windows-machine-config-operator-tls', namespace);
  await rejectionOf(bring());
  expect(api.calls).toEqual([]);
});

test('connects with the present key and the one before it', async () => {
  const { source, putSecret } = setUp();
  const before = await source.loadKeys(instance(), signal);
  const other = newPrivateKey();
  putSecret(namespace, 'cloud-private-key', { 'private-key.pem': other });
  const after = await source.loadKeys(instance(), signal);
  expect([before, after].map(keys => keys.map(({ pem: text }) => text.reveal()))).toEqual([[pem], [other, pem]]);
});

test('goes on with the key that a host accepted while the Secret has something else, and has no current key then', async () => {
  const { source, putSecret } = setUp();
  const [key] = await source.loadKeys(instance(), signal);
  if (key === undefined) throw new Error('no key');
  putSecret(namespace, 'cloud-private-key', { 'private-key.pem': 'planted' });
  const hash = publicKeyHash(key.publicKey);
  const reached: WindowsInstance = { ...instance(), status: { key: { hash, former: [] } } };
  expect((await source.loadKeys(reached, signal)).map(({ pem: text }) => text.reveal())).toEqual([pem]);
  expect([source.keyProblem?.(reached)?.code, source.currentKeyHash?.(reached)]).toEqual([
    'PRIVATE_KEY_UNREADABLE',
    undefined,
  ]);
  expect(source.keyProblem?.(instance({ keySecret: { name: 'own' } }))).toBeUndefined();
  expect((await source.prepareInputs(reached, signal)).publicKeyHash).toBe(hash);
  const error = await rejectionOf(source.loadKeys(instance(), signal).then(() => undefined));
  expect(error).toMatchObject({ code: 'PRIVATE_KEY_UNREADABLE' });
});

test('connects with a key of its own where the instance has one', async () => {
  const { source, bring, putSecret, api } = setUp();
  const own = newPrivateKey();
  putSecret(namespace, 'rack-7', { id_ed25519: own, 'private-key.pem': newPrivateKey() });
  const spec = { keySecret: { name: 'rack-7', key: 'id_ed25519' } };
  const keys = await source.loadKeys(instance(spec), signal);
  expect(keys.map(({ pem: text }) => text.reveal())).toEqual([own]);
  expect(api.calls.at(-1)).toMatchObject({ verb: 'get', name: 'rack-7', namespace });
  const inputs = await bring(spec);
  expect(openUsername(inputs.sealUsername('x'), own)).toBe('x');
});

const ownKeys: [name: string, data: Record<string, string> | undefined, key: string | undefined, code: string][] = [
  ['is missing', undefined, undefined, 'PRIVATE_KEY_MISSING'],
  ['has no key', {}, undefined, 'PRIVATE_KEY_MISSING'],
  ['has no key under that name', { 'private-key.pem': pem }, 'other', 'PRIVATE_KEY_MISSING'],
  ['has something else', { 'private-key.pem': 'planted' }, undefined, 'PRIVATE_KEY_UNREADABLE'],
];
for (const [name, data, key, code] of ownKeys) {
  test(`reports that the Secret of an instance ${name}`, async () => {
    const { source, putSecret } = setUp();
    if (data !== undefined) putSecret(namespace, 'rack-7', data);
    const keySecret = { name: 'rack-7', ...(key !== undefined && { key }) };
    const error = await rejectionOf(source.loadKeys(instance({ keySecret }), signal).then(() => undefined));
    expect(error).toMatchObject({ code });
    expect(error?.message).not.toContain('planted');
  });
}

test('shows nothing secret when printed', async () => {
  const inputs = await setUp().bring();
  const shown = `${inspect(inputs, { depth: 9 })}${JSON.stringify(inputs)}`;
  for (const secret of ['kubelet-token', 'agent-token', 'tls key', 'PRIVATE KEY']) expect(shown).not.toContain(secret);
});

test('reads one Secret only outside its own namespace', () => {
  const others = permissions.filter(
    ({ in: place, resources }) => typeof place === 'object' && resources.includes('secrets'),
  );
  expect(others.map(({ names }) => names)).toEqual([['pull-secret']]);
});
