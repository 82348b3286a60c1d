import { expect, test } from 'vitest';
import { ca, startMs } from '../../../test/kit/agent-certificates.ts';
import { manualClock } from '../../../test/kit/manual-clock.ts';
import { ModelFiles } from '../../../test/kit/model-files.ts';
import { rejectionOf } from '../../../test/kit/outcome.ts';
import { recordedLog } from '../../../test/kit/recorded-log.ts';
import { KubeconfigFile } from './kubeconfig-file.ts';

const path = 'C:\\k\\wicd-kubeconfig';
const { signal } = new AbortController();

function config(server: string, user: object = { token: 'hunter2' }): string {
  return JSON.stringify({
    clusters: [{ name: 'local', cluster: { server, 'certificate-authority': 'ca.crt' } }],
    users: [{ name: 'wicd', user }],
    contexts: [{ name: 'wicd', context: { cluster: 'local', user: 'wicd' } }],
    'current-context': 'wicd',
  });
}

function kubeconfigWith(text: string | undefined) {
  const files = new ModelFiles(
    () => undefined,
    () => undefined,
  );
  const write = (content: string) => files.texts.set(path, content);
  if (text !== undefined) write(text);
  const clock = manualClock(startMs);
  const recorded = recordedLog();
  return {
    files,
    write,
    clock,
    ...recorded,
    kubeconfig: new KubeconfigFile(path, { files, clock, log: recorded.log }),
  };
}

test('gives address, credential and, beside the file, the CA', async () => {
  const { files, kubeconfig } = kubeconfigWith(config('https://a:6443'));
  files.texts.set('C:\\k\\ca.crt', ca.cert);
  const connection = await kubeconfig.connection();
  expect(connection.server).toBe('https://a:6443');
  expect(await connection.trusted()).toBe(ca.cert);
  expect((await connection.identity.current(signal)).authorization?.reveal()).toBe('Bearer hunter2');
  expect(kubeconfig.known).toBe(connection);
});

test('reads the certificate flavour, wherever the file lies', async () => {
  const pem = 'C:\\k\\wicd-certs\\wicd-client-current.pem';
  const { files, kubeconfig } = kubeconfigWith(config('https://a', { 'client-certificate': pem, 'client-key': pem }));
  const { cert, key } = ca.issue({ commonName: 'x' });
  files.texts.set(pem, cert + key);
  const { clientCertificate } = await (await kubeconfig.connection()).identity.current(signal);
  expect(clientCertificate?.certificate).toBe(cert + key);
});

test('sees a change after 30 s, or at once on reread', async () => {
  const { write, clock, kubeconfig } = kubeconfigWith(config('https://a'));
  const first = await kubeconfig.connection();
  write(config('https://b'));
  await clock.advance(29_999);
  expect(await kubeconfig.connection()).toBe(first);
  await clock.advance(1);
  expect((await kubeconfig.connection()).server).toBe('https://b');
  write(config('https://c'));
  expect((await kubeconfig.reread()).server).toBe('https://c');
  expect(kubeconfig.known.server).toBe('https://c');
});

test('keeps the connection while the text stays the same, so that nothing is opened again', async () => {
  const { write, kubeconfig } = kubeconfigWith(config('https://a'));
  const first = await kubeconfig.connection();
  write(config('https://a'));
  expect(await kubeconfig.reread()).toBe(first);
});

const unfit: [name: string, change: (files: ModelFiles) => unknown][] = [
  ['gone', files => files.texts.delete(path)],
  ['empty', files => files.texts.set(path, '')],
  ['half written', files => files.texts.set(path, config('https://b').slice(0, 90))],
  ['without a server', files => files.texts.set(path, config('hunter2'))],
];
for (const [name, change] of unfit) {
  test(`keeps the last good one while the file is ${name}`, async () => {
    const { files, write, kubeconfig, lines } = kubeconfigWith(config('https://a'));
    const first = await kubeconfig.connection();
    change(files);
    expect(await kubeconfig.reread()).toBe(first);
    write(config('https://c'));
    expect((await kubeconfig.reread()).server).toBe('https://c');
    expect(JSON.stringify(lines)).not.toContain('hunter2');
  });
}

test('reports once that a new text cannot be used', async () => {
  const { write, kubeconfig, lines } = kubeconfigWith(config('https://a'));
  await kubeconfig.connection();
  write('{');
  await kubeconfig.reread();
  await kubeconfig.reread();
  expect(lines).toMatchObject([
    {
      level: 'warn',
      message: 'Invalid kubeconfig; using the previous one',
      fields: { file: path, error: { code: 'KUBECONFIG_MALFORMED' } },
    },
  ]);
});

const failing: [name: string, text: string | undefined, code: string, message: RegExp][] = [
  ['does not exist', undefined, 'CREDENTIAL_UNREADABLE', /^"C:\\\\k\\\\wicd-kubeconfig" does not exist$/],
  ['is empty', '', 'KUBECONFIG_MALFORMED', /^"C:\\\\k\\\\wicd-kubeconfig": kubeconfig is empty/],
  [
    'has a certificate without a key',
    config('https://a', { 'client-certificate': 'x' }),
    'CREDENTIAL_UNREADABLE',
    /wicd-kubeconfig": user wicd: /,
  ],
];
for (const [name, text, code, message] of failing) {
  test(`names a file that ${name}, and works once it is there`, async () => {
    const { kubeconfig, write } = kubeconfigWith(text);
    const error = await rejectionOf(kubeconfig.connection());
    expect(error).toMatchObject({ code, message: expect.stringMatching(message) });
    expect(error?.remedy).not.toBe('');
    expect(() => kubeconfig.known).toThrow(expect.objectContaining({ code: 'CREDENTIAL_UNREADABLE' }));
    write(config('https://a'));
    expect((await kubeconfig.reread()).server).toBe('https://a');
  });
}
