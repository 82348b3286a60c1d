import { execFileSync } from 'node:child_process';
import { createHash, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import { createReadStream, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type HostConnection, type HostTarget, uploadChunkBytes } from '../../src/host/host.ts';
import { type PrivateKey, parsePrivateKey } from '../../src/host/keys/private-key.ts';
import { connect } from '../../src/host/ssh/connect.ts';
import { type HostKeyType, type OpenSsh, startOpenSsh, sshUser } from '../kit/openssh.ts';
import { rejectionOf } from '../kit/outcome.ts';

/** Our SSH client against OpenSSH. */

const scratch = mkdtempSync(join(tmpdir(), 'wmco-ssh-'));
const pem = (key: KeyObject, type: 'pkcs1' | 'sec1' | 'pkcs8') => key.export({ format: 'pem', type });
const rsa = (modulusLength: number) => generateKeyPairSync('rsa', { modulusLength }).privateKey;
const ec = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve }).privateKey;

/** A key in the format of ssh-keygen. */
function keygen(type: string, bits: string): string {
  const path = join(scratch, `key-${type}-${bits}`);
  execFileSync('ssh-keygen', ['-q', '-t', type, '-b', bits, '-N', '', '-f', path]);
  return readFileSync(path, 'utf8');
}

const [rsa3072, p256, p384, p521] = [rsa(3072), ec('P-256'), ec('P-384'), ec('P-521')];
const ed25519 = generateKeyPairSync('ed25519').privateKey;
const keyTexts: [name: string, text: string][] = [
  ['RSA 3072 in PKCS#1', pem(rsa3072, 'pkcs1')],
  ['RSA 3072 in PKCS#8', pem(rsa3072, 'pkcs8')],
  ['RSA 2048 in the format of OpenSSH', keygen('rsa', '2048')],
  ['RSA 4096 in PKCS#1', pem(rsa(4096), 'pkcs1')],
  ['P-256 in SEC1', pem(p256, 'sec1')],
  ['P-256 in PKCS#8', pem(p256, 'pkcs8')],
  ['P-256 in the format of OpenSSH', keygen('ecdsa', '256')],
  ['P-384 in SEC1', pem(p384, 'sec1')],
  ['P-384 in PKCS#8', pem(p384, 'pkcs8')],
  ['P-384 in the format of OpenSSH', keygen('ecdsa', '384')],
  ['P-521 in SEC1', pem(p521, 'sec1')],
  ['P-521 in PKCS#8', pem(p521, 'pkcs8')],
  ['P-521 in the format of OpenSSH', keygen('ecdsa', '521')],
  ['Ed25519 in PKCS#8', pem(ed25519, 'pkcs8')],
  ['Ed25519 in the format of OpenSSH', keygen('ed25519', '256')],
];
const clientKey = parsePrivateKey(pem(ed25519, 'pkcs8'));
const strangers = [rsa(2048), ec('P-256')].map(key => parsePrivateKey(pem(key, 'pkcs8')));

let server: OpenSsh;
let host: HostConnection;

const targetOf = ({ port }: OpenSsh, more: Partial<HostTarget> = {}): HostTarget => ({
  address: '127.0.0.1',
  port,
  username: sshUser,
  privateKeys: [clientKey],
  pinnedKey: undefined,
  ...more,
});

beforeAll(async () => {
  const authorized = keyTexts.map(([, text]) => parsePrivateKey(text).publicKey);
  server = await startOpenSsh({ authorized, hostKeys: ['ed25519', 'ecdsa', 'rsa'] });
  host = await connect(targetOf(server));
});

afterAll(async () => {
  await host.close();
  await server[Symbol.asyncDispose]();
  rmSync(scratch, { recursive: true });
});

for (const [name, text] of keyTexts) {
  test(`logs in with ${name}`, async () => {
    const key = parsePrivateKey(text);
    await using connection = await connect(targetOf(server, { privateKeys: [key] }));
    expect(connection.facts.acceptedKey).toEqual(key.publicKey);
    expect((await connection.exec('id -un')).stdout).toBe(`${sshUser}\n`);
  });
}

test('RSA keys sign with SHA-2', () => {
  expect(server.log()).toMatch(/Accepted publickey for Administrator .* RSA SHA256:/);
  expect(server.log()).not.toMatch(/ssh-rsa,/);
});

test('tries the next key during a rotation', async () => {
  await using connection = await connect(targetOf(server, { privateKeys: [...strangers, clientKey] }));
  expect(connection.facts.acceptedKey).toEqual(clientKey.publicKey);
});

