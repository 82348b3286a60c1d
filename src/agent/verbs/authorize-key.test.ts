import { expect, test } from 'vitest';
import { printPublicKey } from '#base/ssh-public-key.ts';
import { agentCommands } from '#contract/agent-command.ts';
import { authorizedKeysFile, dir, file } from '#contract/paths.ts';
import { runIn, worldOf } from '../../../test/kit/agent-bench.ts';
import { ModelHost } from '../../../test/kit/model-host.ts';
import { recordedLog } from '../../../test/kit/recorded-log.ts';
import { makeKey } from '../../../test/kit/ssh-server.ts';

const keys = [makeKey().key.publicKey, makeKey('ecdsa').key.publicKey] as const;
const [oldLine, newLine] = [`${printPublicKey(keys[0])}\n`, `${printPublicKey(keys[1])}\n`];
const [remove, add] = [
  Buffer.from(keys[0].blob).toString('base64url'),
  Buffer.from(keys[1].blob).toString('base64url'),
];
const words = (change: { add?: string; remove?: string }) =>
  agentCommands(file.agent)
    .authorizeKey(change)
    .slice(file.agent.length + 1);

async function hostWith(content: string | Uint8Array): Promise<ModelHost> {
  const host = new ModelHost();
  await host.files.makeDirectory(dir.ssh);
  host.fileTexts.set(authorizedKeysFile, content);
  host.files.rights.set(authorizedKeysFile, 'secret');
  return host;
}

test('prints what it did, as text and as JSON', async () => {
  const host = await hostWith(oldLine);
  const world = worldOf(host);
  const added = await runIn(world, words({ add }));
  expect([added.code, JSON.parse(added.out)]).toEqual([0, { added: true, removed: 0, file: authorizedKeysFile }]);
  const plain = await runIn(world, `authorize-key --add ${add} --remove ${remove}`);
  expect(plain).toEqual({ code: 0, err: '', out: `Added no line to ${authorizedKeysFile}.\nRemoved 1 line.\n` });
  expect(host.fileTexts.get(authorizedKeysFile)).toBe(newLine);
});

test('says and logs that the file had an encoding that sshd cannot read', async () => {
  const host = await hostWith(Buffer.concat([Buffer.of(0xff, 0xfe), Buffer.from(oldLine, 'utf16le')]));
  const logged = recordedLog();
  const { out } = await runIn(worldOf(host, logged), `authorize-key --add ${add}`);
  expect(out).toContain('The file was UTF-16, which sshd cannot read, and is UTF-8 now.');
  expect(logged.lines).toMatchObject([{ message: 'Converted to UTF-8' }]);
  expect(host.fileTexts.get(authorizedKeysFile)).toBe(newLine + oldLine);
});

const refused: [name: string, line: string, code: string, message: string][] = [
  ['no key', 'authorize-key', 'USAGE', 'needs --add, --remove or both'],
  ['the same key twice', `authorize-key --add ${add} --remove ${add}`, 'USAGE', 'the same key'],
  ['the same key with padding', `authorize-key --add ${remove} --remove ${remove}=`, 'USAGE', 'the same key'],
  ['no base64url', `authorize-key --add ssh-ed25519`, 'USAGE', '--add'],
  ['a key with more behind it', `authorize-key --remove ${add}AAAA`, 'USAGE', '--remove'],
  ['the last key', `authorize-key --remove ${remove}`, 'AUTHORIZED_KEY_LAST', 'no other key'],
];
for (const [name, line, code, message] of refused) {
  test(`refuses ${name} and changes nothing`, async () => {
    const host = await hostWith(oldLine);
    const { code: exitCode, out } = await runIn(worldOf(host), `${line} -o json`);
    const { error } = JSON.parse(out) as { error: { code: string; message: string; remedy: string } };
    expect([exitCode, error.code, error.remedy === '']).toEqual([1, code, false]);
    expect(error.message).toContain(message);
    expect(host.fileTexts.get(authorizedKeysFile)).toBe(oldLine);
  });
}

test('an operator that leads no more is refused', async () => {
  const host = await hostWith(oldLine);
  const from = (count: number) => `--leader 00000000-0000-4000-8000-000000000000.${count}`;
  expect((await runIn(worldOf(host), `authorize-key --add ${add} ${from(2)}`)).code).toBe(0);
  expect((await runIn(worldOf(host), `authorize-key --remove ${remove} ${from(1)}`)).err).toContain('LEADER_STALE');
});
