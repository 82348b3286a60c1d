import { type HostKey, hostKeyAlgorithms } from '../host-key.ts';

/**
 * What the operator offers in the handshake, best first: the algorithms of OpenSSH without those based on SHA-1.
 * AES-GCM comes first because CPUs accelerate it. Compression would only cost time: the payload is compressed.
 */
export function offeredAlgorithms(pinned: HostKey | undefined): {
  kex: string[];
  cipher: string[];
  hmac: string[];
  compress: string[];
  serverHostKey: string[];
} {
  return { kex, cipher, hmac, compress: ['none'], serverHostKey: hostKeySignatures(pinned) };
}

/** Empty when the pinned key is of a type that is no longer accepted. */
export function hostKeySignatures(pinned: HostKey | undefined): string[] {
  return (hostKeyAlgorithms(pinned) ?? serverHostKey).filter(name => serverHostKey.includes(name));
}

const kex = [
  'curve25519-sha256',
  'curve25519-sha256@libssh.org',
  'ecdh-sha2-nistp256',
  'ecdh-sha2-nistp384',
  'ecdh-sha2-nistp521',
  'diffie-hellman-group16-sha512',
  'diffie-hellman-group18-sha512',
  'diffie-hellman-group14-sha256',
  'diffie-hellman-group-exchange-sha256',
];

const cipher = [
  'aes128-gcm@openssh.com',
  'aes256-gcm@openssh.com',
  'aes128-ctr',
  'aes192-ctr',
  'aes256-ctr',
  'chacha20-poly1305@openssh.com',
];

const hmac = ['hmac-sha2-256-etm@openssh.com', 'hmac-sha2-512-etm@openssh.com', 'hmac-sha2-256', 'hmac-sha2-512'];

const serverHostKey = [
  'ssh-ed25519',
  'ecdsa-sha2-nistp256',
  'ecdsa-sha2-nistp384',
  'ecdsa-sha2-nistp521',
  'rsa-sha2-512',
  'rsa-sha2-256',
];