for (const type of ['ed25519', 'ecdsa', 'rsa'] as const satisfies HostKeyType[]) {
  test(`a host with keys of three types shows the pinned ${type} key`, async () => {
    const pinnedKey = server.hostKeys.get(type);
    await using connection = await connect(targetOf(server, { pinnedKey }));
    expect(connection.facts).toMatchObject({ isNewHostKey: false, hostKey: pinnedKey });
  });

  test(`records the ${type} key of a host on first use`, async () => {
    await using single = await startOpenSsh({ authorized: [clientKey.publicKey], hostKeys: [type] });
    await using connection = await connect(targetOf(single));
    expect(connection.facts).toMatchObject({ isNewHostKey: true, hostKey: single.hostKeys.get(type) });
    const changed = await rejectionOf(connect(targetOf(single, { pinnedKey: server.hostKeys.get(type) })));
    expect(changed).toMatchObject({ code: 'HOST_KEY_CHANGED' });
    const otherType = type === 'rsa' ? 'ed25519' : 'rsa';
    const gone = await rejectionOf(connect(targetOf(single, { pinnedKey: server.hostKeys.get(otherType) })));
    expect(gone).toMatchObject({ code: 'HOST_KEY_CHANGED' });
    expect(gone?.message).toContain('no longer has a host key of the pinned type');
  });
}

const refusals: [name: string, config: string[], keys: readonly PrivateKey[], code: string, says: string][] = [
  [
    'a key that is not authorized',
    [],
    strangers,
    'HOST_REFUSED_KEY',
    '"Administrator" was rejected for key ssh-rsa SHA256:',
  ],
  ['too many keys', ['MaxAuthTries 1'], [...strangers, clientKey], 'HOST_REFUSED_KEY', 'was rejected'],
  [
    'a host for passwords',
    ['PubkeyAuthentication no', 'PasswordAuthentication yes'],
    [clientKey],
    'HOST_WANTS_PASSWORD',
    'only with password',
  ],
  [
    'a host that wants a password too',
    ['PasswordAuthentication yes', 'AuthenticationMethods publickey,password'],
    [clientKey],
    'HOST_WANTS_PASSWORD',
    'requires password in addition',
  ],
  ['a user that is not allowed', ['AllowUsers somebody'], [clientKey], 'HOST_REFUSED_KEY', 'was rejected'],
  [
    'a host of long ago',
    ['KexAlgorithms diffie-hellman-group14-sha1'],
    [clientKey],
    'HOST_ALGORITHM_MISMATCH',
    'key exchange',
  ],
  ['a host with old ciphers', ['Ciphers aes256-cbc'], [clientKey], 'HOST_ALGORITHM_MISMATCH', 'cipher'],
];
for (const [name, config, privateKeys, code, says] of refusals) {
  test(`${name}: ${code}`, async () => {
    const authorized = [clientKey.publicKey, parsePrivateKey(pem(rsa3072, 'pkcs8')).publicKey];
    await using other = await startOpenSsh({ authorized, config });
    const error = await rejectionOf(connect(targetOf(other, { privateKeys })));
    expect(error?.code).toBe(code);
    expect(error?.message).toContain(says);
    expect(error?.remedy).toMatch(/\w{3}/);
  });
}

const exits: [command: string, exitCode: number, stdout: string, stderr: string][] = [
  ['true', 0, '', ''],
  ['exit 7', 7, '', ''],
  ['exit 255', 255, '', ''],
  ['echo out; echo err >&2; exit 3', 3, 'out\n', 'err\n'],
  ['printf "Größe"', 0, 'Größe', ''],
  ['cat; echo end', 0, 'end\n', ''],
];
test.each(exits)('%s', async (command, exitCode, stdout, stderr) => {
  expect(await host.exec(command)).toEqual({ exitCode, stdout, stderr });
});

test('a command that does not exist has the exit code of the shell', async () => {
  expect((await host.exec('no-such-command')).exitCode).toBe(127);
});

test('returns a megabyte of output, and rejects one byte more', async () => {
  const { stdout } = await host.exec('head -c 1048576 /dev/zero | tr "\\0" x');
  expect(stdout).toBe('x'.repeat(1_048_576));
  expect(await rejectionOf(host.exec('head -c 1048577 /dev/zero'))).toMatchObject({ code: 'HOST_OUTPUT_TOO_LONG' });
});

