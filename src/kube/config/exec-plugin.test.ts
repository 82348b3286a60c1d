import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Secret } from '#base/secret.ts';
import { TestCa } from '../../../test/kit/certificates.ts';
import { manualClock } from '../../../test/kit/manual-clock.ts';
import type { ExecPlugin } from './kubeconfig.ts';
import { type PluginContext, pluginIdentity } from './exec-plugin.ts';

const { signal } = new AbortController();
const v1 = 'client.authentication.k8s.io/v1';
const { cert, key } = new TestCa().issue({ commonName: 'somebody' });
const secretText = 'never-show-this';

/** A real program: a shell script that counts its runs in a file and prints what the test says. */
async function script(body: string, more: Partial<ExecPlugin> = {}, context: PluginContext = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'exec-plugin-'));
  // A plugin may still be writing.
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }));
  await writeFile(join(folder, 'plugin.sh'), `#!/bin/sh\ncd "$(dirname "$0")" || exit\necho run >>runs\n${body}\n`);
  await chmod(join(folder, 'plugin.sh'), 0o755);
  const plugin: ExecPlugin = {
    apiVersion: v1,
    command: './plugin.sh',
    args: [],
    env: [],
    provideClusterInfo: false,
    ...more,
  };
  const runs = async () => (await readFile(join(folder, 'runs'), 'utf8').catch(() => '')).split('\n').length - 1;
  const environment = { PATH: '/usr/bin:/bin' };
  return { folder, runs, identity: pluginIdentity(plugin, { folder, environment, ...context }) };
}

/** Shell text that prints a credential. */
function prints(status: object, apiVersion = v1): string {
  return `cat <<'END'\n${JSON.stringify({ apiVersion, kind: 'ExecCredential', status })}\nEND`;
}

test('gives the token that the program prints', async () => {
  const { identity } = await script(prints({ token: 'abc' }));
  expect((await identity.current(signal)).authorization?.reveal()).toBe('Bearer abc');
});

test('gives the certificate that the program prints', async () => {
  const { identity } = await script(prints({ clientCertificateData: cert, clientKeyData: key }));
  const { clientCertificate, authorization } = await identity.current(signal);
  expect([clientCertificate?.certificate, clientCertificate?.key.reveal(), authorization]).toEqual([
    cert,
    key,
    undefined,
  ]);
});

test('gives both when the program prints both', async () => {
  const { identity } = await script(prints({ token: 'abc', clientCertificateData: cert, clientKeyData: key }));
  expect(Object.keys(await identity.current(signal)).sort()).toEqual(['authorization', 'clientCertificate']);
});

test('understands the older version of the protocol', async () => {
  const apiVersion = 'client.authentication.k8s.io/v1beta1';
  const { identity } = await script(prints({ token: 'abc' }, apiVersion), { apiVersion });
  expect((await identity.current(signal)).authorization?.reveal()).toBe('Bearer abc');
});

test('runs the program once for a credential without an end', async () => {
  const clock = manualClock();
  const { identity, runs } = await script(prints({ token: 'abc' }), {}, { clock });
  await identity.current(signal);
  clock.jump(10 * 365 * 86_400_000);
  await identity.current(signal);
  expect(await runs()).toBe(1);
});

test('runs it again when the credential has expired, not before', async () => {
  const clock = manualClock(Date.UTC(2026, 0, 1));
  const { identity, runs } = await script(
    prints({ token: 'abc', expirationTimestamp: '2026-01-01T00:10:00Z' }),
    {},
    { clock },
  );
  await identity.current(signal);
  await clock.advance(599_999);
  await identity.current(signal);
  expect(await runs()).toBe(1);
  await clock.advance(1);
  await identity.current(signal);
  expect(await runs()).toBe(2);
});

test('runs it once for all who wait', async () => {
  const { identity, runs } = await script(`sleep 0.1; ${prints({ token: 'abc' })}`);
  await Promise.all(Array.from({ length: 10 }, () => identity.current(signal)));
  expect(await runs()).toBe(1);
});

test('renew runs the plugin again and reports whether the credential changed', async () => {
  const { identity, runs } = await script(`n=$(wc -l <runs); [ $n -le 2 ] && n=1
printf '{"apiVersion":"${v1}","kind":"ExecCredential","status":{"token":"t%s"}}' $n`);
  const refused = await identity.current(signal);
  expect(await identity.renew(refused, signal)).toBe(false);
  expect(await identity.renew(refused, signal)).toBe(true);
  // Many requests were refused with the old one: the new one serves them all.
  expect(await identity.renew(refused, signal)).toBe(true);
  expect(await runs()).toBe(3);
  expect((await identity.current(signal)).authorization?.reveal()).toBe('Bearer t3');
});

test('reports the program what it is asked for, and hands over its environment and arguments', async () => {
  const more = { args: ['get', 'token'], env: [{ name: 'MINE', value: new Secret('x y') }] };
  const { identity, folder } = await script(
    `printf '%s|%s|%s|%s' "$*" "$MINE" "$KUBERNETES_EXEC_INFO" "$HOME" >seen; ${prints({ token: 'abc' })}`,
    more,
    { environment: { PATH: '/usr/bin:/bin', HOME: '/home/me', MINE: 'other' } },
  );
  await identity.current(signal);
  const [args, mine, info = '', home] = (await readFile(join(folder, 'seen'), 'utf8')).split('|');
  expect([args, mine, home]).toEqual(['get token', 'x y', '/home/me']);
  expect(JSON.parse(info)).toEqual({ apiVersion: v1, kind: 'ExecCredential', spec: { interactive: false } });
});

