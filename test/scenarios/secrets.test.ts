import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { toBase64 } from '../../src/base/bytes.ts';
import { findCondition } from '../../src/base/condition.ts';
import { Secret } from '../../src/base/secret.ts';
import { windowsInstances } from '../../src/cluster/windows-instance-resource.ts';
import {
  configMapName,
  instanceAnnotation,
  namespaceName,
  secretKey,
  secretName,
  trustedCaKey,
} from '../../src/contract/names.ts';
import { parsePrivateKey } from '../../src/host/keys/private-key.ts';
import { loadKubeconfig } from '../../src/kube/config/load-kubeconfig.ts';
import { createClient } from '../../src/kube/http-client.ts';
import { configMaps, events, pods, secrets } from '../../src/kube/resources.ts';
import { imageDigestMirrorSets } from '../../src/kube/resources-openshift.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { startProxy } from '../kit/connect-proxy.ts';
import { recordObjects } from '../kit/object-history.ts';
import { expectNoSecrets, findLeaks, keySecrets, type PlantedSecret } from '../kit/planted-secrets.ts';
import { type SandboxOperator, startOperator } from '../kit/sandbox-operator.ts';
import { inspectedText } from '../kit/secret-check.ts';
import { startWmco } from '../kit/wmco-process.ts';

/**
 * Plants secrets of every kind and provokes errors about them. None may appear in a
 * log, an error, an event or a status. The kits that start operators check the same at the end of every other test.
 */

const word = (what: string) => `planted-${what}-${randomBytes(12).toString('hex')}`;
const [proxyPassword, registryPassword, token, password] = ['proxy', 'registry', 'token', 'password'].map(word) as [
  string,
  string,
  string,
  string,
];
const newKey = () => generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' });
const [ownKey, strangeKey] = [newKey(), newKey()];
const planted: PlantedSecret[] = [
  { what: 'password of the proxy', content: proxyPassword },
  { what: 'password of the registry', content: registryPassword },
  { what: 'token', content: token },
  { what: 'password', content: password },
  ...keySecrets('key of an instance', ownKey),
  ...keySecrets('key of another user', strangeKey),
];

let sandbox: Sandbox;
let operator: SandboxOperator;

beforeAll(async () => {
  sandbox = await startSandbox({
    hosts: 4,
    speed: 20,
    faults: ['wrong-key@win-2', 'password-only@win-3', 'no-api@win-4'],
  });
  const proxy = `http://planted:${proxyPassword}@127.0.0.1:9`;
  const settings = { proxy: { HTTP_PROXY: proxy, HTTPS_PROXY: proxy, NO_PROXY: '127.0.0.1,.svc' } };
  await givePullSecret();
  operator = startOperator(sandbox, { payloadBytes: 200_000, settings });
  await giveOwnKey();
  await addDirect();
});
afterAll(async () => {
  await operator?.stop();
  await sandbox?.stop();
});

/** A registry with a login for the hosts, and the objects of a proxy. */
async function givePullSecret(): Promise<void> {
  const client = createClient(loadKubeconfig(sandbox.kubeconfig));
  const auths = { 'mirror.example.com': { auth: toBase64(`planted:${registryPassword}`) } };
  const data = { [secretKey.dockerConfig]: toBase64(JSON.stringify({ auths })) };
  const where = { namespace: namespaceName.config };
  await client.patch(secrets, secretName.pullSecret, { type: 'merge', body: { data } }, where);
  await client.create(imageDigestMirrorSets, {
    metadata: { name: 'mirrors' },
    spec: { imageDigestMirrors: [{ source: 'registry.redhat.io/ubi9', mirrors: ['mirror.example.com/ubi9'] }] },
  });
  // The cluster fills it when there is a proxy.
  const metadata = { name: configMapName.trustedCa, namespace: sandbox.namespace };
  await client.create(configMaps, { metadata, data: { [trustedCaKey]: sandbox.ca } });
  await client.close();
}

/** A host that rejects the key of its own Secret. */
async function giveOwnKey(): Promise<void> {
  const { namespace } = sandbox;
  const data = { [secretKey.privateKey]: toBase64(ownKey) };
  await operator.client.create(secrets, { metadata: { name: 'own-key', namespace }, data });
  const { address } = (await sandbox.addHost({ name: 'own' })).spec;
  const spec = { address, username: 'Administrator', keySecret: { name: 'own-key' } };
  await operator.client.create(windowsInstances, { metadata: { name: 'own', namespace }, spec });
}

/** A host that joins without an entry. */
async function addDirect(): Promise<void> {
  const { namespace } = sandbox;
  const { address } = (await sandbox.addHost({ name: 'direct' })).spec;
  const spec = { address, username: 'Administrator' };
  await operator.client.create(windowsInstances, { metadata: { name: 'direct', namespace }, spec });
}

const output = () => [{ where: 'log', text: operator.lines.join('') }];
const patient = { timeout: 90_000, interval: 200 };

