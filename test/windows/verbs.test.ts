import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { agentCommands, controllerCommand } from '../../src/contract/agent-command.ts';
import { parseInventory } from '../../src/contract/inventory.ts';
import { agentName } from '../../src/contract/names.ts';
import { agentProgram, authorizedKeysFile, dir, file, requiredDirectories } from '../../src/contract/paths.ts';
import { printPublicKey } from '../../src/host/keys/public-key.ts';
import type { WindowsHost } from '../kit/winhost/host.ts';
import { WindowsLab } from '../kit/winhost/lab.ts';
import { installedAgent } from '../kit/installed-agent.ts';
import { makeKey } from '../kit/ssh-server.ts';

interface SshKey {
  line: string;
  word: string;
}

let lab: WindowsLab;
let host: WindowsHost;

beforeAll(async () => {
  lab = await WindowsLab.start();
  host = await lab.createHost();
  await host.run('mkdir C:\\k');
  await host.upload(inject('agentProgram'), file.agent);
});
afterAll(() => lab?.stop());

/** Output of the .exe over SSH, with LF line breaks. */
async function agent(line: string) {
  const { code, stdout, stderr } = await host.exec(line.startsWith(file.agent) ? line : `${file.agent} ${line}`);
  const plain = (text: string) => text.replaceAll('\r\n', '\n');
  return { code, out: plain(stdout), err: plain(stderr) };
}
const polling = { timeout: 60_000, interval: 400 };
const json = (text: string) => JSON.parse(text) as Record<string, unknown>;
const inventoryOf = async () => parseInventory((await agent(installedAgent.inventory())).out, host.name);

test('prints its version and runtime', async () => {
  const { code, out, err } = await agent('version');
  expect([code, err]).toEqual([0, '']);
  expect(out).toMatch(/^windows-instance-config-daemon version: "11\.0\.0-.+", node version: "v26\..+ win32\/x64"\n$/);
  expect(json((await agent(installedAgent.version)).out)).toMatchObject({
    runtime: expect.stringContaining('win32/x64'),
  });
});

test('prints help', async () => {
  expect(await agent('--help')).toMatchObject({ code: 0, err: '', out: expect.stringContaining('enable-containers') });
  expect((await agent('cleanup --help')).out).toContain('--keep-settings');
});

const wrong: [line: string, code: string, message: string][] = [
  ['burn', 'USAGE', 'unknown command "burn"'],
  ['cleanup', 'USAGE', 'missing --kubeconfig and --namespace'],
  ['inventory --force', 'USAGE', 'unknown flag "--force"'],
  ['rename --name win_1', 'HOST_NAME_INVALID', 'win_1'],
  [
    'controller --windows-service --node win-1 --kubeconfig C:\\k\\none --namespace ns',
    'WINDOWS_NOT_A_SERVICE',
    'service',
  ],
  [
    'bootstrap --node win-1 --desired-version v1 --kubeconfig C:\\k\\none --namespace ns',
    'CREDENTIAL_UNREADABLE',
    'C:\\\\k\\\\none',
  ],
  [installedAgent.stage('C:\\k\\none', 'a'.repeat(64)).replace(' -o json', ''), 'INPUT_UNREADABLE', 'C:\\k\\none'],
];
for (const [line, error, message] of wrong) {
  test(`fails with code 1 and a remedy: ${line.replace(`${file.agent} `, '')}`, async () => {
    const plain = await agent(line);
    expect([plain.code, plain.out]).toEqual([1, '']);
    expect(plain.err).toMatch(new RegExp(`^error: ${error === 'USAGE' ? '' : `${error}\\w*: `}.*\\n  -> .+\\n$`, 'm'));
    expect(plain.err).toContain(message);
    const { code, out } = await agent(`${line} -o json`);
    const want = { code: expect.stringContaining(error), message: expect.any(String), remedy: expect.any(String) };
    expect([code, json(out)]).toEqual([1, { error: want }]);
  });
}

