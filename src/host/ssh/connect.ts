import { AppError, shown } from '#base/errors.ts';
import type { Connect, HostTarget } from '../host.ts';
import { hostKeySignatures } from './algorithms.ts';
import { SshConnection } from './connection.ts';
import { dial } from './dial.ts';
import { shakeHands } from './handshake.ts';

const defaults = { port: 22, dialTimeoutMs: 10_000, handshakeTimeoutMs: 20_000, keepAliveMs: 5_000 } as const;

/** Connects to a host by SSH: public key only, host key checked, every wait limited. */
export const connect: Connect = async (target, options = {}) => {
  checkTarget(target);
  const { port = defaults.port } = target;
  const { signal, keepAliveMs = defaults.keepAliveMs } = options;
  const { dialTimeoutMs = defaults.dialTimeoutMs, handshakeTimeoutMs = defaults.handshakeTimeoutMs } = options;
  const peer = { address: target.address, port };
  const socket = await dial(peer, { at: target.dialAt ?? peer, timeoutMs: dialTimeoutMs, signal });
  const session = await shakeHands(socket, target, { port, timeoutMs: handshakeTimeoutMs, keepAliveMs, signal });
  return new SshConnection(session, socket, keepAliveMs);
};

function checkTarget({ address, port = defaults.port, username, privateKeys, pinnedKey }: HostTarget): void {
  if (address === '') throw invalid('a host has no address');
  if (!Number.isInteger(port) || port < 1 || port > 65_535)
    throw invalid(`${address}: ${shown(port)} is not a TCP port`);
  if (username === '') throw invalid(`${address}: the SSH user name is empty`);
  if (privateKeys.length === 0)
    throw new AppError('PRIVATE_KEY_MISSING', `${address}: no private key for SSH`, {
      remedy: 'Create the Secret cloud-private-key with the key private-key.pem.',
    });
  if (hostKeySignatures(pinnedKey).length === 0)
    throw new AppError(
      'HOST_ALGORITHM_MISMATCH',
      `${address}: the pinned host key is of the unsupported type ${pinnedKey?.type}`,
      {
        remedy: 'Create an Ed25519 host key on the host, and pin it in spec.hostKey of the WindowsInstance.',
      },
    );
}

function invalid(message: string): AppError {
  return new AppError('FIELD_INVALID', message, {
    remedy: 'Correct the WindowsInstance, or the entry in windows-instances.',
  });
}
