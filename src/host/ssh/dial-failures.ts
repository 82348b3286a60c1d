import type { ErrorCode } from '#base/error-codes.ts';
import { AppError, messageOf, shown } from '#base/errors.ts';
import { runOnHost } from '#base/powershell.ts';

/** The host, as messages name it. */
export interface Peer {
  address: string;
  port: number;
}

/** Translates an error of the operating system during the TCP connect. */
export function dialFailure(peer: Peer, error: unknown): AppError {
  const systemCode = systemCodeOf(error);
  const { code, problem, remedy } = rows.get(systemCode) ?? other;
  return new AppError(code, `${where(peer)}: ${problem} (${systemCode || shown(messageOf(error))})`, {
    remedy: remedy(peer),
    cause: error,
  });
}

export function dialTimeout(peer: Peer, ms: number): AppError {
  return new AppError('HOST_UNREACHABLE', `${where(peer)}: no answer within ${ms / 1000} s`, {
    remedy: silent.remedy(peer),
  });
}

export function where({ address, port }: Peer): string {
  return port === 22 ? address : `${address} port ${port}`;
}

interface Row {
  code: ErrorCode;
  problem: string;
  remedy: (peer: Peer) => string;
}

function openFirewall({ port }: Peer): string {
  return `New-NetFirewallRule -DisplayName 'OpenSSH for WMCO' -Direction Inbound -Protocol TCP -LocalPort ${port} -Action Allow`;
}

const refused: Row = {
  code: 'HOST_UNREACHABLE',
  problem: 'the host refuses connections on the SSH port',
  remedy: peer =>
    `${runOnHost('Set-Service sshd -StartupType Automatic', 'Start-Service sshd', openFirewall(peer))}. If the service does not exist, install it first: \`Add-WindowsCapability -Online -Name OpenSSH.Server~~~~0.0.1.0\`.`,
};
const silent: Row = {
  code: 'HOST_UNREACHABLE',
  problem: 'the host does not answer',
  remedy: peer =>
    `Power the host on, compare the address with \`ipconfig\` on its console, and allow TCP port ${peer.port} in the firewalls between the cluster and the host; in that of the host with \`${openFirewall(peer)}\`.`,
};
const noRoute: Row = {
  code: 'HOST_UNREACHABLE',
  problem: 'no route to the host',
  remedy: () => 'Check the address, the route and the firewalls between the cluster and the host.',
};
const noName: Row = {
  code: 'INSTANCE_ADDRESS_UNRESOLVED',
  problem: 'the name does not resolve',
  remedy: () => 'Correct the name, or add a DNS record for it that the cluster can resolve.',
};
const noServer: Row = {
  code: 'INSTANCE_ADDRESS_UNRESOLVED',
  problem: 'the name servers do not answer',
  remedy: () => 'Check the name servers of the cluster.',
};
const other: Row = {
  code: 'HOST_UNREACHABLE',
  problem: 'the connection failed',
  remedy: () => 'Check the network between the cluster and the host.',
};
const exhausted: Row = {
  code: 'HOST_UNREACHABLE',
  problem: 'the operator has no free port or file descriptor',
  remedy: () => 'Raise the limits of the operator’s pod, or configure fewer hosts at once.',
};

const rows: ReadonlyMap<string, Row> = new Map([
  ['ECONNREFUSED', refused],
  ['ECONNRESET', refused],
  ['ETIMEDOUT', silent],
  ['EHOSTDOWN', silent],
  ['EHOSTUNREACH', noRoute],
  ['ENETUNREACH', noRoute],
  ['EACCES', noRoute],
  ['EPERM', noRoute],
  ['EINVAL', noRoute],
  ['ENOTFOUND', noName],
  ['ENODATA', noName],
  ['EAI_AGAIN', noServer],
  ['EAI_FAIL', noServer],
  ['EMFILE', exhausted],
  ['ENFILE', exhausted],
  ['ENOBUFS', exhausted],
  ['EADDRNOTAVAIL', exhausted],
]);

function systemCodeOf(error: unknown): string {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' ? code : '';
}
