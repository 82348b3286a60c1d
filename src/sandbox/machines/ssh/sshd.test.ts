import { once } from 'node:events';
import { connect as dialTcp } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { agentProgram, dir, file } from '#contract/paths.ts';
import { printPublicKey } from '#host/keys/public-key.ts';
import { installedAgent } from '../../../../test/kit/installed-agent.ts';
import { codeOf, startHost, type TestHost } from '../../../../test/kit/simulated-host.ts';
import { makeKey } from '../../../../test/kit/ssh-server.ts';
import { type FaultName, findFault } from '../faults.ts';

const hostWith = (fault: FaultName) => startHost(findFault(fault));

test('accepts the user with an authorized key and identifies as OpenSSH for Windows', async () => {
  await using made = await startHost();
  await using connection = await made.connect();
  expect(connection.facts).toMatchObject({
    address: '10.0.0.11',
    software: 'OpenSSH_for_Windows_9.5',
    isNewHostKey: true,
    acceptedKey: made.key.publicKey,
  });
});

for (const type of ['ed25519', 'ecdsa', 'rsa'] as const) {
  test(`takes ${type} keys`, async () => {
    const { key } = makeKey(type, type === 'rsa' ? 2048 : 256);
    await using made = await startHost();
    await made.host.setAuthorizedKeys([printPublicKey(key.publicKey)]);
    await using connection = await made.connect('Administrator', [key]);
    expect((await connection.exec('hostname')).stdout).toBe('win-1\r\n');
  });
}

test('user names are case-insensitive', async () => {
  await using made = await startHost();
  await using _ = await made.connect('ADMINISTRATOR');
  expect(made.host.openConnections).toBe(1);
});

const logins: [string, FaultName | undefined, (made: TestHost) => Promise<unknown>, string][] = [
  ['another user', undefined, made => made.connect('somebody'), 'HOST_REFUSED_KEY'],
  ['another key', undefined, made => made.connect('Administrator', [makeKey().key]), 'HOST_REFUSED_KEY'],
  ['a key that the host does not know', 'wrong-key', made => made.connect(), 'HOST_REFUSED_KEY'],
  ['a host for passwords only', 'password-only', made => made.connect(), 'HOST_WANTS_PASSWORD'],
  ['a host that wants both', 'key-and-password', made => made.connect(), 'HOST_WANTS_PASSWORD'],
  ['something else at the port', 'no-ssh', made => made.connect(), 'HOST_NOT_SSH'],
  ['an SSH server that does not run', 'refused', made => made.connect(), 'HOST_UNREACHABLE'],
  ['no answer at the address', 'unreachable', made => made.connect(), 'HOST_UNREACHABLE'],
];
for (const [name, fault, act, code] of logins) {
  test(`${name} fails with ${code}`, async () => {
    await using made = await (fault === undefined ? startHost() : hostWith(fault));
    expect(await codeOf(() => act(made))).toBe(code);
    expect(made.host.stats.execSessions).toBe(0);
  });
}

test('the second of two keys is accepted', async () => {
  await using made = await startHost();
  await using connection = await made.connect('Administrator', [makeKey().key, made.key]);
  expect(connection.facts.acceptedKey).toEqual(made.key.publicKey);
});

test('shows the same host key each time, through reboots and power cuts', async () => {
  await using made = await startHost();
  const keys: string[] = [];
  for (let round = 0; round < 3; round += 1) {
    await using connection = await made.connect();
    keys.push(Buffer.from(connection.facts.hostKey.blob).toString('base64'));
    made.host.cutPower();
    await expect.poll(() => made.host.isOn).toBe(true);
  }
  expect(new Set(keys).size).toBe(1);
});

test('two hosts have two keys', async () => {
  await using one = await startHost();
  await using other = await startHost();
  await using first = await one.connect();
  await using second = await other.connect();
  expect(first.facts.hostKey).not.toEqual(second.facts.hostKey);
});

test('with a fault the second connection meets another host key, and from then on always that', async () => {
  await using made = await hostWith('changed-host-key');
  const seen: unknown[] = [];
  for (let round = 0; round < 3; round += 1) {
    await using connection = await made.connect();
    seen.push(connection.facts.hostKey.blob);
  }
  expect(seen[1]).not.toEqual(seen[0]);
  expect(seen[2]).toEqual(seen[1]);
  made.host.change({ changesHostKey: false });
  await using later = await made.connect();
  expect(later.facts.hostKey.blob).toEqual(seen[1]);
});

test('runs several commands at once on one connection, and counts sessions', async () => {
  await using made = await startHost();
  await using connection = await made.connect();
  const answers = await Promise.all(['a', 'b', 'c'].map(word => connection.exec(`echo ${word}`)));
  expect(answers.map(({ stdout }) => stdout)).toEqual(['a\r\n', 'b\r\n', 'c\r\n']);
  expect(made.host.stats).toMatchObject({ connections: 1, execSessions: 3, sftpSessions: 0 });
});

