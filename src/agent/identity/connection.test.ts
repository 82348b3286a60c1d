import { expect, test } from 'vitest';
import { silentLog } from '#base/log.ts';
import { agentSubject, ca, hourMs, minuteMs, startMs, storedText } from '../../../test/kit/agent-certificates.ts';
import { manualClock } from '../../../test/kit/manual-clock.ts';
import { ModelFiles } from '../../../test/kit/model-files.ts';
import { rejectionOf } from '../../../test/kit/outcome.ts';
import { type ConnectionOptions, openConnection } from './connection.ts';

const kubeconfigPath = 'C:\\k\\wicd-kubeconfig';
const current = 'C:\\k\\wicd-certs\\wicd-client-current.pem';
const { signal } = new AbortController();

function config(user: object, cluster: object = {}): string {
  return JSON.stringify({
    clusters: [{ name: 'local', cluster: { server: 'https://api-int.example.com:6443', ...cluster } }],
    users: [{ name: 'wicd', user }],
    contexts: [{ name: 'wicd', context: { cluster: 'local', user: 'wicd' } }],
    'current-context': 'wicd',
  });
}

function hostWith(texts: Record<string, string>) {
  const files = new ModelFiles(
    () => undefined,
    () => undefined,
  );
  for (const [path, text] of Object.entries(texts)) files.texts.set(path, text);
  const clock = manualClock(startMs);
  const open = (more: Partial<ConnectionOptions> = {}) =>
    openConnection({ kubeconfigPath, files, clock, log: silentLog, ...more });
  return { files, clock, open };
}

type Open = Awaited<ReturnType<typeof openConnection>>;
/** How the connection would show itself: `certificate`, or the token. */
async function shownBy(connection: Open): Promise<string | undefined> {
  const { clientCertificate, authorization } = await connection.identity.current(signal);
  return clientCertificate === undefined ? authorization?.reveal() : 'certificate';
}

const flavours = {
  token: config({ token: 'main' }),
  certificate: config({ 'client-certificate': current, 'client-key': current }),
  nobody: config({}),
};
const valid = storedText();
const expired = storedText({ notAfter: startMs });
const expiredFlavour = { [kubeconfigPath]: flavours.certificate, [current]: expired };

const chosen: [name: string, texts: Record<string, string>, want: string][] = [
  ['the token of a new host', { [kubeconfigPath]: flavours.token }, 'Bearer main'],
  ['the token before the certificate', { [kubeconfigPath]: flavours.token, [current]: valid }, 'Bearer main'],
  [
    'the certificate of whatever node when there is nothing else',
    { [kubeconfigPath]: flavours.nobody, [current]: storedText(agentSubject('x')) },
    'certificate',
  ],
  [
    'the certificate that the kubeconfig names',
    { [kubeconfigPath]: flavours.certificate, [current]: valid },
    'certificate',
  ],
  [
    'the token when the certificate has expired',
    { [kubeconfigPath]: flavours.token, [current]: expired },
    'Bearer main',
  ],
  [
    'the token when the certificate is damaged',
    { [kubeconfigPath]: flavours.token, [current]: valid.slice(0, 700) },
    'Bearer main',
  ],
];
for (const [name, texts, want] of chosen) {
  test(`shows ${name}`, async () => expect(await shownBy(await hostWith(texts).open())).toBe(want));
}

test('reads certificates from the given directory', async () => {
  const { open } = hostWith({ 'D:\\main': flavours.nobody, 'D:\\certs\\wicd-client-current.pem': valid });
  expect(await shownBy(await open({ kubeconfigPath: 'D:\\main', certDir: 'D:\\certs' }))).toBe('certificate');
});

test('uses a valid certificate when the token is rejected', async () => {
  const { open, clock } = hostWith({ [kubeconfigPath]: flavours.token, [current]: valid });
  const [first, second] = [await open(), await open()];
  const refused = await first.identity.current(signal);
  expect(await first.identity.renew(refused, signal)).toBe(true);
  expect([await shownBy(first), await shownBy(second)]).toEqual(['certificate', 'Bearer main']);
  await clock.advance(hourMs);
  await expect(first.identity.current(signal)).rejects.toMatchObject({ code: 'AGENT_UNIDENTIFIED' });
});

