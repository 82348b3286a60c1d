import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { powershellTokens } from '../../../test/kit/powershell-tokens.ts';
import { recordedTerminal } from '../../../test/kit/status-views.ts';
import { main } from '../main.ts';
import { prepareHostProgram } from './prepare-host.ts';

const key = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIbM+SmqWhs/D5n4HgqjPvt4lz2qsmyaSbDs1SZBurg3';
const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const pem = privateKey.export({ format: 'pem', type: 'pkcs8' });
const secretPart = pem.split('\n')[1] ?? '';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'wmco-prepare-host-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

async function run(...words: string[]): Promise<{ code: number; out: string; err: string }> {
  const recorded = recordedTerminal();
  const terminal = { ...recorded, stdin: () => Promise.resolve(''), runtime: '' };
  const program = {
    name: 'prepare-host',
    summary: '',
    run: (rest: readonly string[]) => prepareHostProgram(rest, terminal),
  };
  const code = await main(['prepare-host', ...words], terminal, [program]);
  return { code, out: recorded.text(), err: recorded.errors() };
}

async function runWith(
  content: string | Buffer,
  ...words: string[]
): Promise<{ code: number; out: string; err: string }> {
  const path = join(folder, 'key.pub');
  writeFileSync(path, content);
  return run('--key-file', path, ...words);
}

const keyIn = (script: string) => powershellTokens(script).find(({ is }) => is === 'string')?.text;
const utf16 = (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le');

const accepted: [what: string, content: string | Buffer, want: string, note: string][] = [
  ['a key', `${key}\n`, key, ''],
  ['a key with a comment', `${key} me@example.com\n`, `${key} me@example.com`, ''],
  ['a key with a comment of several words', `${key} host 7\r\n`, `${key} host 7`, ''],
  ['a key in UTF-16', utf16(`${key} me\r\n`), `${key} me`, ''],
  ['a key in UTF-16, big end first', utf16(`${key} me`).swap16(), `${key} me`, ''],
  ['a key with a byte order mark', `\ufeff${key}`, key, ''],
  ['a comment with a quote', `${key} it's`, key, 'comment'],
  ['a comment with typographic quotes', `${key} it\u2019s; calc`, key, 'comment'],
  ['a comment with a subexpression', `${key} $(calc)`, key, 'comment'],
  ['a comment with a backtick', `${key} \`n`, key, 'comment'],
  ['a comment in another alphabet', `${key} \u00e9`, key, 'comment'],
  ['a long comment', `${key} ${'a'.repeat(201)}`, key, 'comment'],
];
for (const [what, content, want, note] of accepted) {
  test(`reads ${what}`, async () => {
    const { code, out, err } = await runWith(content);
    expect([code, keyIn(out)]).toEqual([0, want]);
    expect(err).toMatch(note === '' ? /^$/ : /^note: .*key\.pub: the comment .* is left out\n$/);
    expect(out).toMatch(/^[\n\x20-\x7e]*$/);
  });
}

const unreadable: [what: string, content: string | Buffer, message: RegExp, remedy: RegExp][] = [
  ['a private key', pem, /key\.pub: this is a private key/, /ssh-keygen -y/],
  ['a private key in UTF-16', utf16(pem), /this is a private key/, /ssh-keygen -y/],
  ['a private key after the public one', `${key}\n${pem}`, /this is a private key/, /ssh-keygen -y/],
  ['a PuTTY key', `PuTTY-User-Key-File-3: ssh-ed25519\n${secretPart}`, /this is a private key/, /ssh-keygen -y/],
  ['a public key in PEM', publicKey.export({ format: 'pem', type: 'spki' }), /another format/, /ssh-keygen -i/],
  ['an SSH2 public key', '---- BEGIN SSH2 PUBLIC KEY ----\nAAAA', /another format/, /ssh-keygen -i/],
  ['UTF-16 without a byte order mark', Buffer.from(key, 'utf16le'), /zero bytes, such as UTF-16/, /ascii/],
  ['two lines', `${key}\n${key}\n`, /more than one line/, /ssh-keygen/],
  ['options', `command="calc" ${key}`, /not of the form/, /ssh-keygen/],
  ['an empty file', '', /not of the form/, /ssh-keygen/],
];
for (const [what, content, message, remedy] of unreadable) {
  test(`refuses ${what}, and prints nothing of it`, async () => {
    const { code, out, err } = await runWith(content);
    expect([code, out]).toEqual([1, '']);
    expect(err).toMatch(/^error: PUBLIC_KEY_UNREADABLE: /);
    expect(err).toMatch(message);
    expect(err).toMatch(remedy);
    expect(err).not.toContain(secretPart);
    expect(err).not.toContain('AAAA');
  });
}

test('a weak key is reported', async () => {
  const { code, out, err } = await runWith(weakRsa());
  expect([code, err]).toEqual([1, expect.stringContaining('PUBLIC_KEY_WEAK')]);
  expect(out).not.toBe('');
});

/** As ssh-keygen would write a key of 1024 bits. */
function weakRsa(): string {
  const part = (bytes: Buffer) => Buffer.concat([Buffer.from([0, 0, 0, bytes.length]), bytes]);
  const modulus = Buffer.concat([Buffer.from([0]), Buffer.alloc(128, 0xc5)]);
  const blob = Buffer.concat([part(Buffer.from('ssh-rsa')), part(Buffer.from([1, 0, 1])), part(modulus)]);
  return `ssh-rsa ${blob.toString('base64')}`;
}

test('the source of the capability is text for PowerShell', async () => {
  const { out } = await runWith(key, '--capability-source', "D:\\it's $(calc)");
  expect(powershellTokens(out).filter(({ is }) => is === 'string')[1]?.text).toBe("D:\\it's $(calc)");
});

const refused: [words: string[], code: number, message: RegExp][] = [
  [['--key-file', '/nowhere/x.pub'], 1, /INPUT_UNREADABLE: \/nowhere\/x\.pub/],
  [['--kubeconfig', '/nowhere'], 1, /kubeconfig \/nowhere cannot be read/],
  [['x.pub'], 2, /unexpected argument "x\.pub"/],
];
for (const [words, want, message] of refused) {
  test(`"${words.join(' ')}" is refused`, async () => {
    const { code, out, err } = await run(...words);
    expect([code, out]).toEqual([want, '']);
    expect(err).toMatch(message);
  });
}

test('a source with other characters is refused', async () => {
  const { code, err } = await runWith(key, '--capability-source', 'D:\\\u00e9');
  expect([code, err]).toEqual([1, expect.stringContaining('COMMAND_WORD_INVALID: --capability-source')]);
});