test('kills a command that floods both streams', async () => {
  const flood = 'yes & yes >&2';
  expect(await rejectionOf(host.exec(flood))).toMatchObject({ code: 'HOST_OUTPUT_TOO_LONG' });
  await expect.poll(async () => (await host.exec('pgrep -u 61001 -x yes')).stdout).toBe('');
});

test('kills a command on the host after its timeout', async () => {
  const error = await rejectionOf(host.exec('sleep 4711; echo late', { timeoutMs: 300 }));
  expect(error).toMatchObject({ code: 'HOST_COMMAND_TIMEOUT' });
  await expect.poll(async () => (await host.exec('pgrep -u 61001 -fx "sleep 4711"')).stdout).toBe('');
});

test('a killed command has no exit code', async () => {
  const error = await rejectionOf(host.exec('kill -9 $$'));
  expect(error).toMatchObject({ code: 'HOST_COMMAND_NO_EXIT_CODE' });
  expect(error?.message).toContain('SIGKILL');
});

test('respects the session limit of the host', async () => {
  await using other = await startOpenSsh({ authorized: [clientKey.publicKey], config: ['MaxSessions 1'] });
  await using connection = await connect(targetOf(other));
  const first = connection.exec('sleep 0.5');
  expect(await rejectionOf(connection.exec('true'))).toMatchObject({ code: 'HOST_COMMAND_REFUSED' });
  expect((await first).exitCode).toBe(0);
});

/** A random file and its hash. */
function randomFile(size: number): { path: string; hash: string; size: number } {
  const content = randomBytes(size);
  const path = join(scratch, `random-${size}`);
  writeFileSync(path, content);
  return { path, hash: createHash('sha256').update(content).digest('hex'), size };
}
const hashOf = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex');
const streamOf = ({ path, size }: { path: string; size: number }) => ({
  size,
  chunks: createReadStream(path, { highWaterMark: uploadChunkBytes }),
});

test('uploads 50 MB intact and replaces the old file', async () => {
  const file = randomFile(50 * 1024 * 1024);
  const target = join(server.home, 'payload.bundle');
  const progress: number[] = [];
  await host.upload(target, new Uint8Array(10));
  await host.upload(target, streamOf(file), { onProgress: sent => progress.push(sent) });
  expect(hashOf(target)).toBe(file.hash);
  expect(progress).toEqual(progress.toSorted((one, other) => one - other));
  expect(progress.at(-1)).toBe(file.size);
  expect(readdirSync(server.home).filter(name => name.endsWith('.part'))).toEqual([]);
});

test('survives rekeying during an upload', async () => {
  await using other = await startOpenSsh({ authorized: [clientKey.publicKey], config: ['RekeyLimit 2M'] });
  await using connection = await connect(targetOf(other));
  const file = randomFile(20 * 1024 * 1024);
  await connection.upload(join(other.home, 'x'), streamOf(file));
  expect(hashOf(join(other.home, 'x'))).toBe(file.hash);
  expect((await connection.exec('echo fine')).stdout).toBe('fine\n');
});

test('uploads files of all small sizes into new folders', async () => {
  for (const size of [0, 1, 255 * 1024 - 1, 255 * 1024, 255 * 1024 + 1]) {
    const target = join(server.home, 'deep', 'er', `f${size}`);
    const content = randomBytes(size);
    await host.upload(target, content);
    expect(readFileSync(target).equals(content)).toBe(true);
    expect(Buffer.from(await host.download(target)).equals(content)).toBe(true);
  }
  expect(host.usage().sftpSessions).toBe(1);
});

test('interprets Windows paths like Windows', async () => {
  const config = ['ChrootDirectory /mnt', 'ForceCommand internal-sftp'];
  await using other = await startOpenSsh({ authorized: [clientKey.publicKey], config });
  await using connection = await connect(targetOf(other));
  await connection.upload('C:\\k\\cni\\config\\cni.conf', Buffer.from('{}'));
  expect(readFileSync(join(other.chroot, 'C:', 'k', 'cni', 'config', 'cni.conf'), 'utf8')).toBe('{}');
  expect(Buffer.from(await connection.download('C:\\k\\cni\\config\\cni.conf')).toString()).toBe('{}');
});

