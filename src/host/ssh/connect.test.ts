import { generateKeyPairSync } from 'node:crypto';
import type { Socket } from 'node:net';
import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import type { AppError } from '#base/errors.ts';
import { rejectionOf } from '../../../test/kit/outcome.ts';
import {
  makeKey,
  type SshServer,
  type SshServerSettings,
  startSshServer,
  startTcpServer,
} from '../../../test/kit/ssh-server.ts';
import { until } from '../../../test/kit/until.ts';
import type { ConnectOptions, HostTarget } from '../host.ts';
import { parsePrivateKey } from '../keys/private-key.ts';
import { writeWire } from '#base/ssh-wire.ts';
import { connect } from './connect.ts';

const ours = makeKey();
const previous = makeKey('ecdsa', 384);
const foreign = makeKey();
const planted = [ours, previous, foreign];

const targetOf = (port: number, more: Partial<HostTarget> = {}): HostTarget => ({
  address: '127.0.0.1',
  port,
  username: 'Administrator',
  privateKeys: [ours.key],
  pinnedKey: undefined,
  ...more,
});

/** Connects, closes, and gives what was learnt. */
async function factsOf(server: SshServer, more: Partial<HostTarget> = {}, options: ConnectOptions = {}) {
  await using connection = await connect(targetOf(server.port, more), options);
  return connection.facts;
}

/** The error of an attempt; nothing of it may show a private key or keep a connection. */
async function failureOf(
  port: number,
  more: Partial<HostTarget> = {},
  options: ConnectOptions = {},
): Promise<AppError> {
  const error = await rejectionOf(connect(targetOf(port, more), options));
  if (error === undefined) throw new Error('the connection was made');
  const everything = inspect(error, { depth: null, showHidden: true }) + JSON.stringify(error) + error.stack;
  for (const { text } of planted) {
    for (const line of text.split('\n').filter(part => part.length > 20 && !part.startsWith('-----')))
      expect(everything).not.toContain(line);
  }
  expect(everything).not.toContain('PRIVATE KEY');
  expect(error.remedy).toMatch(/\w{3}/);
  return error;
}

test('connect returns host key, accepted key and software of the host', async () => {
  await using server = await startSshServer({ ident: 'OpenSSH_for_Windows_9.5 Win32' });
  const facts = await factsOf(server);
  expect(facts).toMatchObject({
    address: '127.0.0.1',
    isNewHostKey: true,
    software: 'OpenSSH_for_Windows_9.5 Win32',
    acceptedKey: ours.key.publicKey,
  });
  expect(facts.hostKey).toEqual(server.hostKey);
});

test('connect accepts a DNS name', async () => {
  await using server = await startSshServer();
  expect((await factsOf(server, { address: 'localhost' })).address).toBe('localhost');
});

