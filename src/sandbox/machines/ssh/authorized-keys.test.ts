import { expect, test } from 'vitest';
import { right, sid } from '#agent/access/descriptor.ts';
import { descriptorOf } from '#agent/access/plan.ts';
import { toBase64 } from '#base/bytes.ts';
import { authorizedKeysFile as path, file } from '#contract/paths.ts';
import { printPublicKey } from '#host/keys/public-key.ts';
import { installedAgent } from '../../../../test/kit/installed-agent.ts';
import { codeOf, startHost, type TestHost } from '../../../../test/kit/simulated-host.ts';
import { makeKey } from '../../../../test/kit/ssh-server.ts';

const { key: other } = makeKey('ecdsa');
const wordOf = (blob: Uint8Array) => Buffer.from(blob).toString('base64url');

/** `fine` if the host lets the key in. */
const login = (made: TestHost, key = made.key) =>
  codeOf(async () => {
    await using _ = await made.connect('Administrator', [key]);
  });

test('a fresh host lets in the key that it was made with', async () => {
  await using made = await startHost();
  expect(await made.host.files.read(path)).toBe(`${printPublicKey(made.key.publicKey)}\n`);
  expect([await login(made), await login(made, other)]).toEqual(['fine', 'HOST_REFUSED_KEY']);
});

test('keys can be set at run time, and count from the next login on', async () => {
  await using made = await startHost();
  await using connection = await made.connect();
  await made.host.setAuthorizedKeys(['# the new key', `${printPublicKey(other.publicKey)} new`]);
  expect([await login(made), await login(made, other)]).toEqual(['HOST_REFUSED_KEY', 'fine']);
  expect((await connection.exec('hostname')).exitCode).toBe(0);
});

test('keys that were set stay after a reboot', async () => {
  await using made = await startHost({ times: { bootMs: 10, shutdownMs: 10 } });
  await made.host.setAuthorizedKeys([printPublicKey(other.publicKey)]);
  made.host.cutPower();
  await expect.poll(() => made.host.isOn).toBe(true);
  expect([await login(made), await login(made, other)]).toEqual(['HOST_REFUSED_KEY', 'fine']);
});

const user = 'S-1-5-21-1-2-3-1001';
const users = { owner: sid.system, entries: [{ allows: true, sid: sid.users, mask: right.all, inheritOnly: false }] };
const edits: [name: string, edit: (host: TestHost['host'], line: string) => Promise<unknown>, outcome: string][] = [
  ['in the same words', (host, line) => host.files.write(path, line), 'fine'],
  ['with the line end of Windows', (host, line) => host.files.write(path, `# x\r\n${line}\r\n`), 'fine'],
  ['with a byte order mark', (host, line) => host.files.write(path, `\ufeff${line}`), 'HOST_REFUSED_KEY'],
  ['below a byte order mark', (host, line) => host.files.write(path, `\ufeff\n${line}`), 'fine'],
  ['in UTF-16', (host, line) => host.files.write(path, line.replaceAll(/(?<=.)/g, '\0')), 'HOST_REFUSED_KEY'],
  ['with another command', (host, line) => host.files.write(path, `command="x" ${line}`), 'HOST_REFUSED_KEY'],
  [
    'in a file of a user',
    async host => host.files.rights.set(path, { ...descriptorOf('secret'), owner: user }),
    'HOST_REFUSED_KEY',
  ],
  ['in a file that users can write to', async host => host.files.rights.set(path, users), 'HOST_REFUSED_KEY'],
  ['in no file', host => host.files.remove(path), 'HOST_REFUSED_KEY'],
];
for (const [name, edit, outcome] of edits) {
  test(`the answer to a key ${name} is ${outcome}`, async () => {
    await using made = await startHost();
    await edit(made.host, printPublicKey(made.key.publicKey));
    expect(await login(made)).toBe(outcome);
  });
}

test('with the fault wrong-key no key is let in; when it ends, those in the file are', async () => {
  await using made = await startHost({ traits: { acceptsKey: false } });
  expect(await login(made)).toBe('HOST_REFUSED_KEY');
  await made.host.setAuthorizedKeys([printPublicKey(other.publicKey)]);
  expect(await login(made, other)).toBe('HOST_REFUSED_KEY');
  made.host.change({ acceptsKey: true });
  expect([await login(made), await login(made, other)]).toEqual(['HOST_REFUSED_KEY', 'fine']);
});

test('the agent rotates the key of a host over SSH: one lets the other in, and that one shuts it out', async () => {
  await using made = await startHost();
  await made.install(file.agent, '11.0.0-1');
  const alice = printPublicKey(makeKey().key.publicKey);
  await made.host.setAuthorizedKeys([`${alice} alice`, printPublicKey(made.key.publicKey)]);
  const [add, remove] = [wordOf(other.publicKey.blob), wordOf(made.key.publicKey.blob)];
  const answers: unknown[] = [];
  for (const [key, change] of [
    [made.key, { add }],
    [other, { remove }],
  ] as const) {
    await using connection = await made.connect('Administrator', [key]);
    const { exitCode, stdout } = await connection.exec(installedAgent.authorizeKey(change));
    answers.push([exitCode, JSON.parse(stdout)]);
  }
  expect(answers).toEqual([
    [0, { added: true, removed: 0, file: path }],
    [0, { added: false, removed: 1, file: path }],
  ]);
  expect(await made.host.files.read(path)).toBe(
    `${other.publicKey.type} ${toBase64(other.publicKey.blob)}\n${alice} alice\n`,
  );
  expect([await login(made), await login(made, other)]).toEqual(['HOST_REFUSED_KEY', 'fine']);
});