const failing: [name: string, run: (connection: HostConnection) => Promise<unknown>, code: string][] = [
  ['a folder of another user', one => one.upload('/root/x', new Uint8Array(3)), 'HOST_FILE_DENIED'],
  ['a folder that cannot be made', one => one.upload('/proc/none/x', new Uint8Array(3)), 'HOST_FILE_MISSING'],
  ['a file that is not there', one => one.download('/none'), 'HOST_FILE_MISSING'],
  ['a file that is not for us', one => one.download('/etc/shadow'), 'HOST_FILE_DENIED'],
  ['a folder instead of a file', one => one.download('/tmp'), 'HOST_FILE_FAILED'],
  ['a file that is too long', one => one.download('/proc/kallsyms', { maxBytes: 1000 }), 'HOST_OUTPUT_TOO_LONG'],
];
test.each(failing)('%s', async (_, run, code) => {
  expect((await rejectionOf(run(host)))?.code).toBe(code);
});

test('reports a full disk and leaves no files', async () => {
  const target = join(server.small, 'x');
  const error = await rejectionOf(host.upload(target, new Uint8Array(5_000_000)));
  expect(error).toMatchObject({ code: 'HOST_DISK_FULL' });
  await expect.poll(async () => (await host.exec(`ls ${server.small}`)).stdout).toBe('');
  await host.upload(target, new Uint8Array(1_000_000));
});

test('fails when a folder has the name of the file, and keeps the folder', async () => {
  const target = join(server.home, 'folder');
  await host.exec(`mkdir -p ${target}/inside`);
  expect((await rejectionOf(host.upload(target, new Uint8Array(3))))?.code).toBe('HOST_FILE_FAILED');
  expect(existsSync(join(target, 'inside'))).toBe(true);
});

test('reports a host without SFTP', async () => {
  await using other = await startOpenSsh({ authorized: [clientKey.publicKey], withoutSftp: true });
  await using connection = await connect(targetOf(other));
  expect(await rejectionOf(connection.upload('/tmp/x', new Uint8Array(1)))).toMatchObject({
    code: 'HOST_SFTP_MISSING',
  });
  expect((await connection.exec('echo still here')).stdout).toBe('still here\n');
});

test('detects a frozen host during a command and an upload', async () => {
  await using other = await startOpenSsh({ authorized: [clientKey.publicKey] });
  await using first = await connect(targetOf(other), { keepAliveMs: 250 });
  await using second = await connect(targetOf(other), { keepAliveMs: 250 });
  const endless = {
    size: 1e12,
    chunks: (async function* () {
      for (;;) yield new Uint8Array(uploadChunkBytes);
    })(),
  };
  const under = [first.exec('sleep 60'), second.upload(join(other.home, 'x'), endless)].map(work => rejectionOf(work));
  await new Promise(resolve => setTimeout(resolve, 500));
  for (const pid of other.sessions()) process.kill(pid, 'SIGSTOP');
  const started = performance.now();
  for (const error of await Promise.all(under)) {
    expect(error).toMatchObject({ code: 'HOST_CONNECTION_LOST' });
    expect(error?.message).toContain('no data received for 1 s');
  }
  expect(performance.now() - started).toBeLessThan(10_000);
});

test('keeps an idle connection alive', async () => {
  await using connection = await connect(targetOf(server), { keepAliveMs: 250 });
  await new Promise(resolve => setTimeout(resolve, 2500));
  expect((await connection.exec('echo still here')).stdout).toBe('still here\n');
});

test('reports a lost connection at once when the server is killed', async () => {
  await using other = await startOpenSsh({ authorized: [clientKey.publicKey] });
  await using connection = await connect(targetOf(other));
  const running = rejectionOf(connection.exec('sleep 60'));
  await new Promise(resolve => setTimeout(resolve, 300));
  const started = performance.now();
  for (const pid of other.sessions()) process.kill(pid, 'SIGKILL');
  expect(await running).toMatchObject({ code: 'HOST_CONNECTION_LOST' });
  expect(performance.now() - started).toBeLessThan(10_000);
});

test('fifty connections at once work and are closed', async () => {
  await using other = await startOpenSsh({ authorized: [clientKey.publicKey] });
  const hosts = await Promise.all(
    Array.from({ length: 50 }, () => connect(targetOf(other), { handshakeTimeoutMs: 60_000 })),
  );
  const answers = await Promise.all(hosts.map((one, index) => one.exec(`echo ${index}`)));
  expect(answers.map(({ stdout }) => stdout)).toEqual(hosts.map((_, index) => `${index}\n`));
  await Promise.all(hosts.map(one => one.close()));
  await expect.poll(() => other.sessions()).toEqual([]);
});
