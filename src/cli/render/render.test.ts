import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { openshiftCluster } from '../../../test/kit/openshift-objects.ts';
import { repositoryRoot, runWmco } from '../../../test/kit/run-wmco.ts';

const example = (name: string) => join(repositoryRoot, 'examples', name);
const list = (items: readonly unknown[]) => JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
const render = (what: string, words: readonly string[] = [], stdin = list(openshiftCluster())) =>
  runWmco(['render', what, '-f', '-', ...words], stdin);
const secret = (name: string, namespace: string, stringData: Record<string, string>) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace },
  stringData,
});

test('services: prints the ConfigMap of the version in the given namespace', async () => {
  const { code, out } = await render('services', [
    '--operator-version',
    '1.2.3-abc',
    '--namespace',
    'ns',
    '-o',
    'json',
  ]);
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({
    kind: 'ConfigMap',
    immutable: true,
    metadata: { name: 'windows-services-1.2.3-abc', namespace: 'ns' },
  });
});

test('services: without --operator-version prints the ConfigMap of the version of this program', async () => {
  const { out } = await render('services', ['-o', 'json']);
  expect(JSON.parse(out)).toMatchObject({ metadata: { name: 'windows-services-11.0.0-abc1234' } });
});

test('services: applies --debug and log rotation variables', async () => {
  const { out } = await render('services', ['--debug', '--env', 'SERVICES_LOG_FILE_SIZE=100Mi', '-o', 'json']);
  expect(out).toContain('--v=4');
  expect(out).toContain('-log-file-size=100Mi');
});

test('services: an invalid log setting names the variable', async () => {
  const { code, err } = await render('services', ['--env', 'SERVICES_LOG_FILE_SIZE=many']);
  expect(code).toBe(1);
  expect(err).toContain('LOG_SETTING_INVALID: invalid log configuration: SERVICES_LOG_FILE_SIZE');
});

test('services: PRX-01: uses the Proxy of the cluster, and variables of the operator only without one', async () => {
  const proxy = {
    apiVersion: 'config.openshift.io/v1',
    kind: 'Proxy',
    metadata: { name: 'cluster' },
    status: { httpProxy: 'http://proxy:3128', noProxy: '.svc' },
  };
  const trusted = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'trusted-ca', namespace: 'openshift-windows-machine-config-operator' },
    data: { 'ca-bundle.crt': 'BUNDLE' },
  };
  const variables = async (words: string[], objects = list([...openshiftCluster(), proxy, trusted])) => {
    const { out } = await render('services', [...words, '-o', 'json'], objects);
    return JSON.parse((JSON.parse(out) as { data: Record<string, string> }).data['environmentVars'] ?? '{}') as object;
  };
  expect(await variables([])).toEqual({ HTTP_PROXY: 'http://proxy:3128', NO_PROXY: '.svc' });
  const environment = ['--env', 'HTTP_PROXY=http://other:1'];
  expect(await variables(environment)).toEqual({ HTTP_PROXY: 'http://proxy:3128', NO_PROXY: '.svc' });
  const without = list([...openshiftCluster(), trusted]);
  expect(await variables(environment, without)).toEqual({ HTTP_PROXY: 'http://other:1' });
});

test('services: no output format prints the login of a proxy without --show-secrets', async () => {
  const trusted = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'trusted-ca', namespace: 'openshift-windows-machine-config-operator' },
    data: { 'ca-bundle.crt': 'BUNDLE' },
  };
  const objects = list([...openshiftCluster(), trusted]);
  const words = ['--env', 'HTTPS_PROXY=http://user:sesame@proxy:3128', 'HTTP_PROXY=user:sesame@proxy:3128'];
  for (const form of ['text', 'json', 'yaml']) {
    const { code, out, err } = await render('services', [...words, '-o', form], objects);
    expect(code).toBe(0);
    expect(out + err).not.toContain('sesame');
  }
  const { out } = await render('services', [...words, '-o', 'json'], objects);
  expect(out).toContain('http://<redacted>@proxy:3128');
  const asked = await render('services', [...words, '-o', 'json', '--show-secrets'], objects);
  expect(asked.out).toContain('http://user:sesame@proxy:3128');
});

