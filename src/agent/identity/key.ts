import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { AppError, shown } from '#base/errors.ts';
import { Secret } from '#base/secret.ts';
import { sha256 } from '#base/sha256.ts';
import type { Files } from '../ports.ts';

/** A private key that never leaves the host. */
export interface KeptKey {
  key: KeyObject;
  /** SEC 1 in PEM. */
  pem: Secret;
  /** Lower-case hex SHA-256 of the public key (SubjectPublicKeyInfo in DER), by which the operator recognizes its requests. */
  hash: string;
}

const curve = 'prime256v1';

export function createKey(): KeptKey {
  return keptKey(generateKeyPairSync('ec', { namedCurve: curve }).privateKey);
}

/** Rejects with AGENT_KEY_MISSING when the file is missing or contains no valid key. No message quotes the content. */
export async function readKey(path: string, files: Pick<Files, 'read'>): Promise<KeptKey> {
  const text = await files.read(path);
  if (text === undefined) throw missing(path, 'does not exist');
  const key = parse(text);
  if (key === undefined) throw missing(path, 'contains no ECDSA P-256 key');
  return keptKey(key);
}

/** Undefined when the file is missing or contains no valid key. */
export async function findKey(path: string, files: Pick<Files, 'read'>): Promise<KeptKey | undefined> {
  const key = parse((await files.read(path)) ?? '');
  return key && keptKey(key);
}

export function publicKeyHash(key: KeyObject): string {
  const publicKey = key.type === 'private' ? createPublicKey(key) : key;
  return sha256(publicKey.export({ type: 'spki', format: 'der' }));
}

function keptKey(key: KeyObject): KeptKey {
  return { key, pem: new Secret(key.export({ type: 'sec1', format: 'pem' })), hash: publicKeyHash(key) };
}

function parse(text: string): KeyObject | undefined {
  try {
    const key = createPrivateKey(text);
    return key.asymmetricKeyDetails?.namedCurve === curve ? key : undefined;
  } catch {
    // The message of the library may quote the input.
    return undefined;
  }
}

function missing(path: string, why: string): AppError {
  return new AppError('AGENT_KEY_MISSING', `key file ${shown(path)} ${why}`, {
    remedy: 'Wait for the operator to reconnect the host, which creates a new key with the verb `install`.',
  });
}