test('hosts join with a proxy and a registry that need logins, and others fail', async () => {
  const reasons = async () =>
    (await operator.instances())
      .map(({ status }) => `${status?.phase} ${findCondition(status?.conditions, 'Ready')?.reason}`)
      .toSorted();
  await expect
    .poll(reasons, patient)
    .toEqual([
      'Failed HOST_API_UNREACHABLE',
      'Failed HOST_REFUSED_KEY',
      'Failed HOST_REFUSED_KEY',
      'Failed HOST_WANTS_PASSWORD',
      'Ready Joined',
      'Ready Joined',
    ]);
  expectNoSecrets(planted, output());
});

test('the planted secrets are where they belong', async () => {
  const { files, state } = sandbox.host('win-1');
  expect(state.variables['HTTPS_PROXY']).toContain(proxyPassword);
  const texts = await Promise.all(
    files.paths().map(async path => ((files.content(path)?.bytes ?? 1e9) < 50_000 ? await files.read(path) : '')),
  );
  const leaks = findLeaks(planted, [{ where: 'host', text: texts.join('\n') }]).map(({ what }) => what);
  expect(leaks).toContain('password of the registry');
});

const kubeconfig = (user: object, cluster: object = {}) =>
  JSON.stringify({
    clusters: [
      { name: 'c', cluster: { server: sandbox.url, 'certificate-authority-data': toBase64(sandbox.ca), ...cluster } },
    ],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  });

async function failureOf(act: () => unknown): Promise<unknown> {
  try {
    await act();
  } catch (error) {
    return error;
  }
  throw new Error('nothing has failed');
}

const asked = async (text: string) => {
  const client = createClient(loadKubeconfig(text), { timeoutMs: 2000, maxRetries: 0 });
  try {
    await client.list(pods, { namespace: 'default' });
  } finally {
    await client.close();
  }
};

const failures: [name: string, act: () => unknown][] = [
  ['a token that the server does not know', () => asked(kubeconfig({ token }))],
  ['a token with a line break in it', () => asked(kubeconfig({ token: `${token}\nx` }))],
  ['a password that the server does not know', () => asked(kubeconfig({ username: 'u', password }))],
  ['a server that does not answer', () => asked(kubeconfig({ token }, { server: 'https://127.0.0.1:1' }))],
  ['an untrusted server', () => asked(kubeconfig({ token }, { 'certificate-authority-data': toBase64('nobody') }))],
  [
    'a proxy that is not there',
    () => asked(kubeconfig({ token }, { 'proxy-url': `http://u:${proxyPassword}@127.0.0.1:1` })),
  ],
  ['a proxy URL that is none', () => asked(kubeconfig({ token }, { 'proxy-url': `ftp://u:${proxyPassword}@x` }))],
  ['a server URL with a login', () => asked(kubeconfig({ token }, { server: `https://u:${password}@127.0.0.1:1` }))],
  ['a key without a certificate', () => asked(kubeconfig({ 'client-key-data': toBase64(strangeKey) }))],
  [
    'a key that is broken',
    () =>
      asked(
        kubeconfig({
          'client-key-data': toBase64(strangeKey.replace('MC4', 'XXX')),
          'client-certificate-data': toBase64(sandbox.ca),
        }),
      ),
  ],
  [
    'a plugin that fails',
    () =>
      asked(
        kubeconfig({
          exec: {
            apiVersion: 'client.authentication.k8s.io/v1',
            command: 'sh',
            args: ['-c', `echo $TOKEN; exit 1`],
            env: [{ name: 'TOKEN', value: token }],
          },
        }),
      ),
  ],
  ['a kubeconfig that is cut short', () => asked(kubeconfig({ token }).slice(0, -20))],
  ['a kubeconfig with a token that is no text', () => asked(kubeconfig({ token: [token] }))],
  ['a private key that is cut short', () => parsePrivateKey(strangeKey.slice(0, -40))],
  ['a private key of no known kind', () => parsePrivateKey(strangeKey.replaceAll('PRIVATE KEY', 'SECRET KEY'))],
  ['a host that does not take the key', () => connected(strangeKey, 'win-1')],
  ['a host that wants a password', () => connected(sandbox.privateKey.reveal(), 'win-3')],
];
test.each(failures)('%s: nothing of it is in the error, not even in what it carries along', async (_, act) => {
  const error = await failureOf(act);
  expectNoSecrets(
    [...planted, ...keySecrets('key of the operator', sandbox.privateKey.reveal())],
    [{ where: 'error', text: inspectedText(error) }],
  );
});

test('the error about a proxy that rejects a login does not contain the login', async () => {
  await using proxy = await startProxy(407);
  const error = await failureOf(() =>
    asked(kubeconfig({ token }, { 'proxy-url': `http://u:${proxyPassword}@127.0.0.1:${proxy.port}` })),
  );
  expect(proxy.seen[0]?.authorization).toBeDefined();
  expectNoSecrets(planted, [{ where: 'error', text: inspectedText(error) }]);
});

test('no way to print a Secret shows its value', () => {
  const held = { secret: new Secret(password), list: [new Secret(token)] };
  expectNoSecrets(
    planted,
    [inspectedText(held), JSON.stringify(held), String(held.secret), String(held.list)].map(text => ({
      where: 'value',
      text,
    })),
  );
});

