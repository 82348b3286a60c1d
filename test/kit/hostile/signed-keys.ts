import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { bitString } from '../../../src/base/der-write.ts';
import { type CsrContent, der, oid, requestInfo, sequence } from '../csr.ts';

const algorithms = {
  'ecdsa-sha1': ['1.2.840.10045.4.1', 'sha1'],
  'ecdsa-sha256': ['1.2.840.10045.4.3.2', 'sha256'],
  'ecdsa-sha384': ['1.2.840.10045.4.3.3', 'sha384'],
  'ecdsa-sha512': ['1.2.840.10045.4.3.4', 'sha512'],
  'rsa-sha1': ['1.2.840.113549.1.1.5', 'sha1'],
  'rsa-sha256': ['1.2.840.113549.1.1.11', 'sha256'],
  'rsa-sha384': ['1.2.840.113549.1.1.12', 'sha384'],
  'rsa-sha512': ['1.2.840.113549.1.1.13', 'sha512'],
  ed25519: ['1.3.101.112', undefined],
} as const;
export type Algorithm = keyof typeof algorithms;

export type KeyKind = 'P-256' | 'P-384' | 'P-521' | 'RSA 1024' | 'RSA 2048' | 'Ed25519';

const made = new Map<string, { privateKey: KeyObject; publicKey: KeyObject }>();

/** Made once: RSA keys take their time. */
function pairOf(kind: KeyKind): { privateKey: KeyObject; publicKey: KeyObject } {
  const pair = made.get(kind) ?? makePair(kind);
  made.set(kind, pair);
  return pair;
}

function makePair(kind: KeyKind) {
  if (kind === 'Ed25519') return generateKeyPairSync('ed25519');
  if (kind.startsWith('P')) return generateKeyPairSync('ec', { namedCurve: kind });
  return generateKeyPairSync('rsa', { modulusLength: Number(kind.slice(4)) });
}

export function publicKeyOf(kind: KeyKind): Uint8Array {
  return pairOf(kind).publicKey.export({ type: 'spki', format: 'der' });
}

export function infoWith(content: CsrContent, kind: KeyKind): Uint8Array {
  return requestInfo(content, publicKeyOf(kind));
}

/** The identifier of an algorithm as the standards want it: with NULL for RSA, without for the others. */
export function identifierOf(algorithm: Algorithm, ...parameters: Uint8Array[]): Uint8Array {
  const defaults = algorithm.startsWith('rsa') ? [der(0x05)] : [];
  return sequence(oid(algorithms[algorithm][0]), ...(parameters.length > 0 ? parameters : defaults));
}

export function signatureOf(info: Uint8Array, kind: KeyKind, algorithm: Algorithm): Uint8Array {
  return sign(algorithms[algorithm][1], info, pairOf(kind).privateKey);
}

/** Any request info, signed by a key of that kind. */
export function signWith(info: Uint8Array, kind: KeyKind, algorithm: Algorithm): Uint8Array {
  return sequence(info, identifierOf(algorithm), bitString(signatureOf(info, kind, algorithm)));
}
