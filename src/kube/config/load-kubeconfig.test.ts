import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { stringify } from 'yaml';
import { TestCa } from '../../../test/kit/certificates.ts';
import { manualClock } from '../../../test/kit/manual-clock.ts';
import { loadInCluster } from './in-cluster.ts';
import { loadKubeconfig } from './load-kubeconfig.ts';

const { signal } = new AbortController();
const ca = new TestCa();
const [one, two] = [ca.issue({ commonName: 'one' }), ca.issue({ commonName: 'two' })];
const base64 = (text: string) => Buffer.from(text).toString('base64');

function kubeconfig(cluster: object = {}, user: object = {}, more: object = {}): string {
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster: { server: 'https://10.0.0.1:6443', ...cluster } }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
    ...more,
  });
}

async function folderWith(files: Record<string, string>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'kubeconfig-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  return folder;
}

test('reads the address, the namespace and what concerns TLS', async () => {
  const connection = loadKubeconfig(
    kubeconfig(
      {
        server: 'https://host:6443/k8s/',
        'tls-server-name': 'other',
        'proxy-url': 'http://a:b@proxy:3128',
        'certificate-authority-data': base64(ca.cert),
      },
      {},
      { contexts: [{ name: 'x', context: { cluster: 'c', user: 'u', namespace: 'ns' } }] },
    ),
  );
  expect(connection).toMatchObject({
    server: 'https://host:6443/k8s',
    namespace: 'ns',
    serverName: 'other',
    skipTlsVerify: false,
  });
  expect(connection.proxyUrl?.reveal()).toBe('http://a:b@proxy:3128');
  expect(await connection.trusted()).toBe(ca.cert);
});

test('needs no more than an address', async () => {
  const connection = loadKubeconfig(kubeconfig());
  expect(await connection.trusted()).toBeUndefined();
  expect(await connection.identity.current(signal)).toEqual({});
  expect(Object.keys(connection)).not.toContain('namespace');
});

test('insecure-skip-tls-verify disables verification', () => {
  expect(loadKubeconfig(kubeconfig({ 'insecure-skip-tls-verify': true })).skipTlsVerify).toBe(true);
});

const tokens: [string, object, string | undefined][] = [
  ['a token', { token: 'abc' }, 'Bearer abc'],
  ['a token file', { tokenFile: 'token' }, 'Bearer from-file'],
  ['a token file before a token', { tokenFile: 'token', token: 'abc' }, 'Bearer from-file'],
  ['user name and password', { username: 'a', password: 'b' }, `Basic ${base64('a:b')}`],
  ['a token before a password', { username: 'a', password: 'b', token: 'abc' }, 'Bearer abc'],
  ['a user name alone, which is nothing', { username: 'a' }, undefined],
];
for (const [name, user, want] of tokens) {
  test(`takes ${name}`, async () => {
    const folder = await folderWith({ token: 'from-file\n' });
    const { identity } = loadKubeconfig(kubeconfig({}, user), { folder });
    expect((await identity.current(signal)).authorization?.reveal()).toBe(want);
  });
}

const certificates: [string, object][] = [
  ['both inline', { 'client-certificate-data': base64(one.cert), 'client-key-data': base64(one.key) }],
  ['both from files', { 'client-certificate': 'one.crt', 'client-key': 'one.key' }],
  ['one inline, one from a file', { 'client-certificate-data': base64(one.cert), 'client-key': 'one.key' }],
  [
    'inline before a file',
    { 'client-certificate-data': base64(one.cert), 'client-certificate': 'none', 'client-key': 'one.key' },
  ],
];
for (const [name, user] of certificates) {
  test(`takes a client certificate, ${name}`, async () => {
    const folder = await folderWith({ 'one.crt': one.cert, 'one.key': one.key });
    const { clientCertificate } = await loadKubeconfig(kubeconfig({}, user), { folder }).identity.current(signal);
    expect([clientCertificate?.certificate, clientCertificate?.key.reveal()]).toEqual([one.cert, one.key]);
  });
}

for (const [name, user] of [
  ['a certificate without a key', { 'client-certificate-data': base64(one.cert) }],
  ['a key without a certificate', { 'client-key-data': base64(one.key) }],
] as const) {
  test(`rejects ${name}`, () => {
    expect(() => loadKubeconfig(kubeconfig({}, user))).toThrow(
      expect.objectContaining({
        code: 'CREDENTIAL_UNREADABLE',
        message: expect.stringMatching(/^user u: has a client/),
      }),
    );
  });
}

test('takes the context that is named, and refuses one that is not there', async () => {
  const text = kubeconfig(
    {},
    {},
    {
      users: [
        { name: 'u', user: { token: 'one' } },
        { name: 'v', user: { token: 'two' } },
      ],
      contexts: [
        { name: 'x', context: { cluster: 'c', user: 'u' } },
        { name: 'y', context: { cluster: 'c', user: 'v' } },
      ],
    },
  );
  const token = async (context?: string) =>
    (
      await loadKubeconfig(text, context === undefined ? {} : { context }).identity.current(signal)
    ).authorization?.reveal();
  expect([await token(), await token('y')]).toEqual(['Bearer one', 'Bearer two']);
  expect(() => loadKubeconfig(text, { context: 'z' })).toThrow(
    expect.objectContaining({ code: 'KUBECONFIG_MALFORMED' }),
  );
});

