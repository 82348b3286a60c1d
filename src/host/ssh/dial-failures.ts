import type { ErrorCode } from '#base/error-codes.ts';
import { AppError, messageOf, shown } from '#base/errors.ts';

/** Whom we talk to, as messages name it. */
export interface Peer {
  address: string;
  port: number;
}

/** What to make of an error of the operating system while a TCP connection is made. */
export function dialFailure(peer: Peer, error: unknown): AppError {
  const systemCode = systemCodeOf(error);
  const { code, says, remedy } = rows.get(systemCode) ?? other;
  return new AppError(code, `${where(peer)}: ${says} (${systemCode || shown(messageOf(error))})`, {
    remedy,
    cause: error,
  });
}

export function dialTimeout(peer: Peer, ms: number): AppError {
  return new AppError('HOST_UNREACHABLE', `${where(peer)}: no answer within ${ms / 1000} s`, {
    remedy: silent.remedy,
  });
}

export function where({ address, port }: Peer): string {
  return port === 22 ? address : `${address} port ${port}`;
}

interface Row {
  code: ErrorCode;
  says: string;
  remedy: string;
}

const refused: Row = {
  code: 'HOST_UNREACHABLE',
  says: 'the host refuses connections',
  remedy: 'Start the service sshd on the host, and let its port through the firewall of the host.',
};
const silent: Row = {
  code: 'HOST_UNREACHABLE',
  says: 'the host does not answer',
  remedy: 'Check that the host is up and has this address, and that no firewall on the way drops the SSH port.',
};
const noRoute: Row = {
  code: 'HOST_UNREACHABLE',
  says: 'the network does not lead to the host',
  remedy: 'Check the address, and the route and firewalls between the cluster and the host.',
};
const noName: Row = {
  code: 'INSTANCE_ADDRESS_UNRESOLVED',
  says: 'the name is not known',
  remedy: 'Correct the name, or add a DNS record for it that the cluster can see.',
};
const noServer: Row = {
  code: 'INSTANCE_ADDRESS_UNRESOLVED',
  says: 'the name servers do not answer',
  remedy: 'Check the name servers of the cluster.',
};
const other: Row = {
  code: 'HOST_UNREACHABLE',
  says: 'no connection can be made',
  remedy: 'Check the network between the cluster and the host.',
};
const exhausted: Row = {
  code: 'HOST_UNREACHABLE',
  says: 'this process has no room for another connection',
  remedy: 'Raise the limits of the operator’s pod, or let it work on fewer hosts at once.',
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