test('gives exit code and both streams of a command', async () => {
  await using made = await startHost();
  await using connection = await made.connect();
  const unknown = await connection.exec(installedAgent.version);
  expect([unknown.exitCode, unknown.stdout]).toEqual([1, '']);
  expect(unknown.stderr).toContain('is not recognized');
  await made.install(file.agent, '11.0.0-7');
  const known = await connection.exec(installedAgent.version);
  expect([known.exitCode, JSON.parse(known.stdout), known.stderr]).toEqual([
    0,
    { version: '11.0.0-7', runtime: 'sandbox windows/amd64' },
    '',
  ]);
});

test('a command takes as long as Windows takes to start a program', async () => {
  await using made = await startHost({ speed: 1, times: { commandMs: 120, greetingMs: 0 } });
  await using connection = await made.connect();
  const startMs = performance.now();
  await connection.exec('hostname');
  expect(performance.now() - startMs).toBeGreaterThan(110);
});

test('the greeting takes its time, too', async () => {
  await using made = await startHost({ speed: 1, times: { greetingMs: 150 } });
  const startMs = performance.now();
  await using _ = await made.connect();
  expect(performance.now() - startMs).toBeGreaterThan(140);
});

test('offers no file transfer where there is none, and commands all the same', async () => {
  await using made = await hostWith('no-sftp');
  await using connection = await made.connect();
  expect(await codeOf(() => connection.upload('C:\\k\\x', Buffer.from('x')))).toBe('HOST_SFTP_MISSING');
  expect((await connection.exec('hostname')).exitCode).toBe(0);
});

test('a cut breaks connections with a reset; new ones are fine', async () => {
  await using made = await startHost();
  await using connection = await made.connect();
  expect(made.host.openConnections).toBe(1);
  made.host.cutConnections();
  await expect.poll(() => connection.ended.aborted).toBe(true);
  expect(await codeOf(() => connection.exec('hostname'))).toBe('HOST_CONNECTION_LOST');
  await using again = await made.connect();
  expect((await again.exec('hostname')).exitCode).toBe(0);
});

test('a client that disconnects during a command leaves nothing open', async () => {
  await using made = await startHost();
  const connection = await made.connect();
  const running = connection.exec('hostname').catch(() => undefined);
  await connection.close();
  await running;
  await expect.poll(() => made.host.openConnections).toBe(0);
});

test('a client without SSH is tolerated', async () => {
  await using made = await startHost();
  const route = made.host.route();
  if (typeof route === 'string') throw new Error(route);
  const socket = dialTcp(route.port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write('GET / HTTP/1.1\r\n\r\n');
  socket.on('error', () => undefined);
  await text(socket).catch(() => '');
  await using connection = await made.connect();
  expect((await connection.exec('hostname')).exitCode).toBe(0);
});

test('the port stays the same while the host is off and rejects connections', async () => {
  await using made = await startHost({ times: { bootMs: 100_000 } });
  const before = made.host.route();
  made.host.cutPower();
  expect(made.host.route()).toBe('refused');
  const { port } = before as { port: number };
  const socket = dialTcp(port, '127.0.0.1');
  const [error] = (await once(socket, 'error').catch(thrown => [thrown])) as [NodeJS.ErrnoException];
  expect(error.code).toBe('ECONNRESET');
});

test('many hosts listen at once, each on its own port', async () => {
  const made = await Promise.all(Array.from({ length: 20 }, () => startHost()));
  const ports = made.map(({ host }) => (host.route() as { port: number }).port);
  expect(new Set(ports).size).toBe(20);
  await Promise.all(made.map(each => each[Symbol.asyncDispose]()));
});

test('returns the size of a file in the session of an upload', async () => {
  await using made = await startHost();
  await using connection = await made.connect();
  const program = agentProgram('ab'.repeat(32));
  expect(await connection.fileSize(program)).toBeUndefined();
  await connection.upload(program, Buffer.from('12345'));
  expect([await connection.fileSize(program), await connection.fileSize(dir.agentPrograms)]).toEqual([5, undefined]);
  expect(connection.usage()).toMatchObject({ execSessions: 0, sftpSessions: 1 });
});

test('deletes a folder with its files over SFTP', async () => {
  await using made = await startHost();
  await using connection = await made.connect();
  const hash = 'ab'.repeat(32);
  await connection.upload(agentProgram(hash), Buffer.from('12345'));
  await connection.removeFolder(dir.agentPrograms);
  await connection.removeFolder(dir.agentPrograms);
  expect(await connection.fileSize(agentProgram(hash))).toBeUndefined();
});

test('lets only an administrator write below C:\\Windows', async () => {
  await using made = await hostWith('no-admin');
  await using connection = await made.connect();
  await connection.upload('C:\\k\\x.exe', Buffer.from('1'));
  expect(await codeOf(() => connection.upload('C:\\Windows\\x.exe', Buffer.from('1')))).toBe('HOST_FILE_DENIED');
  const below = agentProgram('ab'.repeat(32));
  expect(await codeOf(() => connection.upload(below, Buffer.from('1')))).toBe('HOST_FILE_MISSING');
});