test('reads a token file again after a minute, certificates and CA after ten seconds', async () => {
  const folder = await folderWith({ token: 'one', 'c.crt': one.cert, 'c.key': one.key, 'ca.crt': 'CA one' });
  const clock = manualClock();
  const user = { tokenFile: 'token', 'client-certificate': 'c.crt', 'client-key': 'c.key' };
  const connection = loadKubeconfig(kubeconfig({ 'certificate-authority': 'ca.crt' }, user), {
    folder,
    clock,
  });
  const seen = async () => {
    const { authorization, clientCertificate } = await connection.identity.current(signal);
    return [
      authorization?.reveal(),
      clientCertificate?.certificate === two.cert ? 'two' : 'one',
      await connection.trusted(),
    ];
  };
  expect(await seen()).toEqual(['Bearer one', 'one', 'CA one']);
  for (const [name, text] of Object.entries({ token: 'two', 'c.crt': two.cert, 'c.key': two.key, 'ca.crt': 'CA two' }))
    await writeFile(join(folder, name), text);
  await clock.advance(9999);
  expect(await seen()).toEqual(['Bearer one', 'one', 'CA one']);
  await clock.advance(1);
  expect(await seen()).toEqual(['Bearer one', 'two', 'CA two']);
  await clock.advance(50_000);
  expect(await seen()).toEqual(['Bearer two', 'two', 'CA two']);
});

test('asks a plugin, with the folder and the environment given', async () => {
  const answer =
    '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"\'$WHO\'"}}';
  const folder = await folderWith({ 'plugin.sh': `printf '%s' '${answer}'` });
  const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: 'sh', args: [join(folder, 'plugin.sh')] };
  const { identity } = loadKubeconfig(kubeconfig({}, { exec }), {
    folder,
    environment: { PATH: '/usr/bin:/bin', WHO: 'me' },
  });
  expect((await identity.current(signal)).authorization?.reveal()).toBe('Bearer me');
});

test('reads the files it names with the reader given, by the paths as they stand there', async () => {
  const certificate = 'C:\\k\\both.pem';
  const texts = new Map([
    [certificate, one.cert + one.key],
    ['ca.crt', ca.cert],
    ['t', 'abc'],
  ]);
  const connection = loadKubeconfig(
    kubeconfig(
      { 'certificate-authority': 'ca.crt' },
      { 'client-certificate': certificate, 'client-key': certificate, tokenFile: 't' },
    ),
    { folder: '/nowhere', readFile: async path => texts.get(path) },
  );
  expect(await connection.trusted()).toBe(ca.cert);
  const { authorization, clientCertificate } = await connection.identity.current(signal);
  expect([authorization?.reveal(), clientCertificate?.certificate]).toEqual(['Bearer abc', one.cert + one.key]);
});

const unread: [name: string, text: string | undefined, message: string][] = [
  ['does not find', undefined, 'token: "t" is empty or too long'],
  ['finds empty', '', 'token: "t" is empty or too long'],
  ['finds blank', ' \n', 'token: "t" is blank'],
  ['finds endless', 'x'.repeat(1_048_577), 'token: "t" is empty or too long'],
];
for (const [name, text, message] of unread) {
  test(`names the file that a reader ${name}`, async () => {
    const { identity } = loadKubeconfig(kubeconfig({}, { tokenFile: 't' }), { readFile: async () => text });
    await expect(identity.current(signal)).rejects.toMatchObject({ code: 'CREDENTIAL_UNREADABLE', message });
  });
}

test('a pod finds address, CA, token and namespace', async () => {
  const folder = await folderWith({ token: 'abc', 'ca.crt': ca.cert, namespace: 'ns\n' });
  const connection = loadInCluster({ KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '443' }, folder);
  expect(connection).toMatchObject({ server: 'https://10.0.0.1:443', namespace: 'ns', skipTlsVerify: false });
  expect(await connection.trusted()).toBe(ca.cert);
  expect((await connection.identity.current(signal)).authorization?.reveal()).toBe('Bearer abc');
});

test('a pod takes a new token after a minute, and at once when the old one is refused', async () => {
  const folder = await folderWith({ token: 'one', 'ca.crt': ca.cert });
  const clock = manualClock();
  const environment = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '6443' };
  const { identity, server, ...rest } = loadInCluster(environment, folder, clock);
  expect(server).toBe('https://[fd00::1]:6443');
  expect('namespace' in rest).toBe(false);
  const refused = await identity.current(signal);
  await writeFile(join(folder, 'token'), 'two');
  expect((await identity.current(signal)).authorization?.reveal()).toBe('Bearer one');
  expect(await identity.renew(refused, signal)).toBe(true);
  expect((await identity.current(signal)).authorization?.reveal()).toBe('Bearer two');
  await writeFile(join(folder, 'token'), 'three');
  await clock.advance(60_000);
  expect((await identity.current(signal)).authorization?.reveal()).toBe('Bearer three');
});

const outside: Record<string, string>[] = [
  {},
  { KUBERNETES_SERVICE_HOST: '10.0.0.1' },
  { KUBERNETES_SERVICE_PORT: '443' },
  { KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: 'https' },
];
for (const environment of outside) {
  test(`says that ${JSON.stringify(environment)} is not the environment of a pod`, () => {
    expect(() => loadInCluster(environment)).toThrow(
      expect.objectContaining({ code: 'SETTING_INVALID', remedy: 'Run inside a pod, or use --kubeconfig.' }),
    );
  });
}