test('an operator that cannot start prints no secret', async () => {
  const { url } = sandbox;
  for (const [user, cluster] of [
    [{ token }, {}],
    [{ token }, { server: 'https://127.0.0.1:1' }],
    [{ username: 'u', password }, { server: `${url}/nowhere` }],
  ] as const) {
    const folder = mkdtempSync(join(tmpdir(), 'wmco-secrets-'));
    writeFileSync(`${folder}/kubeconfig`, kubeconfig(user, cluster), { mode: 0o600 });
    const environment = { HTTPS_PROXY: `http://u:${proxyPassword}@127.0.0.1:1`, NO_PROXY: '127.0.0.1' };
    await using process = startWmco(
      [
        'operator',
        '--kubeconfig',
        `${folder}/kubeconfig`,
        '--namespace',
        'x',
        '--metrics-bind-address',
        '0',
        '--health-probe-bind-address',
        '0',
      ],
      { environment },
    );
    expect(await process.ended(60_000)).not.toBe(0);
    rmSync(folder, { recursive: true });
    expectNoSecrets(planted, [{ where: 'process', text: process.out() + process.err() }]);
  }
}, 120_000);

test('agents get the proxy only from their ConfigMap', async () => {
  const { items } = await operator.client.listAll(configMaps);
  const leaks = findLeaks(
    planted,
    items.map(item => ({ where: item.metadata.name ?? '', text: JSON.stringify(item) })),
  );
  expect(new Set(leaks.map(({ where }) => where.replace(/-[^-]*-sandbox$/, '')))).toEqual(
    new Set(['windows-services']),
  );
});

test('the commands about hosts and the roll-out print no secret', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'wmco-secrets-'));
  const kubeconfigFile = join(folder, 'kubeconfig');
  writeFileSync(kubeconfigFile, sandbox.kubeconfig, { mode: 0o600 });
  const secretsOfAll = [...planted, ...keySecrets('key of the operator', sandbox.privateKey.reveal())];
  for (const words of [
    ['status', '-o', 'json'],
    ['rollout', '-o', 'json'],
    ['rollout', 'retry', 'win-2'],
    ['rollout', 'pin', 'win-2', '--version', 'x'],
    ['reboot', 'win-2', '--no-wait'],
  ]) {
    await using wmco = startWmco(words, { environment: { KUBECONFIG: kubeconfigFile } });
    await wmco.ended(60_000);
    const text = wmco.out() + wmco.err();
    expect(text).not.toBe('');
    expectNoSecrets(secretsOfAll, [{ where: words.join(' '), text }]);
  }
  rmSync(folder, { recursive: true });
}, 120_000);

test('removals store and print no secret', async () => {
  const { client } = operator;
  const { namespace } = sandbox;
  await using maps = await recordObjects(client, configMaps, { namespace });
  await using instances = await recordObjects(client, windowsInstances, { namespace });
  const folder = mkdtempSync(join(tmpdir(), 'wmco-secrets-'));
  const kubeconfigFile = join(folder, 'kubeconfig');
  writeFileSync(kubeconfigFile, sandbox.kubeconfig, { mode: 0o600 });
  // It stays until it is forced.
  sandbox.host('direct').change({ network: 'refuses' });
  await client.delete(windowsInstances, 'direct', { namespace });
  const { record } = instanceAnnotation;
  const hasRecord = () => instances.events.some(({ object }) => object.metadata.annotations?.[record] !== undefined);
  await expect.poll(hasRecord).toBe(true);
  const environment = { KUBECONFIG: kubeconfigFile };
  await using wmco = startWmco(['remove', 'direct', '--force', '--yes'], { environment });
  expect(await wmco.ended()).toBe(0);
  rmSync(folder, { recursive: true });
  const { items: recorded } = await client.list(events, { namespace });
  const teardowns = recorded.filter(({ reason }) => reason === 'InstanceTeardown');
  const objects = [...maps.events, ...instances.events].map(({ object }) => object);
  const names = objects.map(({ metadata }) => metadata.name);
  expect(names).toEqual(expect.arrayContaining([configMapName.rolloutGrants, configMapName.removedHosts]));
  expect(teardowns).not.toEqual([]);
  const texts = [...objects.filter(({ metadata }) => !metadata.name?.startsWith('windows-services-')), ...recorded];
  expectNoSecrets(
    [...planted, ...keySecrets('key of the operator', sandbox.privateKey.reveal())],
    [
      ...texts.map(object => ({ where: `${object.kind} ${object.metadata.name}`, text: JSON.stringify(object) })),
      { where: 'wmco remove', text: wmco.out() + wmco.err() },
    ],
  );
});

async function connected(key: string, name: string): Promise<void> {
  const { address } = sandbox.host(name).spec;
  await (
    await sandbox.connect({
      address,
      username: 'Administrator',
      privateKeys: [parsePrivateKey(key)],
      pinnedKey: undefined,
    })
  ).close();
}