test('prints the inventory of the host', async () => {
  const { code, out } = await agent(installedAgent.inventory());
  expect(code).toBe(0);
  const inventory = parseInventory(out, host.name);
  expect(inventory).toMatchObject({ hostName: expect.stringMatching(/^win-1$/i), services: [], problems: [] });
  expect(inventory.nodeName).toBe('win-1');
  expect(inventory.adapters.find(({ hasDefaultRoute }) => hasDefaultRoute)?.addresses).toContain(`${host.address}/24`);
  expect(inventory.os.build).toMatch(/^10\.0\.20348/);
  expect(inventory.files).toHaveProperty([file.agent]);
  expect(Math.abs(Date.parse(inventory.time) - Date.now())).toBeLessThan(60_000);
});

test('prints the inventory as text', async () => {
  const { out } = await agent('inventory');
  expect(out).toMatch(/^Host: +win-1/im);
  expect(out).toContain(host.address);
});

test('cleans a host that was never configured and has no kubeconfig', async () => {
  const { code, out } = await agent(`${installedAgent.cleanup('ns')} -o json`);
  expect([code, json(out)]).toEqual([
    0,
    { removed: [], keptSettings: false, rebootNeeded: false, clusterReached: true },
  ]);
});

test('adds and removes SSH keys of administrators, and leaves all other lines as they are', async () => {
  const [old, next, alice] = Array.from({ length: 3 }, () => makeKey().key.publicKey).map(key => ({
    line: printPublicKey(key),
    word: Buffer.from(key.blob).toString('base64url'),
  })) as [SshKey, SshKey, SshKey];
  const change = async (add?: SshKey, remove?: SshKey) => {
    const words = { ...(add && { add: add.word }), ...(remove && { remove: remove.word }) };
    const { code, out } = await agent(installedAgent.authorizeKey(words));
    const { error, ...done } = json(out) as { error?: { code: string } };
    return error === undefined ? [code, done] : [code, error.code];
  };
  const bytes = () => readFileSync(host.drive.path(authorizedKeysFile));
  const saved = { added: true, removed: 0, file: authorizedKeysFile };
  await host.drive.remove(dir.ssh);
  expect(await change(next)).toEqual([1, 'AUTHORIZED_KEYS_UNUSABLE']);
  const others = Buffer.from(`# M\u00fcller\r\n${alice.line} alice\r\n\r\nno-pty ${alice.line}`, 'latin1');
  await host.drive.write(authorizedKeysFile, others);
  expect(await change(old)).toEqual([0, saved]);
  expect(bytes()).toEqual(Buffer.concat([Buffer.from(`${old.line}\r\n`), others]));
  expect(await change(next, old)).toEqual([0, { ...saved, removed: 1 }]);
  expect(await change(next, old)).toEqual([0, { ...saved, added: false }]);
  expect(await change(undefined, next)).toEqual([0, { ...saved, added: false, removed: 1 }]);
  expect(bytes()).toEqual(others);
  expect(host.drive.list(dir.ssh)).toEqual([authorizedKeysFile.slice(dir.ssh.length + 1)]);
});

test('creates the file of SSH keys, converts one in UTF-16, and keeps the last key', async () => {
  const { publicKey } = makeKey('ecdsa', 521).key;
  const [line, word] = [`${printPublicKey(publicKey)}\n`, Buffer.from(publicKey.blob).toString('base64url')];
  await host.drive.remove(authorizedKeysFile);
  expect((await agent(`authorize-key --add ${word}`)).out).toContain(`Added the key to ${authorizedKeysFile}.`);
  expect(host.drive.read(authorizedKeysFile)).toBe(line);
  await host.drive.write(authorizedKeysFile, Buffer.from(`\ufeff${line}`, 'utf16le'));
  expect(json((await agent(installedAgent.authorizeKey({ add: word }))).out)).toMatchObject({ converted: 'UTF-16' });
  expect(host.drive.read(authorizedKeysFile)).toBe(line);
  expect(json((await agent(installedAgent.authorizeKey({ remove: word }))).out)).toMatchObject({
    error: { code: 'AUTHORIZED_KEY_LAST' },
  });
  expect(host.drive.read(authorizedKeysFile)).toBe(line);
});

