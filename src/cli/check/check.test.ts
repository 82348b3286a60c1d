import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  infrastructure,
  networkConfig,
  networkOperator,
  openshiftCluster,
} from '../../../test/kit/openshift-objects.ts';
import { repositoryRoot, runWmco } from '../../../test/kit/run-wmco.ts';

const example = (name: string) => join(repositoryRoot, 'examples', name);
const list = (...items: readonly unknown[]) => JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
const check = (what: string, stdin: string, words: readonly string[] = []) =>
  runWmco(['check', what, '-f', '-', ...words], stdin);
const instances = (data: Record<string, string>) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'windows-instances', namespace: 'openshift-windows-machine-config-operator' },
  data,
});
const node = (name: string, ...addresses: string[]) => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, labels: { 'kubernetes.io/os': 'windows' } },
  status: { addresses: addresses.map(address => ({ type: 'InternalIP', address })) },
});

interface EntryLine {
  address: string;
  ok: boolean;
  username?: string;
  node?: string;
  error?: { code: string; remedy: string };
}

async function entries(data: Record<string, string>, ...more: unknown[]): Promise<EntryLine[]> {
  return JSON.parse((await check('instances', list(instances(data), ...more), ['-o', 'json'])).out) as EntryLine[];
}

test('instances: exits with 0 when all entries are valid', async () => {
  const { code, out, err } = await check('instances', list(instances({ '10.1.42.1': 'username=Administrator' })));
  expect(code).toBe(0);
  expect(out).toContain('1 entries, 1 good, 0 bad');
  expect(err).toBe('');
});

test('instances: lists valid and invalid entries, each invalid one with a remedy', async () => {
  const lines = await entries({
    '10.1.42.1': 'username=core',
    'fd00--1': 'user=x',
    host_1: 'username=core',
    win1: 'username=',
  });
  expect(lines.map(({ address, ok, error }) => [address, ok, error?.code])).toEqual([
    ['10.1.42.1', true, undefined],
    ['fd00--1', false, 'INSTANCE_ENTRY_MALFORMED'],
    ['host_1', false, 'INSTANCE_ADDRESS_INVALID'],
    ['win1', false, 'INSTANCE_USERNAME_INVALID'],
  ]);
  for (const { error } of lines) if (error) expect(error.remedy).not.toBe('');
});

test('instances: shows the Node of each entry', async () => {
  const lines = await entries(
    { '10.1.42.1': 'username=core', '10.1.42.2': 'username=core' },
    node('win-a', '10.1.42.1'),
  );
  expect(lines.map(line => line.node)).toEqual(['win-a', undefined]);
});

test('instances: --resolve keeps the other entries when a name has no address', async () => {
  const data = { localhost: 'username=core', 'name.invalid': 'username=core', '10.1.42.1': 'username=core' };
  const { code, out, err } = await check('instances', list(instances(data)), ['--resolve']);
  expect(code).toBe(1);
  expect(out).toContain('3 entries, 2 good, 1 bad');
  expect(out).toContain('resolves to 127.0.0.1');
  expect(err).toContain(
    'INSTANCE_ADDRESS_UNRESOLVED: ConfigMap openshift-windows-machine-config-operator/windows-instances (standard input): name.invalid',
  );
});

test('instances: reports a value that is not a string by its field and keeps the others', async () => {
  const { code, out, err } = await check(
    'instances',
    list({ ...instances({}), data: { a: 5, '10.1.42.1': 'username=core' } }),
  );
  expect(code).toBe(1);
  expect(out).toContain('2 entries, 1 good, 1 bad');
  expect(err).toContain('data.a is 5, not a string');
});

test('instances: reports an unreadable Node and keeps all entries', async () => {
  const broken = { ...node('win-b', '10.1.42.2'), status: { addresses: 'none' } };
  const data = { '10.1.42.1': 'username=core' };
  const { code, out, err } = await check('instances', list(instances(data), broken, node('win-a', '10.1.42.1')));
  expect(code).toBe(1);
  expect(out).toMatch(/ok\s+10\.1\.42\.1\s+user core\s+Node win-a/);
  expect(err).toContain('Node win-b (standard input): status.addresses is "none", not a list');
});

