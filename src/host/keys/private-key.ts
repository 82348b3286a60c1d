import { createPrivateKey, type KeyObject } from 'node:crypto';
import { type DerElement, derTag, readDer, readOid } from '#base/der.ts';
import { AppError } from '#base/errors.ts';
import { type PemBlock, scanPem } from '#base/pem.ts';
import { Secret } from '#base/secret.ts';
import { curves } from '#base/ssh-curves.ts';
import { assembleKey, type KeyParts, partsOfJwk, unreadableKey } from './key-parts.ts';
import { encryptedKey, readOpensshKey } from './openssh-private-key.ts';
import { type PublicKey, weakKey } from './public-key.ts';

export interface PrivateKey {
  publicKey: PublicKey;
  /** Signs for the SSH layer. */
  signer: KeyObject;
  /** The original text: all its bytes are the passphrase of the username annotation. */
  pem: Secret;
}

/** Reads PKCS#1, SEC1, PKCS#8 and OpenSSH keys without a passphrase. DSA and P-224 are rejected as weak. */
export function parsePrivateKey(text: string): PrivateKey {
  const block = findBlock(text);
  const parts = block.type === 'OPENSSH PRIVATE KEY' ? readOpensshKey(block.der) : readDerKey(block);
  return { ...assembleKey(parts), pem: new Secret(text) };
}

const maxTextLength = 65_536;
/** An RSA key of 16384 bits takes less than 10 KiB. */
const maxDerBytes = 16_384;

function findBlock(text: string): PemBlock {
  if (text.length > maxTextLength) throw unreadableKey(`is longer than ${maxTextLength} characters`);
  if (text.startsWith('PuTTY-User-Key-File')) throw unreadableKey('is in PuTTY format');
  if (/^(Proc-Type:.*ENCRYPTED|-----BEGIN ENCRYPTED PRIVATE KEY-----)/m.test(text)) throw encryptedKey();
  const { blocks, broken } = scanPem(text);
  const block = blocks.find(({ type }) => type.endsWith('PRIVATE KEY'));
  const [damage] = broken;
  if (block === undefined && damage !== undefined)
    throw unreadableKey(`is truncated or damaged: line ${damage.line} ${damage.why}`);
  if (block === undefined) throw unreadableKey('has no block "BEGIN ... PRIVATE KEY"');
  if (block.der.length > maxDerBytes) throw unreadableKey(`has more than ${maxDerBytes} bytes`);
  return block;
}

type DerType = 'pkcs1' | 'sec1' | 'pkcs8';

const derTypes: ReadonlyMap<string, DerType> = new Map([
  ['RSA PRIVATE KEY', 'pkcs1'],
  ['EC PRIVATE KEY', 'sec1'],
  ['PRIVATE KEY', 'pkcs8'],
]);

const algorithm = {
  rsa: '1.2.840.113549.1.1.1',
  ec: '1.2.840.10045.2.1',
  ed25519: '1.3.101.112',
  dsa: '1.2.840.10040.4.1',
} as const;
const smallCurve = '1.3.132.0.33';

function readDerKey({ type: label, der }: PemBlock): KeyParts {
  if (label === 'DSA PRIVATE KEY') throw weakKey('it is a DSA key');
  const type = derTypes.get(label);
  if (type === undefined) throw unreadableKey(`is of the unsupported type ${label}`);
  const content = children(readDer(der)?.[0]);
  // OpenSSL tries any format and computes with it, so only keys with bounded numbers are passed on.
  if (type === 'pkcs8') checkAlgorithm(content);
  else if (content[1]?.tag !== (type === 'sec1' ? derTag.octetString : derTag.integer)) throw damaged(label);
  if (type === 'sec1') checkCurve(children(content.find(({ tag }) => tag === 0xa0))[0]);
  try {
    return partsOfJwk(createPrivateKey({ key: Buffer.from(der), format: 'der', type }).export({ format: 'jwk' }));
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw damaged(label);
  }
}

function damaged(label: string): AppError {
  return unreadableKey(`is damaged: the block ${label} has invalid content`);
}

function checkAlgorithm(content: readonly DerElement[]): void {
  const [oid, parameters] = children(content[1]);
  const name = oidOf(oid);
  if (name === algorithm.dsa) throw weakKey('it is a DSA key');
  if (name === algorithm.ec) checkCurve(parameters);
  else if (name !== algorithm.rsa && name !== algorithm.ed25519) {
    throw unreadableKey(`is for the unsupported algorithm ${name ?? '(none)'}`);
  }
}

function checkCurve(element: DerElement | undefined): void {
  const name = oidOf(element);
  if (name === smallCurve) throw weakKey('it uses the curve P-224');
  if (!curves.some(({ oid }) => oid === name))
    throw unreadableKey(`uses the curve ${name ?? '(none)'}, which SSH does not support`);
}

function children(element: DerElement | undefined): DerElement[] {
  return element === undefined ? [] : (readDer(element.content) ?? []);
}

function oidOf(element: DerElement | undefined): string | undefined {
  return element?.tag === derTag.oid ? readOid(element.content) : undefined;
}
