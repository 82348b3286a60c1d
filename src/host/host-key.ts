import { fromBase64, sameBytes, toBase64 } from '#base/bytes.ts';
import { AppError, shown } from '#base/errors.ts';
import { isKnownType, type PublicKey, readPublicKey } from '#base/ssh-public-key.ts';
import { describeKey } from './keys/public-key.ts';

/** The public key by which an SSH server proves its identity. */
export type HostKey = PublicKey;

/** Parses a stored key: base64 of its wire format. `where` names its place in messages. */
export function parseHostKey(base64: string, where = 'SSH host key'): HostKey {
  const blob = base64.length > maxLength ? undefined : fromBase64(base64.trim());
  const key = blob === undefined ? undefined : readPublicKey(blob);
  if (key !== undefined && isKnownType(key.type)) return key;
  throw new AppError('HOST_KEY_UNREADABLE', `${where}: ${shown(base64)} is not the base64 form of an SSH public key`, {
    remedy: 'Remove the stored key if you trust the network; the operator then pins the key that the host shows next.',
  });
}

export function printHostKey(key: HostKey): string {
  return toBase64(key.blob);
}

export type HostKeyTrust =
  /** `key` is the pinned key of later attempts; a new one must be stored once the host is connected. */
  { accepted: true; key: HostKey; isNew: boolean } | { accepted: false; error: AppError };

/** Trust on first use: without a pinned key any key is accepted, later only the pinned one. */
export function trustHostKey(pinned: HostKey | undefined, offered: HostKey, address: string): HostKeyTrust {
  if (pinned === undefined) return { accepted: true, key: offered, isNew: true };
  if (sameBytes(pinned.blob, offered.blob)) return { accepted: true, key: pinned, isNew: false };
  return { accepted: false, error: new HostKeyChangedError(pinned, offered, address) };
}

/**
 * Signature algorithms to offer in the handshake: with a pinned key only those of its type, so that a host with keys of
 * several types shows that one. Undefined allows any.
 */
export function hostKeyAlgorithms(pinned: HostKey | undefined): string[] | undefined {
  if (pinned === undefined) return undefined;
  // The algorithm ssh-rsa signs with SHA-1.
  return pinned.type === 'ssh-rsa' ? ['rsa-sha2-512', 'rsa-sha2-256'] : [pinned.type];
}

const maxLength = 16_384;

/** The host shows a different key than the pinned one. */
export class HostKeyChangedError extends AppError {
  readonly offered: HostKey;

  constructor(pinned: HostKey, offered: HostKey, address: string) {
    super('HOST_KEY_CHANGED', `${address}: host key changed from ${describeKey(pinned)} to ${describeKey(offered)}`, {
      remedy:
        'If the host was reinstalled, pin its new key in spec.hostKey; if not, find out who answers at its address.',
    });
    this.offered = offered;
  }
}