test('passes the cluster to the plugin with provideClusterInfo', async () => {
  const cluster = { server: 'https://a', skipTlsVerify: false, caData: 'CA', tlsServerName: 'b' };
  const { identity, folder } = await script(
    `printf '%s' "$KUBERNETES_EXEC_INFO" >seen; ${prints({ token: 'abc' })}`,
    { provideClusterInfo: true },
    { cluster },
  );
  await identity.current(signal);
  expect(JSON.parse(await readFile(join(folder, 'seen'), 'utf8')).spec.cluster).toEqual({
    server: 'https://a',
    'tls-server-name': 'b',
    'insecure-skip-tls-verify': false,
    'certificate-authority-data': 'Q0E=',
  });
});

test('finds a command without a path in PATH', async () => {
  const answer = JSON.stringify({ apiVersion: v1, kind: 'ExecCredential', status: { token: 'abc' } });
  const { identity } = await script('', { command: 'echo', args: [answer] });
  expect((await identity.current(signal)).authorization?.reveal()).toBe('Bearer abc');
});

test('does not wait for the program longer than the caller', async () => {
  const { identity } = await script('sleep 2');
  const caller = new AbortController();
  const waiting = expect(identity.current(caller.signal)).rejects.toThrow('enough');
  caller.abort(new Error('enough'));
  await waiting;
});

test('kills a plugin at its timeout, with its child processes', async () => {
  const { identity } = await script('sleep 60', {}, { timeoutMs: 100 });
  await expect(identity.current(signal)).rejects.toMatchObject({
    code: 'CREDENTIAL_PLUGIN_FAILED',
    message: 'credential plugin "./plugin.sh" did not finish within 0.1 s',
  });
});

test('tries again after a failure', async () => {
  const { identity } = await script(`[ $(wc -l <runs) -gt 1 ] || exit 3\n${prints({ token: 'abc' })}`);
  await expect(identity.current(signal)).rejects.toThrow('ended with code 3');
  expect((await identity.current(signal)).authorization?.reveal()).toBe('Bearer abc');
});

const failures: [string, string, Partial<ExecPlugin>, string][] = [
  ['fails', `echo ${secretText} >&2; exit 7`, {}, 'ended with code 7'],
  ['is killed', 'kill -9 $$', {}, 'ended with SIGKILL'],
  ['is missing', '', { command: './other.sh', installHint: 'Install it.' }, 'was not found'],
  ['prints no JSON', `echo ${secretText}`, {}, 'did not print JSON'],
  [
    'prints something else',
    `echo '{"kind":"Status","a":"${secretText}"}'`,
    {},
    `did not print an ExecCredential of ${v1}`,
  ],
  [
    'prints another version',
    prints({ token: secretText }, 'client.authentication.k8s.io/v1beta1'),
    {},
    `did not print an ExecCredential of ${v1}`,
  ],
  [
    'prints no status',
    `echo '{"apiVersion":"${v1}","kind":"ExecCredential"}'`,
    {},
    'returned neither a token nor a certificate with its key',
  ],
  [
    'prints a certificate without a key',
    prints({ clientCertificateData: cert }),
    {},
    'returned neither a token nor a certificate with its key',
  ],
  ['prints an empty token', prints({ token: '' }), {}, 'returned neither a token nor a certificate with its key'],
  [
    'prints a key that does not fit',
    prints({ clientCertificateData: cert, clientKeyData: secretText }),
    {},
    'returned an unusable client certificate: certificate or key is not in PEM form',
  ],
  [
    'prints no time',
    prints({ token: secretText, expirationTimestamp: 'soon' }),
    {},
    'returned the expirationTimestamp "soon", which is not a time',
  ],
  ['prints without an end', `yes ${secretText}`, {}, 'printed more than 1048576 bytes'],
  [
    'is of a version nobody knows',
    '',
    { apiVersion: 'client.authentication.k8s.io/v2' },
    'apiVersion "client.authentication.k8s.io/v2" is not supported',
  ],
  ['wants a terminal', '', { interactiveMode: 'Always' }, 'needs a terminal (interactiveMode: Always)'],
];
for (const [name, body, more, words] of failures) {
  test(`reports of a program that ${name}, without showing what it printed`, async () => {
    const { identity } = await script(body, { args: [secretText], ...more });
    const error = await identity.current(signal).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: 'CREDENTIAL_PLUGIN_FAILED',
      remedy: more.installHint ?? expect.stringMatching(/\.$/),
    });
    expect((error as Error).message).toBe(`credential plugin "${more.command ?? './plugin.sh'}" ${words}`);
    expect(JSON.stringify(error) + String((error as Error).cause)).not.toContain(secretText);
  });
}

test('rejects a token that no header can hold', async () => {
  const { identity } = await script(prints({ token: 'a b' }));
  await expect(identity.current(signal)).rejects.toMatchObject({ code: 'CREDENTIAL_UNREADABLE' });
});
