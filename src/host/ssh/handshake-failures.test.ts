import { expect, test } from 'vitest';
import { errorCodes } from '#base/error-codes.ts';
import { makeKey } from '../../../test/kit/ssh-server.ts';
import { fingerprint, printPublicKey } from '../keys/public-key.ts';
import { Sha1Refused } from './auth-key.ts';
import { type FailedHandshake, handshakeFailure, handshakeTimeout } from './handshake-failures.ts';

const { key, text } = makeKey();
const second = makeKey();
const error = (message: string, more: object = {}) => Object.assign(new Error(message), more);
const refused = error('All configured authentication methods failed', { level: 'client-authentication' });
const base: FailedHandshake = {
  peer: { address: '10.1.2.3', port: 22 },
  username: 'Administrator',
  firstLine: 'SSH-2.0-OpenSSH_for_Windows_9.5',
  ident: 'SSH-2.0-OpenSSH_for_Windows_9.5',
  pinnedKey: undefined,
  isAuthenticating: false,
  offeredKeys: [key.publicKey],
  methodsLeft: undefined,
  isPartial: false,
  error: error('something'),
};
const silent = { firstLine: '', ident: undefined };

const cases: [
  name: string,
  failed: Partial<FailedHandshake>,
  code: string,
  problem: string | RegExp,
  remedy: RegExp,
][] = [
  [
    'a key that is not authorized',
    { isAuthenticating: true, error: refused, methodsLeft: ['publickey', 'password'] },
    'HOST_REFUSED_KEY',
    `SSH login as "Administrator" was rejected for key ssh-ed25519 ${fingerprint(key.publicKey)}`,
    /administrators_authorized_keys/,
  ],
  [
    'several keys that are not authorized',
    {
      isAuthenticating: true,
      error: refused,
      methodsLeft: ['publickey'],
      offeredKeys: [key.publicKey, second.key.publicKey],
    },
    'HOST_REFUSED_KEY',
    ` and ssh-ed25519 ${fingerprint(second.key.publicKey)}`,
    /the user "Administrator" exists/,
  ],
  [
    'a host that disconnects after too many keys',
    { isAuthenticating: true, error: error('Too many authentication failures', { code: 2 }) },
    'HOST_REFUSED_KEY',
    'SSH login as "Administrator" was rejected',
    new RegExp(`-Value '', '${RegExp.escape(printPublicKey(key.publicKey))}'; icacls`),
  ],
  [
    'a host that accepts passwords only',
    { isAuthenticating: true, error: refused, methodsLeft: ['password', 'keyboard-interactive'] },
    'HOST_WANTS_PASSWORD',
    'only with password, keyboard-interactive',
    /PubkeyAuthentication yes/,
  ],
  [
    'a host that accepts no method',
    { isAuthenticating: true, error: refused, methodsLeft: [] },
    'HOST_WANTS_PASSWORD',
    'only with another method',
    /PubkeyAuthentication yes/,
  ],
  [
    'a host that requires a password in addition to the key',
    { isAuthenticating: true, error: refused, methodsLeft: ['password'], isPartial: true },
    'HOST_WANTS_PASSWORD',
    'the key was accepted, but the SSH server requires password in addition',
    /AuthenticationMethods/,
  ],
  [
    'a host that accepts RSA with SHA-1 only',
    { isAuthenticating: true, error: Object.assign(new Sha1Refused('x'), { level: 'client-authentication' }) },
    'HOST_ALGORITHM_MISMATCH',
    'SHA-1',
    /Update OpenSSH/,
  ],
  [
    'a host with too many connections',
    { firstLine: 'Exceeded MaxStartups', ident: undefined, error: error('Connection lost before handshake') },
    'HOST_HANDSHAKE_FAILED',
    '"Exceeded MaxStartups"',
    /MaxStartups/,
  ],
  [
    'a host that blocks the address after failures',
    { firstLine: 'Not allowed at this time', ident: undefined },
    'HOST_HANDSHAKE_FAILED',
    '"Not allowed at this time"',
    /connections/,
  ],
  [
    'a host that disconnects at once',
    { ...silent, error: error('Connection lost before handshake', { level: 'protocol' }) },
    'HOST_HANDSHAKE_FAILED',
    'closed the connection without sending anything',
    /sshd/,
  ],
  [
    'a web server',
    { firstLine: 'HTTP/1.1 400 Bad Request', ident: undefined, error: error('Connection lost before handshake') },
    'HOST_NOT_SSH',
    'its first line is "HTTP/1.1 400 Bad Request"',
    /correct the address/,
  ],
  [
    'a server of SSH 1',
    { firstLine: 'SSH-1.5-old', ident: 'SSH-1.5-old', error: error('Invalid identification string') },
    'HOST_NOT_SSH',
    '"SSH-1.5-old"',
    /correct the address/,
  ],
  [
    'a server of SSH 1 and 2 that disconnects',
    { firstLine: 'SSH-1.99-x', ident: 'SSH-1.99-x', error: error('odd') },
    'HOST_HANDSHAKE_FAILED',
    '"odd"',
    /log of sshd/,
  ],
  [
    'no key exchange in common',
    { error: error('Handshake failed: no matching key exchange algorithm', { level: 'handshake' }) },
    'HOST_ALGORITHM_MISMATCH',
    /"SSH-2.0-OpenSSH_for_Windows_9.5" has no SSH algorithm in common with the operator: .*no matching key exchange algorithm/,
    /sshd_config/,
  ],
  [
    'no cipher in common',
    { error: error('Handshake failed: no matching C->S cipher', { level: 'handshake' }) },
    'HOST_ALGORITHM_MISMATCH',
    'no matching C->S cipher',
    /Update OpenSSH/,
  ],
  [
    'a host without a key of the pinned type',
    { pinnedKey: key.publicKey, error: error('Handshake failed: no matching host key format') },
    'HOST_KEY_CHANGED',
    'no longer has a host key of the pinned type ssh-ed25519',
    /reinstalled/,
  ],
  [
    'a host without a supported host key, none pinned',
    { error: error('Handshake failed: no matching host key format') },
    'HOST_ALGORITHM_MISMATCH',
    'no matching host key format',
    /Update OpenSSH/,
  ],
  [
    'a host that cannot prove its key',
    { error: error('Handshake failed: signature verification failed', { level: 'handshake' }) },
    'HOST_HANDSHAKE_FAILED',
    'signature verification failed',
    /log of sshd/,
  ],
  [
    'a host that disconnects before authentication',
    { error: error('PROTOCOL_ERROR', { code: 2 }) },
    'HOST_HANDSHAKE_FAILED',
    '"PROTOCOL_ERROR"',
    /log of sshd/,
  ],
  [
    'a connection that is reset during authentication',
    { isAuthenticating: true, error: error('read ECONNRESET', { level: 'client-socket', code: 'ECONNRESET' }) },
    'HOST_HANDSHAKE_FAILED',
    'read ECONNRESET',
    /log of sshd/,
  ],
];
for (const [name, failed, code, problem, remedy] of cases) {
  test(`reports ${name} as ${code}`, () => {
    const failure = handshakeFailure({ ...base, ...failed });
    expect(failure.code).toBe(code);
    expect(failure.message).toMatch(/^10\.1\.2\.3: /);
    expect(failure.message).toMatch(typeof problem === 'string' ? new RegExp(RegExp.escape(problem)) : problem);
    expect(failure.remedy).toMatch(remedy);
    expect(failure.cause).toBe(failed.error ?? base.error);
    expect(errorCodes).toHaveProperty(failure.code);
  });
}

test('shortens and escapes the first line of a host', () => {
  const firstLine = `${'x'.repeat(500)}\u001b[31m`;
  const { message } = handshakeFailure({ ...base, firstLine, ident: undefined });
  expect(message.length).toBeLessThan(250);
  expect(message).not.toContain('\u001b');
});

test('handshakeTimeout names the time limit', () => {
  const failure = handshakeTimeout({ address: 'win', port: 2222 }, 20_000);
  expect(failure).toMatchObject({ code: 'HOST_HANDSHAKE_FAILED' });
  expect(failure.message).toBe('win port 2222: the SSH handshake took longer than 20 s');
  expect(failure.remedy).toMatch(/load of the host/);
});

test('no failure quotes the private key', () => {
  for (const [, failed] of cases) {
    const failure = handshakeFailure({ ...base, ...failed });
    expect(`${failure.message} ${failure.remedy}`).not.toContain(text.split('\n')[1]);
  }
});