const keyTypes: [name: string, text: string][] = [
  ['Ed25519', ours.text],
  ['ECDSA P-256', makeKey('ecdsa', 256).text],
  ['ECDSA P-384', makeKey('ecdsa', 384).text],
  ['ECDSA P-521', makeKey('ecdsa', 521).text],
  ['RSA', makeKey('rsa', 2048).text],
  ['Ed25519 in PKCS#8', generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' })],
];
for (const [name, text] of keyTypes) {
  test(`logs in with a key of type ${name}`, async () => {
    const key = parsePrivateKey(text);
    await using server = await startSshServer({ authorized: [key] });
    expect((await factsOf(server, { privateKeys: [key] })).acceptedKey).toEqual(key.publicKey);
  });
}

const rings: [name: string, authorized: (typeof planted)[number]][] = [
  ['the new key', ours],
  ['the key before it', previous],
];
for (const [name, authorized] of rings) {
  test(`during a rotation ${name} is accepted`, async () => {
    await using server = await startSshServer({ authorized: [authorized.key] });
    const { acceptedKey } = await factsOf(server, { privateKeys: [ours.key, previous.key] });
    expect(acceptedKey).toEqual(authorized.key.publicKey);
  });
}

test('connect accepts a host with the pinned key', async () => {
  await using server = await startSshServer();
  expect(await factsOf(server, { pinnedKey: server.hostKey })).toMatchObject({ isNewHostKey: false });
});

for (const [name, pinned] of [
  ['another key', foreign],
  ['a key of another type', previous],
] as const) {
  test(`rejects a host for which ${name} is pinned before it logs in`, async () => {
    const attempts: string[] = [];
    await using server = await startSshServer({ onAttempt: method => attempts.push(method) });
    const error = await failureOf(server.port, { pinnedKey: pinned.key.publicKey });
    expect(error.code).toBe('HOST_KEY_CHANGED');
    expect(error.message).toContain('127.0.0.1');
    expect(error.remedy).toMatch(/reinstalled/);
    expect(attempts).toEqual([]);
    await until(() => server.connections() === 0);
  });
}

test('connect reports both fingerprints of a changed key', async () => {
  await using server = await startSshServer();
  const { message } = await failureOf(server.port, { pinnedKey: foreign.key.publicKey });
  expect(message.match(/SHA256:/g)).toHaveLength(2);
});

const refusals: [name: string, settings: SshServerSettings, target: Partial<HostTarget>, code: string][] = [
  ['a wrong key', { authorized: [foreign.key] }, {}, 'HOST_REFUSED_KEY'],
  ['two wrong keys', { authorized: [foreign.key] }, { privateKeys: [ours.key, previous.key] }, 'HOST_REFUSED_KEY'],
  ['a host for passwords', { methods: ['password', 'keyboard-interactive'] }, {}, 'HOST_WANTS_PASSWORD'],
  ['a host that wants both', { wantsPasswordToo: true }, {}, 'HOST_WANTS_PASSWORD'],
  [
    'a host that wants both, with two keys',
    { wantsPasswordToo: true },
    { privateKeys: [ours.key, previous.key] },
    'HOST_WANTS_PASSWORD',
  ],
  ['a host of long ago', { algorithms: { kex: ['diffie-hellman-group14-sha1'] } }, {}, 'HOST_ALGORITHM_MISMATCH'],
  ['a host with odd ciphers', { algorithms: { cipher: ['aes256-cbc'] } }, {}, 'HOST_ALGORITHM_MISMATCH'],
];
for (const [name, settings, target, code] of refusals) {
  test(`${name}: ${code}, and the connection is closed`, async () => {
    await using server = await startSshServer(settings);
    const error = await failureOf(server.port, target);
    expect(error.code).toBe(code);
    expect(error.message).toContain(`127.0.0.1 port ${server.port}: `);
    await until(() => server.connections() === 0);
  });
}

test('connect offers no second key to a host that accepts passwords only', async () => {
  const attempts: string[] = [];
  await using server = await startSshServer({ methods: ['password'], onAttempt: method => attempts.push(method) });
  await failureOf(server.port, { privateKeys: [ours.key, previous.key, foreign.key] });
  expect(attempts).toEqual(['publickey']);
});

test('connect tries public keys only', async () => {
  const attempts = new Set<string>();
  await using server = await startSshServer({ authorized: [foreign.key], onAttempt: method => attempts.add(method) });
  await failureOf(server.port, { privateKeys: [ours.key, previous.key] });
  expect([...attempts]).toEqual(['publickey']);
});

const strangers: [name: string, onSocket: (socket: Socket) => void, code: string, says: string][] = [
  ['one that hangs up', socket => socket.destroy(), 'HOST_HANDSHAKE_FAILED', 'without sending anything'],
  ['one that ends politely', socket => socket.end(), 'HOST_HANDSHAKE_FAILED', 'without sending anything'],
  [
    'a web server',
    socket => socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n'),
    'HOST_NOT_SSH',
    'HTTP/1.1 400 Bad Request',
  ],
  ['a mail server', socket => socket.end('220 mail ESMTP\r\n'), 'HOST_NOT_SSH', '220 mail ESMTP'],
  [
    'an RDP answer',
    socket => socket.end(Buffer.from('030000130ed000001234000209080002000000', 'hex')),
    'HOST_NOT_SSH',
    '\\u0003',
  ],
  ['SSH 1', socket => socket.end('SSH-1.5-old\n'), 'HOST_NOT_SSH', 'SSH-1.5-old'],
  ['endless chatter', socket => socket.end('chatter\n'.repeat(5000)), 'HOST_NOT_SSH', '"chatter"'],
  ['a busy host', socket => socket.end('Exceeded MaxStartups\r\n'), 'HOST_HANDSHAKE_FAILED', 'MaxStartups'],
  ['a name and then nothing', socket => socket.end('SSH-2.0-x\r\n'), 'HOST_HANDSHAKE_FAILED', 'closed the connection'],
  [
    'a name and then noise',
    socket => socket.end(Buffer.concat([Buffer.from('SSH-2.0-x\r\n'), Buffer.alloc(400, 0xff)])),
    'HOST_HANDSHAKE_FAILED',
    'handshake failed',
  ],
  [
    'a reset after the name',
    socket => socket.write('SSH-2.0-x\r\n', () => setTimeout(() => socket.resetAndDestroy(), 20)),
    'HOST_HANDSHAKE_FAILED',
    'handshake failed',
  ],
];
for (const [name, onSocket, code, says] of strangers) {
  test(`${name} at the port: ${code}`, async () => {
    await using server = await startTcpServer(onSocket);
    const error = await failureOf(server.port, {}, { handshakeTimeoutMs: 5000 });
    expect(error.code).toBe(code);
    expect(error.message).toContain(says);
  });
}

const slow: [name: string, onSocket: (socket: Socket) => void][] = [
  ['never says a word', () => undefined],
  ['stops after its name', socket => socket.write('SSH-2.0-OpenSSH_9.5\r\n')],
  [
    'drips one byte after the other',
    socket => {
      const timer = setInterval(() => socket.write('x'), 20);
      socket.on('close', () => clearInterval(timer));
    },
  ],
];
for (const [name, onSocket] of slow) {
  test(`fails in time for a host that ${name}`, async () => {
    let closed = false;
    await using server = await startTcpServer(socket => {
      socket.on('close', () => {
        closed = true;
      });
      socket.resume();
      onSocket(socket);
    });
    const started = performance.now();
    const error = await failureOf(server.port, {}, { handshakeTimeoutMs: 200 });
    expect(error.code).toBe('HOST_HANDSHAKE_FAILED');
    expect(error.message).toContain('took longer than 0.2 s');
    expect(performance.now() - started).toBeLessThan(10_000);
    await until(() => closed);
  });
}

test('connect reports a closed port as unreachable', async () => {
  const server = await startTcpServer(() => undefined);
  await server[Symbol.asyncDispose]();
  const error = await failureOf(server.port);
  expect(error.code).toBe('HOST_UNREACHABLE');
  expect(error.message).toContain('(ECONNREFUSED)');
});

test('connect reports an unroutable address as unreachable', async () => {
  const error = await failureOf(22, { address: '255.255.255.255' });
  expect(error.code).toBe('HOST_UNREACHABLE');
  expect(error.message).toContain('255.255.255.255: ');
});

test('connect reports an unknown name as unresolved', async () => {
  // Longer than a part of a name may be: no server is asked for it.
  const name = `${'x'.repeat(64)}.invalid`;
  const error = await failureOf(22, { address: name });
  expect(error.code).toBe('INSTANCE_ADDRESS_UNRESOLVED');
  expect(error.message).toContain(name);
});

const dsa = { type: 'ssh-dss', blob: writeWire('ssh-dss', 7n, 5n, 3n, 2n) };
const invalid: [name: string, target: Partial<HostTarget>, code: string][] = [
  ['without address', { address: '' }, 'FIELD_INVALID'],
  ['without user', { username: '' }, 'FIELD_INVALID'],
  ['with port 0', { port: 0 }, 'FIELD_INVALID'],
  ['with port 65536', { port: 65_536 }, 'FIELD_INVALID'],
  ['with half a port', { port: 22.5 }, 'FIELD_INVALID'],
  ['without private key', { privateKeys: [] }, 'PRIVATE_KEY_MISSING'],
  ['with a pinned DSA key', { pinnedKey: dsa }, 'HOST_ALGORITHM_MISMATCH'],
];
test.each(invalid)('rejects a target %s before it connects', async (_, target, code) => {
  expect((await failureOf(22, { address: 'never.invalid', ...target })).code).toBe(code);
});

test('connect fails with the reason of the caller when it is aborted', async () => {
  await using server = await startTcpServer(() => undefined);
  const controller = new AbortController();
  const attempt = connect(targetOf(server.port), { signal: controller.signal });
  setTimeout(() => controller.abort(new Error('not wanted')), 50);
  await expect(attempt).rejects.toThrow('not wanted');
  await expect(connect(targetOf(server.port), { signal: controller.signal })).rejects.toThrow('not wanted');
});

test('connect opens a hundred connections at once', async () => {
  await using server = await startSshServer();
  const warnings: Error[] = [];
  const note = (warning: Error) => warnings.push(warning);
  process.on('warning', note);
  const connections = await Promise.all(Array.from({ length: 100 }, () => connect(targetOf(server.port))));
  expect(server.connections()).toBe(100);
  await Promise.all(connections.map(connection => connection.close()));
  await until(() => server.connections() === 0);
  process.off('warning', note);
  expect(warnings).toEqual([]);
});
