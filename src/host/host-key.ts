import { fromBase64, sameBytes, toBase64 } from '#base/bytes.ts';
import { AppError, shown } from '#base/errors.ts';
import { sha256 } from '#base/sha256.ts';
import { isKnownType, type PublicKey, readPublicKey } from './keys/public-key.ts';

/** The public key by which an SSH server proves that it is the host we know. */
export type HostKey = PublicKey;

/** Reads a stored key: base64 of its wire format. `where` names the place it was stored in. */
export function parseHostKey(base64: string, where = 'SSH host key'): HostKey {
  const blob = base64.length > maxLength ? undefined : fromBase64(base64.trim());
  const key = blob === undefined ? undefined : readPublicKey(blob);
  if (key !== undefined && isKnownType(key.type)) return key;
  throw new AppError('HOST_KEY_UNREADABLE', `${where}: ${shown(base64)} is not the base64 form of an SSH public key`, {
    remedy: 'Remove the stored key if you trust the network; the key the host shows next is then stored.',
  });
}

export function printHostKey(key: HostKey): string {
  return toBase64(key.blob);
}

/** As in known_hosts and `spec.hostKey`: `<type> <base64>`. */
export function printKnownKey(key: HostKey): string {
  return `${key.type} ${toBase64(key.blob)}`;
}

/** The form in which ssh-keygen shows a key to people. */
export function fingerprint(key: HostKey): string {
  return `SHA256:${Uint8Array.fromHex(sha256(key.blob)).toBase64({ omitPadding: true })}`;
}

export type HostKeyTrust =
  /** `key` is to be passed as the pinned one in later attempts; a new one is to be stored once the connection stands. */
  { accepted: true; key: HostKey; isNew: boolean } | { accepted: false; error: AppError };

/** Trust on first use: without a pinned key the first one is taken, from then on only that one. */
export function trustHostKey(pinned: HostKey | undefined, offered: HostKey, address: string): HostKeyTrust {
  if (pinned === undefined) return { accepted: true, key: offered, isNew: true };
  if (sameBytes(pinned.blob, offered.blob)) return { accepted: true, key: pinned, isNew: false };
  return { accepted: false, error: new HostKeyChangedError(pinned, offered, address) };
}

/**
 * Signature algorithms to offer in the handshake: with a pinned key only those of its type, so that a host with keys of
 * several types shows the one we know. Undefined leaves the choice open.
 */
export function hostKeyAlgorithms(pinned: HostKey | undefined): string[] | undefined {
  if (pinned === undefined) return undefined;
  // The algorithm named like the RSA key type itself signs with SHA-1.
  return pinned.type === 'ssh-rsa' ? ['rsa-sha2-512', 'rsa-sha2-256'] : [pinned.type];
}

const maxLength = 16_384;

/** The host shows another key than the one that is pinned. */
export class HostKeyChangedError extends AppError {
  readonly offered: HostKey;

  constructor(pinned: HostKey, offered: HostKey, address: string) {
    const [known, shownNow] = [pinned, offered].map(key => `${key.type} ${fingerprint(key)}`);
    super('HOST_KEY_CHANGED', `${address}: host key changed from ${known} to ${shownNow}`, {
      remedy:
        'If the host was reinstalled, pin its new key in spec.hostKey; if not, find out who answers at its address.',
    });
    this.offered = offered;
  }
}