test('services: reports all missing objects at once, with the commands that print them', async () => {
  const { code, out, err } = await render('services', [], 'apiVersion: v1\nkind: Pod\nmetadata: {name: x}\n');
  expect(code).toBe(1);
  expect(out.trim()).toBe('');
  for (const kind of ['Infrastructure', 'Network', 'ControllerConfig', 'MachineConfig']) expect(err).toContain(kind);
  expect(err.match(/-> /g)?.length).toBeGreaterThanOrEqual(4);
});

test('files: prints all files of a node with redacted secrets', async () => {
  const { code, out } = await runWmco([
    'render',
    'files',
    '-f',
    example('cluster.yaml'),
    '-f',
    example('secrets.yaml'),
    '-o',
    'json',
  ]);
  expect(code).toBe(0);
  const files = JSON.parse(out) as Record<string, string>;
  expect(files['C:\\k\\bootstrap-kubeconfig']).toBe('<redacted>');
  expect(files['C:\\k\\wicd-kubeconfig']).toBe('<redacted>');
  expect(files['C:\\k\\tls\\certs\\tls.key']).toBe('<redacted>');
  expect(files['C:\\k\\credential-provider-config.yaml']).toContain('ecr-credential-provider.exe');
  expect(out).not.toMatch(/example-(bootstrap|agent)-token|example-private-key/);
});

test('files: --show-secrets prints every byte', async () => {
  const words = ['-f', example('cluster.yaml'), '-f', example('secrets.yaml'), '--show-secrets', '-o', 'json'];
  const files = JSON.parse((await runWmco(['render', 'files', ...words])).out) as Record<string, string>;
  expect(files['C:\\k\\bootstrap-kubeconfig']).toContain('"token":"example-bootstrap-token"');
  expect(files['C:\\k\\tls\\certs\\tls.key']).toBe('example-private-key\n');
});

test('files: without Secrets, prints the other files and names what is missing', async () => {
  const { code, out, err } = await render('files', ['-o', 'json']);
  expect(code).toBe(1);
  const files = JSON.parse(out) as Record<string, string>;
  expect(Object.keys(files)).toContain('C:\\k\\kubelet.conf');
  expect(Object.keys(files)).not.toContain('C:\\k\\bootstrap-kubeconfig');
  expect(err).toContain('Secret openshift-machine-config-operator/node-bootstrapper-token is not in the input');
  expect(err).toContain('windows-machine-config-operator-tls');
});

test('files: reports a missing key of a Secret by Secret and key', async () => {
  const objects = [
    ...openshiftCluster(),
    secret('node-bootstrapper-token', 'openshift-machine-config-operator', { token: 't' }),
  ];
  const { err } = await render('files', [], list(objects));
  expect(err).toContain(
    'SECRET_KEY_MISSING: Secret openshift-machine-config-operator/node-bootstrapper-token (standard input): data has no ca.crt',
  );
});

test('files: -o dir writes the file tree of a node', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'wmco-files-'));
  await runWmco([
    'render',
    'files',
    '-f',
    example('cluster.yaml'),
    '-f',
    example('secrets.yaml'),
    '-o',
    `dir=${folder}`,
  ]);
  expect(await readFile(join(folder, 'C', 'k', 'kubelet.conf'), 'utf8')).toContain('KubeletConfiguration');
  await rm(folder, { recursive: true });
});

