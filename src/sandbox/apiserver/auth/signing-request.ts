import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { readDer } from '#base/der.ts';
import { AppError } from '#base/errors.ts';
import { type CertificateRequest, parseCertificateRequest } from '#contract/csr-request.ts';
import { backdateMs, type CertificateAuthority } from './ca.ts';

/** The signature algorithms a request may use: which keys go with them, and by which digest; null where it is built in. */
const algorithms: Readonly<Record<string, readonly [keyType: string, digest: string | null]>> = {
  '1.2.840.113549.1.1.11': ['rsa', 'sha256'],
  '1.2.840.113549.1.1.12': ['rsa', 'sha384'],
  '1.2.840.113549.1.1.13': ['rsa', 'sha512'],
  '1.2.840.10045.4.3.2': ['ec', 'sha256'],
  '1.2.840.10045.4.3.3': ['ec', 'sha384'],
  '1.2.840.10045.4.3.4': ['ec', 'sha512'],
  '1.3.101.112': ['ed25519', null],
};

export interface SigningTerms {
  /** In the words of the certificates API. */
  usages: readonly string[];
  /** Milliseconds since 1970. */
  now: number;
  /** What the requester would like; the signer has bounds. */
  expirationSeconds?: number;
}

const maxLifetimeMs = 365 * 24 * 3_600_000;
const minLifetimeMs = 600_000;
/** Below it the time for slow clocks is added rather than taken from the lifetime. */
const shortLifetimeMs = 8 * 3_600_000;

/** Reads the decoded text of `spec.request` and makes sure that whoever made it has the key. */
export function readSignedRequest(text: string, label = 'CSR'): CertificateRequest {
  const request = parseCertificateRequest(text, label);
  if (!isSignedByItsKey(request)) {
    throw new AppError('CSR_MALFORMED', `${label}: the signature of the certificate request does not fit its key`, {
      remedy: 'Sign the request with the private key whose public half it holds, by RSA, ECDSA or Ed25519 with SHA-2.',
    });
  }
  return request;
}

/** Signs what the request asks for; subject and alternative names are taken over as they are. In PEM form. */
export function signRequest(authority: CertificateAuthority, request: CertificateRequest, terms: SigningTerms): string {
  const asked = terms.expirationSeconds === undefined ? maxLifetimeMs : terms.expirationSeconds * 1000;
  const lifetimeMs = Math.min(Math.max(asked, minLifetimeMs), maxLifetimeMs);
  const notBefore = terms.now - backdateMs;
  return authority.issue({
    subject: subjectOf(request),
    publicKey: request.subjectPublicKeyInfo,
    usages: terms.usages,
    names: request,
    notBefore,
    notAfter: (lifetimeMs < shortLifetimeMs ? terms.now : notBefore) + lifetimeMs,
  });
}

/** The request info begins with version and subject; the parser has made sure of that. */
function subjectOf({ signed }: CertificateRequest): Uint8Array {
  const [info] = readDer(signed.content) ?? [];
  return readDer(info?.content ?? new Uint8Array())?.[1]?.whole ?? new Uint8Array();
}

function readPublicKey(spki: Uint8Array): KeyObject | undefined {
  try {
    return createPublicKey({ key: Buffer.from(spki), format: 'der', type: 'spki' });
  } catch {
    return undefined;
  }
}

function isSignedByItsKey({ signed, subjectPublicKeyInfo }: CertificateRequest): boolean {
  const [keyType, digest] = algorithms[signed.algorithm] ?? [];
  const key = readPublicKey(subjectPublicKeyInfo);
  if (key === undefined || digest === undefined || key.asymmetricKeyType !== keyType) return false;
  return verify(digest, signed.content, key, signed.signature);
}