test('reboots only in the given boot', async () => {
  const { bootId } = await inventoryOf();
  expect(json((await agent(installedAgent.reboot('another'))).out)).toEqual({
    rebooting: false,
    why: 'already rebooted',
  });
  expect(host.boots).toBe(1);
  expect(json((await agent(installedAgent.reboot(bootId, 1))).out)).toEqual({ rebooting: true, inSeconds: 1 });
  await host.waitForBoot(2);
  expect(json((await agent(installedAgent.reboot(bootId, 1))).out)).toMatchObject({ rebooting: false });
  expect((await inventoryOf()).bootId).not.toBe(bootId);
});

test('enables Containers, which a reboot completes', async () => {
  expect(json((await agent(installedAgent.enableContainers)).out)).toMatchObject({
    before: 'disabled',
    rebootNeeded: true,
  });
  expect(json((await agent(installedAgent.enableContainers)).out)).toMatchObject({
    changed: false,
    rebootNeeded: true,
  });
});

test('secures the host from the folder of its hash, installs itself, and removes old programs', async () => {
  const hash = createHash('sha256')
    .update(readFileSync(inject('agentProgram')))
    .digest('hex');
  const program = agentProgram(hash);
  await host.drive.copyIn(inject('agentProgram'), program);
  await host.drive.write(agentProgram('a'.repeat(64)), 'of before');
  await host.drive.write(file.agent, 'another program');
  const { code, stdout } = await host.exec(agentCommands(program).secure(), { timeoutMs: 120_000 });
  const { inventory, ...outcome } = json(stdout);
  expect([code, outcome]).toEqual([0, { placed: true, pruned: 1, events: [] }]);
  const { files, problems } = parseInventory(JSON.stringify(inventory), host.name);
  // Windows returns the path of a program with the case on disk.
  const hashes = Object.fromEntries(Object.entries(files).map(([path, value]) => [path.toLowerCase(), value]));
  expect(hashes).toMatchObject({ [program.toLowerCase()]: hash, [file.agent.toLowerCase()]: hash });
  expect(problems).toEqual([]);
  for (const path of requiredDirectories) expect([path, host.drive.exists(path)]).toEqual([path, true]);
  expect(host.drive.list(dir.agentPrograms).filter(name => /^[0-9a-f]{64}$/.test(name))).toEqual([hash]);
  expect(json((await host.exec(agentCommands(program).secure())).stdout)).toMatchObject({ placed: false, pruned: 0 });
  expect(json((await agent('secure -o json')).out)).toMatchObject({ error: { code: 'USAGE' } });
});

const stateOf = async () => /STATE\s+: \d\s+(\w+)/.exec((await host.exec(`sc query ${agentName}`)).stdout)?.[1];
const logOf = (severity: string) => host.drive.read(`${dir.agentLog}\\${agentName}.exe.${severity}`);

test('runs as a service without a cluster: logs it across restarts, and can be stopped', async () => {
  await host.run(
    `sc create ${agentName} binPath= "${controllerCommand({ namespace: 'ns', node: 'win-1', logMegabytes: 1 })}"`,
  );
  for (const start of [1, 2]) {
    await host.run(`sc start ${agentName}`);
    await expect
      .poll(() => logOf('WARNING')?.match(/Using the kubeconfig failed; retrying/g)?.length ?? 0, polling)
      .toBeGreaterThan(start);
    await host.run(`sc stop ${agentName}`);
    await expect.poll(stateOf, polling).toBe('STOPPED');
  }
  expect(logOf('INFO')?.match(/^Log file created at/gm)?.length).toBe(1);
  expect(logOf('INFO')?.match(/^I\d{4} [\d:.]{15} +\d+ agent\] Starting program=/gm)?.length).toBe(2);
  expect(logOf('INFO')?.match(/ agent\] Stopped agent$/gm)?.length).toBe(2);
  expect(logOf('ERROR')).toBeUndefined();
  await host.run(`sc delete ${agentName}`);
});

test('leaves no processes and at most one native file on disk', async () => {
  await Promise.all([agent('inventory'), agent('inventory'), agent('inventory')]);
  expect(await host.run('tasklist')).not.toContain('windows-instance-config');
  const natives = await host.run('dir /b "C:\\Program Files\\windows-instance-config-daemon"');
  expect(natives.split('\n').length).toBe(1);
  expect(host.lab.unexpected()).toEqual([]);
});
