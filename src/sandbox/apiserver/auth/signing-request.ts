import { readDer } from '#base/der.ts';
import type { CertificateRequest } from '#contract/csr-request.ts';
import { backdateMs, type CertificateAuthority } from './ca.ts';

export interface SigningTerms {
  /** Names of the certificates API, such as `client auth`. */
  usages: readonly string[];
  /** Milliseconds since 1970. */
  now: number;
  /** Requested lifetime; the signer has limits. */
  expirationSeconds?: number;
}

const maxLifetimeMs = 365 * 24 * 3_600_000;
const minLifetimeMs = 600_000;
/** Below this the backdating does not count towards the lifetime. */
const shortLifetimeMs = 8 * 3_600_000;

/** Issues a certificate (PEM) with the subject and alternative names of the request. */
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

/** The parser has checked that the request info begins with version and subject. */
function subjectOf({ signed }: CertificateRequest): Uint8Array {
  const [info] = readDer(signed.content) ?? [];
  return readDer(info?.content ?? new Uint8Array())?.[1]?.whole ?? new Uint8Array();
}