const windowsInstance = (name: string, spec: object) => ({
  apiVersion: 'windowsmachineconfig.openshift.io/v1alpha1',
  kind: 'WindowsInstance',
  metadata: { name },
  spec: { username: 'Administrator', ...spec },
});

test('instances: rejects a computer name that contains a command, with the remedy', async () => {
  const bad = windowsInstance('win1', { address: '10.1.42.1', hostname: 'x&net user&y' });
  const { code, out, err } = await check('instances', list(bad, windowsInstance('win2', { address: '10.1.42.2' })));
  expect(code).toBe(1);
  expect(out).toContain('WindowsInstances: 2 objects, 1 good, 1 bad');
  expect(out).toMatch(/BAD\s+win1\s+INSTANCE_HOSTNAME_INVALID/);
  expect(out).toMatch(/ok\s+win2\s+user Administrator/);
  expect(err).toContain('spec.hostname "x&net user&y" cannot be a computer name');
  expect(err).toContain('-> Set spec.hostname to 1 to 15 letters, digits and hyphens');
});

test('instances: an invalid WindowsInstance does not hide entries', async () => {
  const { out } = await check(
    'instances',
    list(instances({ '10.1.42.1': 'username=core' }), windowsInstance('odd', { address: 5 })),
    ['-o', 'json'],
  );
  expect(JSON.parse(out)).toMatchObject([
    { address: '10.1.42.1', ok: true },
    { instance: 'odd', ok: false, error: { code: 'FIELD_INVALID' } },
  ]);
});

const verdictsOf = (out: string) => JSON.parse(out) as { csr: string; decision: string; rule: string; why: string }[];

test('csr: approves by the record, and prints the rule of a refusal', async () => {
  const { code, out } = await runWmco(['check', 'csr', '-f', example('csr.yaml'), '-o', 'json']);
  expect(code).toBe(1);
  expect(verdictsOf(out).map(({ csr, decision, rule }) => [csr, decision, rule])).toEqual([
    ['csr-good', 'approve', 'WMCOApprove'],
    ['csr-agent', 'approve', 'WICDAutoApproved'],
    ['csr-wrong-requester', 'refuse', 'requester'],
    ['csr-other-token', 'refuse', 'token'],
    ['csr-api-server', 'refuse', 'alternative-names'],
    ['csr-foreign-name', 'ignore', ''],
  ]);
});

/** The example with one text replaced. */
async function changedExample(from: string, to: string, words: string[] = []) {
  const text = (await readFile(example('csr.yaml'), 'utf8')).replaceAll(from, to);
  return verdictsOf((await runWmco(['check', 'csr', '-f', '-', '-o', 'json', ...words], text)).out);
}

const changes: [about: string, from: string, to: string, csr: string, want: string][] = [
  ['a host that is recorded under another name', '    name: win1.winc', '    name: other.winc', 'csr-good', 'ignore '],
  ['a key that is not recorded', '  agent:', '  other:', 'csr-agent', 'refuse key'],
  ['a name that is not recorded', '- 10.1.42.2', '- 10.1.42.9', 'csr-api-server', 'refuse alternative-names'],
  ['a life that is too long', 'Seconds: 86400', 'Seconds: 86401', 'csr-agent', 'refuse lifetime'],
  ['a life without end', 'expirationSeconds: 86400', 'x: 1', 'csr-agent', 'refuse lifetime'],
  ['a token without id', 'authentication.kubernetes.io/credential-id', 'x', 'csr-good', 'refuse token'],
];
for (const [about, from, to, csr, want] of changes) {
  test(`csr: does not approve ${about}`, async () => {
    const verdict = (await changedExample(from, to)).find(each => each.csr === csr);
    expect(`${verdict?.decision} ${verdict?.rule}`).toBe(want);
  });
}

test('csr: accepts a token without id before Kubernetes 1.30', async () => {
  const [first] = await changedExample('authentication.kubernetes.io/credential-id', 'x', [
    '--server-version',
    'v1.29.4',
  ]);
  expect(first?.decision).toBe('approve');
});