test('uses a new token, and does not switch to a new certificate', async () => {
  const { files, open, clock } = hostWith({ [kubeconfigPath]: flavours.token });
  const connection = await open();
  expect(await shownBy(connection)).toBe('Bearer main');
  files.texts.set(kubeconfigPath, config({ token: 'fresh' }));
  await clock.advance(30_000);
  expect(await shownBy(connection)).toBe('Bearer fresh');
  files.texts.set(current, valid);
  expect(await shownBy(connection)).toBe('Bearer fresh');
});

test('reports the problem of each credential, with a remedy', async () => {
  const { open } = hostWith(expiredFlavour);
  const error = await rejectionOf((await open()).identity.current(signal));
  const ended = 'the certificate expired at 2026-03-01T12:00:00Z';
  expect(error).toMatchObject({
    code: 'AGENT_UNIDENTIFIED',
    message: `no credential for the API server works: ${kubeconfigPath}: ${ended}; ${current}: ${ended}`,
    remedy: expect.stringContaining(`to ${kubeconfigPath}.`),
  });
});

test('reports that there is no certificate yet', async () => {
  const { open } = hostWith({ [kubeconfigPath]: flavours.nobody });
  const error = await rejectionOf((await open()).identity.current(signal));
  expect(error?.message).toContain(`${kubeconfigPath}: contains no credential`);
  expect(error?.message).toMatch(/wicd-client-current.pem: does not exist$/);
});

test('rejects when the kubeconfig is missing', async () => {
  await expect(hostWith({}).open()).rejects.toMatchObject({
    code: 'CREDENTIAL_UNREADABLE',
    message: '"C:\\\\k\\\\wicd-kubeconfig" does not exist',
  });
});

test('follows the kubeconfig in all that concerns the server', async () => {
  const { files, clock, open } = hostWith({ [kubeconfigPath]: flavours.token });
  const connection = await open();
  const facts = async () => {
    await connection.identity.current(signal);
    const { server, serverName, skipTlsVerify, proxyUrl } = connection;
    return [server, serverName, skipTlsVerify, proxyUrl?.reveal(), await connection.trusted()];
  };
  expect(await facts()).toEqual(['https://api-int.example.com:6443', undefined, false, undefined, undefined]);
  files.texts.set(
    kubeconfigPath,
    config(
      { token: 'main' },
      {
        server: 'https://other:6443/',
        'tls-server-name': 'kubernetes',
        'insecure-skip-tls-verify': true,
        'proxy-url': 'http://p:1',
        'certificate-authority-data': Buffer.from(ca.cert).toString('base64'),
      },
    ),
  );
  await clock.advance(30_000);
  expect(await facts()).toEqual(['https://other:6443', 'kubernetes', true, 'http://p:1', ca.cert]);
});

const proxies: [
  name: string,
  cluster: object,
  environment: Record<string, string> | undefined,
  want: string | undefined,
][] = [
  ['none', {}, undefined, undefined],
  ['that of the environment', {}, { HTTPS_PROXY: 'http://e:1' }, 'http://e:1'],
  ['none for an exception', {}, { HTTPS_PROXY: 'http://e:1', NO_PROXY: '.example.com' }, undefined],
  ['that of the kubeconfig', { 'proxy-url': 'http://k:1' }, { HTTPS_PROXY: 'http://e:1' }, 'http://k:1'],
];
for (const [name, cluster, environment, want] of proxies) {
  test(`uses as proxy ${name}`, async () => {
    const { open } = hostWith({ [kubeconfigPath]: config({ token: 't' }, cluster) });
    const connection = await open(environment === undefined ? {} : { environment });
    expect(connection.proxyUrl?.reveal()).toBe(want);
  });
}

test('a certificate that is replaced while it expires is seen at once', async () => {
  const { files, clock, open } = hostWith({ [kubeconfigPath]: flavours.certificate, [current]: valid });
  const connection = await open();
  await clock.advance(hourMs);
  const next = storedText({ notAfter: startMs + hourMs + 10 * minuteMs });
  files.texts.set(current, next);
  const { clientCertificate } = await connection.identity.current(signal);
  expect(clientCertificate?.certificate).toBe(next);
});
