import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign, verify } from 'node:crypto';
import { AppError, messageOf, shown } from '#base/errors.ts';

/** Name of the list of checksums in a payload, and of the signature over its bytes. */
export const [checksumFile, signatureFile] = ['sha256sum', 'sha256sum.sig'] as const;

/** Signs a list of checksums: base64 of an Ed25519 signature over its exact bytes, and a line break. */
export function signChecksums(content: Uint8Array, privatePem: string, keyName: string): string {
  return `${sign(undefined, content, readPrivateKey(privatePem, keyName)).toString('base64')}\n`;
}

export interface SignedChecksums {
  content: Uint8Array;
  signature: string;
  publicPem: string;
  /** Where the public key comes from, for messages. */
  keyName: string;
  /** Where the list is, for messages. */
  path: string;
}

/** Fails unless the signature is over exactly these bytes, by exactly this key. */
export function checkSignature({ content, signature, publicPem, keyName, path }: SignedChecksums): void {
  const key = readPublicKey(publicPem, keyName);
  const bytes = signatureBytes(signature);
  if (bytes === undefined) throw unsigned(`${path}.sig is not a signature: expected one line of base64 with 64 bytes`);
  if (!verify(undefined, content, key, bytes))
    throw unsigned(`${path}.sig is not a signature over ${path} by ${keyName}`);
}

export interface KeyPair {
  privatePem: string;
  publicPem: string;
}

export function newKeyPair(): KeyPair {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  return {
    privatePem: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    publicPem: publicKey.export({ type: 'spki', format: 'pem' }),
  };
}

/** One spelling only, so that every changed bit of the file is noticed. */
function signatureBytes(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64');
  return bytes.length === 64 && `${bytes.toString('base64')}\n` === text ? bytes : undefined;
}

export function readPrivateKey(pem: string, name: string): KeyObject {
  if (pem.includes('ENCRYPTED'))
    throw keyInvalid(
      `${name} is encrypted`,
      `Decrypt it where only you can read it, such as with \`openssl pkey -in ${shown(name)} -out FILE\`.`,
    );
  try {
    const key = createPrivateKey(pem);
    if (key.asymmetricKeyType === 'ed25519') return key;
    throw new Error(`its type is ${key.asymmetricKeyType}`);
  } catch (cause) {
    throw keyInvalid(
      `${name} is not an Ed25519 private key in PEM (${messageOf(cause)})`,
      'Pass the private key of a pair that `wmco payload keygen` has created.',
      cause,
    );
  }
}

export function readPublicKey(pem: string, name: string): KeyObject {
  try {
    // From a private key, Node.js would derive the public one; a private key has no business here.
    if (!pem.includes('-----BEGIN PUBLIC KEY-----')) throw new Error('it has no PEM block PUBLIC KEY');
    const key = createPublicKey(pem);
    if (key.asymmetricKeyType === 'ed25519') return key;
    throw new Error(`its type is ${key.asymmetricKeyType}`);
  } catch (cause) {
    throw keyInvalid(
      `${name} is not an Ed25519 public key in PEM (${messageOf(cause)})`,
      'Pass the public key of a pair that `wmco payload keygen` has created.',
      cause,
    );
  }
}

function keyInvalid(message: string, remedy: string, cause?: unknown): AppError {
  return new AppError('PAYLOAD_KEY_INVALID', message, { remedy, cause });
}

function unsigned(message: string): AppError {
  return new AppError('PAYLOAD_UNSIGNED', message, {
    remedy:
      'Use a payload of this release, or sign your own with `wmco payload pack --sign-key` and give its public key with --payload-key, to `wmco payload verify` with --key.',
  });
}
