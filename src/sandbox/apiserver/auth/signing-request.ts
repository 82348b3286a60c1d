import { readDer } from '#base/der.ts';
import type { CertificateRequest } from '#contract/csr-request.ts';
import { backdateMs, type CertificateAuthority } from './ca.ts';

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