test('registries: the documented example has one file per source registry', async () => {
  const { code, out } = await runWmco(['render', 'registries', '-f', example('mirrors.yaml'), '-o', 'json']);
  expect(code).toBe(0);
  const files = JSON.parse(out) as Record<string, string>;
  const hosts = Object.fromEntries(
    Object.entries(files).map(([path, text]) => [
      path.split('\\').at(-2),
      [/^server = "(.*)"$/m.exec(text)?.[1], ...[...text.matchAll(/^\[host\."(.*)"\]$/gm)].map(match => match[1])],
    ]),
  );
  expect(hosts).toEqual({
    'docker-mirror.internal': ['https://docker-mirror.internal/v2', 'https://registry-1.docker.io/v2'],
    'registry.access.redhat.com': [
      'https://registry.access.redhat.com/v2',
      'https://example.io/v2/example',
      'https://example.com/v2/example2',
    ],
    // Never contact the source: the mirror is also the server.
    'registry.redhat.io': ['https://mirror.example.com/v2', 'https://mirror.example.com/v2'],
  });
});

test('registries: redacts credentials of mirrors without --show-secrets', async () => {
  const words = ['render', 'registries', '-f', example('mirrors.yaml'), '-f', example('secrets.yaml')];
  const basic = Buffer.from('puller:example-password').toString('base64');
  const hidden = await runWmco(words);
  expect(hidden.out).toContain('<redacted>');
  expect(hidden.out).not.toContain(basic);
  expect((await runWmco([...words, '--show-secrets'])).out).toContain(`authorization = "Basic ${basic}"`);
});

test('registries: reports that there are no mirror sets', async () => {
  const { code, out } = await render('registries');
  expect([code, out]).toEqual([0, 'no usable mirror set in the input: C:\\k\\containerd\\registries is empty\n']);
});

test('registries: reports a wildcard and renders the rest', async () => {
  const mirrors = {
    apiVersion: 'config.openshift.io/v1',
    kind: 'ImageTagMirrorSet',
    metadata: { name: 'wild' },
    spec: {
      imageTagMirrors: [
        { source: '*.example.com', mirrors: ['m.io'] },
        { source: 'a.io', mirrors: ['m.io'] },
      ],
    },
  };
  const { code, out, err } = await render('registries', ['-o', 'json'], list([mirrors]));
  expect(code).toBe(1);
  expect(Object.keys(JSON.parse(out) as object)).toEqual(['C:\\k\\containerd\\registries\\a.io\\hosts.toml']);
  expect(err).toContain('MIRROR_SET_INVALID');
  expect(err).toContain('ImageTagMirrorSet wild');
});

test('user-data: prints the script for the platform of the cluster with the key', async () => {
  const words = ['--public-key', example('id_ed25519.pub')];
  const { code, out } = await render('user-data', words);
  expect(code).toBe(0);
  expect(out).toContain('AAAAC3NzaC1lZDI1NTE5AAAAIIbM+SmqWhs/D5n4HgqjPvt4lz2qsmyaSbDs1SZBurg3');
  const gcp = await render('user-data', [...words, '--platform', 'GCP']);
  expect(gcp.out).not.toContain('<powershell>');
});

test('user-data: -o yaml prints the Secret that the operator writes', async () => {
  const { out } = await render('user-data', ['--public-key', example('id_ed25519.pub'), '-o', 'yaml']);
  expect(parse(out)).toMatchObject({
    kind: 'Secret',
    metadata: { name: 'windows-user-data', namespace: 'openshift-machine-api' },
  });
});

test('user-data: without a key, names both ways to pass one', async () => {
  const { code, err } = await render('user-data');
  expect(code).toBe(1);
  expect(err).toContain('cloud-private-key is not in the input');
});

test('user-data: the error about a broken private key does not contain it', async () => {
  const key = secret('cloud-private-key', 'openshift-windows-machine-config-operator', { 'private-key.pem': 'sesame' });
  const { code, err } = await render('user-data', [], list([...openshiftCluster(), key]));
  expect(code).toBe(1);
  expect(err).toContain('PRIVATE_KEY_UNREADABLE: Secret openshift-windows-machine-config-operator/cloud-private-key');
  expect(err).not.toContain('sesame');
});