test('csr: uses the lifetime of --agent-certificate-lifetime', async () => {
  const [from, to, flag] = ['Seconds: 86400', 'Seconds: 172800', '--agent-certificate-lifetime'];
  const [, agent] = await changedExample(from, to, [flag, '48h']);
  expect(agent?.decision).toBe('approve');
  const { code, err } = await runWmco(['check', 'csr', '-f', example('csr.yaml'), flag, 'long']);
  expect([code, err]).toEqual([expect.any(Number), expect.stringContaining('--agent-certificate-lifetime is "long"')]);
  expect(code).not.toBe(0);
});

test('csr: reports an unreadable request and checks the others', async () => {
  const broken = {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: 'broken' },
    spec: { request: '%%%', signerName: 'x', usages: [] },
  };
  const { code, out, err } = await runWmco(
    ['check', 'csr', '-f', '-', '-f', example('csr.yaml')],
    JSON.stringify(broken),
  );
  expect(code).toBe(1);
  expect(out).toMatch(/unreadable\s+broken/);
  expect(out).toMatch(/approve\s+csr-good/);
  expect(err).toContain('CSR_MALFORMED: CertificateSigningRequest broken');
});

test('csr: checks requests despite an invalid Node and an invalid WindowsInstance', async () => {
  const broken = [
    { ...node('x'), status: 5 },
    { ...windowsInstance('odd', { address: 'x' }), status: { host: 5 } },
  ];
  const { code, out, err } = await runWmco(
    ['check', 'csr', '-f', '-', '-f', example('csr.yaml'), '-o', 'json'],
    list(...broken),
  );
  expect(code).toBe(1);
  expect(verdictsOf(out).map(({ decision }) => decision)).toEqual(
    'approve approve refuse refuse refuse ignore'.split(' '),
  );
  expect(err).toContain('Node x (standard input): status is 5, not an object');
  expect(err).toContain('status.host is 5, not an object');
});

test('csr: reports that the input has no request', async () => {
  expect((await check('csr', list(instances({})))).err).toContain('OBJECT_MISSING: CertificateSigningRequest');
});

test('mirrors: prints limits of Windows as notes, not as findings', async () => {
  const { code, out } = await runWmco(['check', 'mirrors', '-f', example('mirrors.yaml')]);
  expect(code).toBe(0);
  expect(out).toContain('3 source registries, 0 problems');
  expect(out).toContain('source never contacted');
  expect(out).toContain('note: registry.access.redhat.com: Windows nodes use the mirrors for the whole registry');
  expect(out).toContain(
    'Windows nodes look for registry.access.redhat.com/ubi9/ubi-minimal at example.io/example/ubi9/',
  );
  expect(out).toContain('example.io/example, example.com/example2');
});

test('mirrors: a name with line breaks and tabs stays on one line', async () => {
  const set = {
    apiVersion: 'config.openshift.io/v1',
    kind: 'ImageDigestMirrorSet',
    metadata: { name: 'a\nnote:\tall is well' },
    spec: { imageDigestMirrors: [{ source: 'a.test/x', mirrors: ['m.test/z', 'm.test/b'] }] },
  };
  const { out } = await check('mirrors', list(set));
  expect(out).toContain('ImageDigestMirrorSet a note: all is well (standard input)');
  expect(out).not.toMatch(/^note:\s*all|\t/m);
});

test('mirrors: reports an unreadable pull secret as an error', async () => {
  const pull = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'pull-secret', namespace: 'openshift-config' } };
  const { code, err } = await check('mirrors', list({ ...pull, stringData: { other: 'x' } }));
  expect(code).toBe(1);
  expect(err).toContain(
    'SECRET_KEY_MISSING: Secret openshift-config/pull-secret (standard input): data has no .dockerconfigjson',
  );
  expect((await check('mirrors', list({ ...pull, data: { '.dockerconfigjson': '%' } }))).err).toContain(
    'FIELD_INVALID',
  );
});

test('services: accepts what this operator renders', async () => {
  const words = ['-f', example('windows-services.yaml'), '-f', example('cluster.yaml')];
  const { code, out } = await runWmco(['check', 'services', ...words]);
  expect(code).toBe(0);
  expect(out).toContain('starts containerd, kubelet, windows_exporter, hybrid-overlay-node, csi-proxy, kube-proxy');
});

