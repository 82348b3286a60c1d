import type { ErrorCode } from '#base/error-codes.ts';
import { AppError, messageOf, shown } from '#base/errors.ts';
import type { HostKey } from '../host-key.ts';
import { authorizeRemedy } from '../keys/authorize-remedy.ts';
import { describeKey, type PublicKey } from '../keys/public-key.ts';
import { Sha1Refused } from './auth-key.ts';
import { type Peer, where } from './dial-failures.ts';

/** A handshake up to its failure. */
export interface FailedHandshake {
  peer: Peer;
  username: string;
  /** First line that the host sent; may be empty. */
  firstLine: string;
  /** Identification line of the SSH server; undefined when it sent none. */
  ident: string | undefined;
  pinnedKey: HostKey | undefined;
  /** True once the key exchange is done. */
  isAuthenticating: boolean;
  offeredKeys: readonly PublicKey[];
  /** Methods the host listed when it rejected a key; undefined before. */
  methodsLeft: readonly string[] | undefined;
  /** True when the host accepted the key but requires a second method. */
  isPartial: boolean;
  /** From the SSH library: `level` is where it failed, a numeric `code` the reason in the host's disconnect message. */
  error: Error & { level?: string; code?: unknown };
}

/** The first row that matches explains the failure. */
export function handshakeFailure(failed: FailedHandshake): AppError {
  const row = rows.find(({ matches }) => matches(failed)) ?? otherwise;
  const remedy = typeof row.remedy === 'string' ? row.remedy : row.remedy(failed);
  return new AppError(row.code, `${where(failed.peer)}: ${row.problem(failed)}`, { remedy, cause: failed.error });
}

export function handshakeTimeout(peer: Peer, ms: number): AppError {
  return new AppError('HOST_HANDSHAKE_FAILED', `${where(peer)}: the SSH handshake took longer than ${ms / 1000} s`, {
    remedy: 'Check the load of the host, and run `Restart-Service sshd` there.',
  });
}

interface Row {
  matches: (failed: FailedHandshake) => boolean;
  code: ErrorCode;
  problem: (failed: FailedHandshake) => string;
  remedy: string | ((failed: FailedHandshake) => string);
}

const sshdConfig = 'C:\\ProgramData\\ssh\\sshd_config';

const rows: readonly Row[] = [
  {
    matches: ({ error }) => error instanceof Sha1Refused,
    code: 'HOST_ALGORITHM_MISMATCH',
    problem: () => 'the host accepts RSA signatures with SHA-1 only, which are not safe',
    remedy: 'Update OpenSSH on the host, or use an Ed25519 or ECDSA key.',
  },
  {
    matches: ({ isPartial }) => isPartial,
    code: 'HOST_WANTS_PASSWORD',
    problem: ({ username, methodsLeft }) =>
      `SSH login as ${shown(username)}: the key was accepted, but the SSH server requires ${list(methodsLeft)} in addition`,
    remedy: `Remove every line with AuthenticationMethods from ${sshdConfig} on the host, then run \`Restart-Service sshd\` there.`,
  },
  {
    matches: ({ methodsLeft }) => methodsLeft !== undefined && !methodsLeft.includes('publickey'),
    code: 'HOST_WANTS_PASSWORD',
    problem: ({ username, methodsLeft }) =>
      `SSH login as ${shown(username)} is not possible with a key, only with ${list(methodsLeft)}`,
    remedy: `In ${sshdConfig} on the host, set "PubkeyAuthentication yes" above the first line with Match, remove every line with AuthenticationMethods, then run \`Restart-Service sshd\` there.`,
  },
  {
    matches: ({ isAuthenticating, error }) =>
      error.level === 'client-authentication' || (isAuthenticating && typeof error.code === 'number'),
    code: 'HOST_REFUSED_KEY',
    problem: ({ username, offeredKeys }) =>
      `SSH login as ${shown(username)} was rejected for key ${offeredKeys.map(describeKey).join(' and ')}`,
    remedy: ({ username, offeredKeys }) =>
      `${offeredKeys.slice(0, 1).map(authorizeRemedy).join('')}. If the key is there already, check that the user ${shown(username)} exists and is an administrator.`,
  },
  {
    matches: ({ firstLine }) => /^(Exceeded MaxStartups|Not allowed at this time)/.test(firstLine),
    code: 'HOST_HANDSHAKE_FAILED',
    problem: ({ firstLine }) => `the host rejects further connections: ${shown(firstLine)}`,
    remedy:
      'Find out who opens so many SSH connections to the host, or raise MaxStartups in its sshd_config and run `Restart-Service sshd`.',
  },
  {
    matches: ({ ident, firstLine }) => ident === undefined && firstLine === '',
    code: 'HOST_HANDSHAKE_FAILED',
    problem: () => 'the host closed the connection without sending anything',
    remedy: 'Run `Get-Service sshd` and `Restart-Service sshd` on the host; check firewalls that close connections.',
  },
  {
    matches: ({ ident }) => ident === undefined || !/^SSH-(2\.0|1\.99)-/.test(ident),
    code: 'HOST_NOT_SSH',
    problem: ({ ident, firstLine }) => `not an SSH 2 server; its first line is ${shown(ident ?? firstLine)}`,
    remedy: ({ peer }) =>
      `Find the program that uses the port with \`Get-Process -Id (Get-NetTCPConnection -LocalPort ${peer.port} -State Listen).OwningProcess\` on the host, stop it and run \`Start-Service sshd\`; or correct the address or spec.port.`,
  },
  {
    matches: ({ pinnedKey, error }) => pinnedKey !== undefined && error.message.includes('no matching host key format'),
    code: 'HOST_KEY_CHANGED',
    problem: ({ pinnedKey }) => `the host no longer has a host key of the pinned type ${pinnedKey?.type}`,
    remedy:
      'If the host was reinstalled, pin its new key in spec.hostKey of the WindowsInstance; if not, find out who answers at its address.',
  },
  {
    matches: ({ error }) => error.message.includes('no matching'),
    code: 'HOST_ALGORITHM_MISMATCH',
    problem: ({ error, ident }) =>
      `${shown(ident)} has no SSH algorithm in common with the operator: ${messageOf(error)}`,
    remedy: 'Update OpenSSH on the host, or allow one of today’s algorithms in its sshd_config.',
  },
];

const otherwise: Omit<Row, 'matches'> = {
  code: 'HOST_HANDSHAKE_FAILED',
  problem: ({ error }) => `the SSH handshake failed: ${shown(messageOf(error))}`,
  remedy: 'Run `Get-WinEvent -LogName OpenSSH/Operational -MaxEvents 20` on the host to see the log of sshd.',
};

function list(methods: readonly string[] | undefined): string {
  return methods === undefined || methods.length === 0 ? 'another method' : methods.join(', ');
}
