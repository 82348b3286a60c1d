import type { ErrorCode } from '#base/error-codes.ts';
import { AppError, messageOf, shown } from '#base/errors.ts';
import { fingerprint, type HostKey } from '../host-key.ts';
import type { PublicKey } from '../keys/public-key.ts';
import { Sha1Refused } from './auth-key.ts';
import { type Peer, where } from './dial-failures.ts';

/** What was seen of a handshake until it failed. */
export interface FailedHandshake {
  peer: Peer;
  username: string;
  /** First line the host sent; empty when it sent none. */
  firstLine: string;
  /** The line by which an SSH server presents itself; undefined when none came. */
  ident: string | undefined;
  pinnedKey: HostKey | undefined;
  /** True once the keys are agreed upon and the user is to be let in. */
  isAuthenticating: boolean;
  offeredKeys: readonly PublicKey[];
  /** Methods the host named when it refused a key; undefined before. */
  methodsLeft: readonly string[] | undefined;
  /** True when it took the key but wants something more. */
  isPartial: boolean;
  /** From the SSH library: `level` says where it failed, a numeric `code` is the reason the host gave for disconnecting. */
  error: Error & { level?: string; code?: unknown };
}

/** The first row that fits says what went wrong and what to do about it. */
export function handshakeFailure(seen: FailedHandshake): AppError {
  const row = rows.find(({ when }) => when(seen)) ?? otherwise;
  return new AppError(row.code, `${where(seen.peer)}: ${row.says(seen)}`, { remedy: row.remedy, cause: seen.error });
}

export function handshakeTimeout(peer: Peer, ms: number): AppError {
  return new AppError('HOST_HANDSHAKE_FAILED', `${where(peer)}: the SSH handshake took longer than ${ms / 1000} s`, {
    remedy: 'Look at the load of the host and at the state of its service sshd.',
  });
}

interface Row {
  when: (seen: FailedHandshake) => boolean;
  code: ErrorCode;
  says: (seen: FailedHandshake) => string;
  remedy: string;
}

const allowKeys =
  'Set "PubkeyAuthentication yes" in C:\\ProgramData\\ssh\\sshd_config on the host, remove AuthenticationMethods there, and restart sshd.';

const rows: readonly Row[] = [
  {
    when: ({ error }) => error instanceof Sha1Refused,
    code: 'HOST_ALGORITHM_MISMATCH',
    says: () => 'the host takes RSA signatures with SHA-1 only, which are not safe any more',
    remedy: 'Update OpenSSH on the host, or use an Ed25519 or ECDSA key.',
  },
  {
    when: ({ isPartial }) => isPartial,
    code: 'HOST_WANTS_PASSWORD',
    says: ({ username, methodsLeft }) =>
      `the host takes the key of user ${shown(username)} but wants ${list(methodsLeft)} in addition`,
    remedy: allowKeys,
  },
  {
    when: ({ methodsLeft }) => methodsLeft !== undefined && !methodsLeft.includes('publickey'),
    code: 'HOST_WANTS_PASSWORD',
    says: ({ username, methodsLeft }) =>
      `the host does not take keys from user ${shown(username)}, only ${list(methodsLeft)}`,
    remedy: allowKeys,
  },
  {
    when: ({ isAuthenticating, error }) =>
      error.level === 'client-authentication' || (isAuthenticating && typeof error.code === 'number'),
    code: 'HOST_REFUSED_KEY',
    says: ({ username, offeredKeys }) =>
      `the host does not let in user ${shown(username)} with ${offeredKeys.map(named).join(' or ')}`,
    remedy:
      'Check the user name, and put the public key into C:\\ProgramData\\ssh\\administrators_authorized_keys on the host, writable by Administrators and SYSTEM only.',
  },
  {
    when: ({ firstLine }) => /^(Exceeded MaxStartups|Not allowed at this time)/.test(firstLine),
    code: 'HOST_HANDSHAKE_FAILED',
    says: ({ firstLine }) => `the host takes no further connection for now: ${shown(firstLine)}`,
    remedy: 'Find out who opens so many connections to the host, or raise MaxStartups there.',
  },
  {
    when: ({ ident, firstLine }) => ident === undefined && firstLine === '',
    code: 'HOST_HANDSHAKE_FAILED',
    says: () => 'the host closed the connection before it said anything',
    remedy: 'Look at the state of the service sshd on the host, and at firewalls that close connections.',
  },
  {
    when: ({ ident }) => ident === undefined || !/^SSH-(2\.0|1\.99)-/.test(ident),
    code: 'HOST_NOT_SSH',
    says: ({ ident, firstLine }) => `no SSH 2 server answers, but something that says ${shown(ident ?? firstLine)}`,
    remedy: 'Check the address and the port; an SSH server must listen there.',
  },
  {
    when: ({ pinnedKey, error }) => pinnedKey !== undefined && error.message.includes('no matching host key format'),
    code: 'HOST_KEY_CHANGED',
    says: ({ pinnedKey }) => `the host no longer has a host key of the type ${pinnedKey?.type} that is stored for it`,
    remedy:
      'If the host was reinstalled, pin its new key in spec.hostKey of the WindowsInstance; if not, find out who answers at its address.',
  },
  {
    when: ({ error }) => error.message.includes('no matching'),
    code: 'HOST_ALGORITHM_MISMATCH',
    says: ({ error, ident }) => `${shown(ident)} has no algorithm in common with us: ${messageOf(error)}`,
    remedy: 'Update OpenSSH on the host, or allow one of today’s algorithms in its sshd_config.',
  },
];

const otherwise: Omit<Row, 'when'> = {
  code: 'HOST_HANDSHAKE_FAILED',
  says: ({ error }) => `the SSH handshake failed: ${shown(messageOf(error))}`,
  remedy: 'Look at the log of sshd on the host.',
};

function list(methods: readonly string[] | undefined): string {
  return methods === undefined || methods.length === 0 ? 'something else' : methods.join(', ');
}

function named(key: PublicKey): string {
  return `${key.type} ${fingerprint(key)}`;
}