test('services: reports content that does not match the cluster', async () => {
  const words = ['-f', example('windows-services.yaml'), '-f', example('cluster.yaml'), '--debug'];
  const { code, err } = await runWmco(['check', 'services', ...words]);
  expect(code).toBe(1);
  expect(err).toContain('SERVICES_CONTENT_DIFFERS');
});

test('services: reports a cycle as an error and an unusual dependency as a note', async () => {
  const map = (name: string, services: object[]) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: `windows-services-${name}`, namespace: 'ns' },
    data: { services: JSON.stringify(services), files: '[]' },
  });
  const cyclic = map('a', [
    { name: 'x', path: 'x', dependencies: ['y'], priority: 0 },
    { name: 'y', path: 'y', dependencies: ['x'], priority: 1 },
  ]);
  const odd = map('b', [{ name: 'x', path: 'x', dependencies: ['elsewhere'], priority: 0 }]);
  const { code, out, err } = await check('services', list(cyclic, odd));
  expect(code).toBe(1);
  expect(err).toMatch(
    /SERVICES_DEPENDENCY_INVALID: ConfigMap ns\/windows-services-a \(standard input\): cyclical dependency/,
  );
  expect(out).toContain('ok   ConfigMap ns/windows-services-b');
  expect(out).toContain('note: service x depends on elsewhere, which is not in the ConfigMap');
});

test('services: reports that the input has no services ConfigMap', async () => {
  expect((await check('services', list(instances({})))).err).toContain('ConfigMap windows-services-<version>');
});

const profiles = (data: Record<string, string>) => ({
  ...instances(data),
  metadata: { name: 'windows-kubelet-config' },
});

test('cluster: validates profiles of kubelet settings', async () => {
  const words = ['--server-version', 'v1.36.4'];
  const good = await check('cluster', list(...openshiftCluster(), profiles({ a: 'kubelet: {maxPods: 9}' })), words);
  expect([good.code, good.out]).toEqual([0, expect.stringMatching(/ok +kubelet settings +profiles a\n/)]);
  const data = { a: 'kubelet: {maxPods: 0}', b: 'kubelet: {maxPods: 9}' };
  const bad = await check('cluster', list(...openshiftCluster(), profiles(data)), words);
  expect([bad.code, bad.out]).toEqual([1, expect.stringMatching(/BAD +kubelet settings +profiles b; 1 problems/)]);
  expect(bad.err).toContain('(standard input): "a": kubelet.maxPods is 0, not an integer from 1 to 500');
});

test('cluster: notes that logs are not rotated, which is no failure', async () => {
  const words = ['--server-version', 'v1.36.4'];
  const { code, out } = await check('cluster', list(...openshiftCluster()), words);
  expect([code, out]).toEqual([
    0,
    expect.stringMatching(/note: without SERVICES_LOG_FILE_SIZE the logs of containerd, /),
  ]);
  const set = await check('cluster', list(...openshiftCluster()), [...words, '--env', 'SERVICES_LOG_FILE_SIZE=100M']);
  expect(set.out).not.toContain('note:');
});

test('cluster: accepts a healthy cluster', async () => {
  const { code, out } = await check('cluster', list(...openshiftCluster()), ['--server-version', 'v1.36.4']);
  expect(code).toBe(0);
  expect(out).toMatch(/^supports Windows nodes\n/);
});

test('cluster: reports all problems at once, each with its remedy', async () => {
  const objects = openshiftCluster().filter(object => !['Network', 'Infrastructure'].includes(String(object['kind'])));
  const bad = [networkConfig({ networkType: 'OpenShiftSDN' }), networkOperator(null), infrastructure('VSphere')];
  const { code, out, err } = await check('cluster', list(...objects, ...bad), ['--server-version', 'v1.20.0']);
  expect(code).toBe(1);
  expect(out).toContain('does not support Windows nodes');
  for (const codeName of ['NETWORK_TYPE_UNSUPPORTED', 'NETWORK_HYBRID_OVERLAY_MISSING', 'SERVER_VERSION_UNSUPPORTED']) {
    expect(err).toContain(codeName);
  }
});
