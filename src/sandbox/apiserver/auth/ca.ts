import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { isIP } from 'node:net';
import { distinguishedName } from '#base/certificate-write.ts';
import type { Clock } from '#base/clock.ts';
import { type CertificateContent, keyIdOf, makeCertificate } from './certificate.ts';

/** Everything in PEM form. */
export interface KeyPair {
  certificate: string;
  key: string;
}

export interface CertificateAuthority extends KeyPair {
  /** Milliseconds since 1970; no certificate outlives it. */
  readonly notAfter: number;
  issue(content: CertificateContent): string;
}

const yearMs = 365 * 24 * 3_600_000;
/** Tolerates clients with slow clocks. */
export const backdateMs = 300_000;

/** A new CA with a P-256 key, valid for ten years. */
export function createAuthority(commonName: string, clock: Clock): CertificateAuthority {
  const { privateKey, publicKey, key } = generateKey();
  const name = distinguishedName({ commonName });
  const content: CertificateContent = {
    subject: name,
    publicKey,
    usages: ['digital signature', 'key encipherment', 'cert sign', 'crl sign'],
    notBefore: clock.now() - backdateMs,
    notAfter: clock.now() + 10 * yearMs,
    isAuthority: true,
  };
  const issuer = { name, keyId: keyIdOf(publicKey), privateKey };
  const { notAfter } = content;
  return {
    certificate: makeCertificate(content, issuer),
    key,
    notAfter,
    issue: leaf => makeCertificate({ ...leaf, notAfter: Math.min(leaf.notAfter, notAfter) }, issuer),
  };
}

/** A server certificate for DNS names and IP addresses. */
export function issueServerPair(authority: CertificateAuthority, names: readonly string[], clock: Clock): KeyPair {
  return issuePair(authority, clock, {
    subject: distinguishedName({ commonName: names[0] ?? 'server' }),
    usages: ['digital signature', 'key encipherment', 'server auth'],
    names: {
      dnsNames: names.filter(name => isIP(name) === 0),
      ipAddresses: names.filter(name => isIP(name) !== 0),
    },
  });
}

/** A client certificate: the common name is the user, the organizations are the groups. */
export function issueClientPair(
  authority: CertificateAuthority,
  user: { commonName: string; organizations?: readonly string[] },
  clock: Clock,
): KeyPair {
  return issuePair(authority, clock, {
    subject: distinguishedName(user),
    usages: ['digital signature', 'key encipherment', 'client auth'],
  });
}

function issuePair(
  authority: CertificateAuthority,
  clock: Clock,
  content: Pick<CertificateContent, 'subject' | 'usages' | 'names'>,
): KeyPair {
  const { publicKey, key } = generateKey();
  const notBefore = clock.now() - backdateMs;
  return { certificate: authority.issue({ ...content, publicKey, notBefore, notAfter: clock.now() + yearMs }), key };
}

function generateKey(): { privateKey: KeyObject; publicKey: Uint8Array; key: string } {
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return {
    privateKey: pair.privateKey,
    publicKey: pair.publicKey.export({ type: 'spki', format: 'der' }),
    // Every Kubernetes client reads SEC 1.
    key: pair.privateKey.export({ type: 'sec1', format: 'pem' }),
  };
}