test('user-data: reports a weak key with its file and still prints the script', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'wmco-key-'));
  const path = join(folder, 'old.pub');
  const parts = ['ssh-dss', ...Array.from({ length: 4 }, () => '\u0001')].map(part => Buffer.from(part));
  const blob = Buffer.concat(parts.flatMap(part => [Buffer.from([0, 0, 0, part.length]), part]));
  await writeFile(path, `ssh-dss ${blob.toString('base64')}\n`);
  const { code, out, err } = await render('user-data', ['--public-key', path]);
  expect([code, out.length > 1000]).toEqual([1, true]);
  expect(err).toContain(`PUBLIC_KEY_WEAK: ${path}: `);
  await rm(folder, { recursive: true });
});

test('user-data: reports a file that is missing or not a public key', async () => {
  const wrong = example('mirrors.yaml');
  expect((await render('user-data', ['--public-key', wrong])).err).toContain(`PUBLIC_KEY_UNREADABLE: ${wrong}: `);
  expect((await render('user-data', ['--public-key', '/nonexistent'])).err).toContain(
    'INPUT_UNREADABLE: /nonexistent: cannot be read (ENOENT',
  );
});

test('kubelet-config: reads the service network from the Network object or the option', async () => {
  const dns = async (words: string[]) =>
    (JSON.parse((await render('kubelet-config', [...words, '-o', 'json'])).out) as { clusterDNS: string[] }).clusterDNS;
  expect(await dns([])).toEqual(['172.30.0.10']);
  expect(await dns(['--service-cidr', '10.96.0.0/12'])).toEqual(['10.96.0.10']);
});

test('kubelet-config: has the settings of windows-kubelet-config for hosts without labels', async () => {
  const metadata = { name: 'windows-kubelet-config', namespace: 'n' };
  const data = { all: 'kubelet:\n  maxPods: 99\n', typo: 'kubelet:\n  maxPots: 1\n' };
  const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data };
  const words = ['--service-cidr', '10.96.0.0/12', '-o', 'json'];
  const { out, err } = await render('kubelet-config', words, list([map]));
  expect(JSON.parse(out)).toMatchObject({ maxPods: 99 });
  expect(err).toContain('maxPots');
});

test('kubelet-config and user-data: need no input when options replace it', async () => {
  const alone = await runWmco(['render', 'kubelet-config', '--service-cidr', '10.96.0.0/12', '-o', 'json']);
  expect([alone.code, JSON.parse(alone.out)]).toMatchObject([0, { clusterDNS: ['10.96.0.10'] }]);
  const words = ['render', 'user-data', '--platform', 'GCP', '--public-key', example('id_ed25519.pub')];
  expect((await runWmco(words)).code).toBe(0);
  expect((await runWmco(words.slice(0, 4))).code).toBe(2);
});

test('kubelet-config: names the Network object in its errors', async () => {
  const network = { apiVersion: 'config.openshift.io/v1', kind: 'Network', metadata: { name: 'cluster' }, spec: {} };
  const { code, err } = await render('kubelet-config', [], list([network]));
  expect(code).toBe(1);
  expect(err).toContain('NETWORK_SERVICE_CIDR_INVALID: Network cluster (standard input): spec.serviceNetwork');
});

test('kubelet-config: reports an invalid service network', async () => {
  const { code, err } = await render('kubelet-config', ['--service-cidr', '10.0.0.0/31']);
  expect(code).toBe(1);
  expect(err).toContain('NETWORK_SERVICE_CIDR_INVALID');
  expect(err).toContain('10.0.0.0/31');
});

test('crd: prints the file in deploy', async () => {
  const { out } = await runWmco(['render', 'crd']);
  expect(out).toBe(await readFile(join(repositoryRoot, 'deploy/crd/windowsinstances.yaml'), 'utf8'));
});
