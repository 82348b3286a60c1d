import { X509Certificate } from 'node:crypto';
import { attempt } from '#base/errors.ts';
import { readSubject } from '#contract/csr-names.ts';
import type { UserInfo } from '../ports.ts';
import { readCertificate } from './certificate-parts.ts';

const anyUsage = '2.5.29.37.0';
const clientAuth = '1.3.6.1.5.5.7.3.2';

/** The user of a client certificate, or why it is rejected. */
export type CertificateHolder = { is: 'user'; user: UserInfo } | { is: 'nameless' } | { is: 'rejected'; why: string };

/** Verifies client certificates, each one of a connection once. */
export class CertificateHolders {
  readonly #authority: X509Certificate;
  readonly #verified = new WeakMap<Uint8Array, (now: number) => CertificateHolder>();

  constructor(authority: X509Certificate) {
    this.#authority = authority;
  }

  /** The holder of a certificate (DER) at a time in milliseconds since 1970. */
  at(now: number, der: Uint8Array): CertificateHolder {
    const holderAt = this.#verified.get(der) ?? verify(der, this.#authority);
    this.#verified.set(der, holderAt);
    return holderAt(now);
  }
}

function verify(der: Uint8Array, authority: X509Certificate): (now: number) => CertificateHolder {
  const certificate = parse(der);
  if (certificate === undefined) return () => ({ is: 'rejected', why: 'not a certificate' });
  if (!certificate.checkIssued(authority) || !certificate.verify(authority.publicKey)) {
    return () => ({ is: 'rejected', why: 'not issued by this authority' });
  }
  const [fromMs, toMs] = [certificate.validFromDate.getTime(), certificate.validToDate.getTime()];
  const holder = holderOf(certificate, der);
  return now => (now < fromMs || now > toMs ? { is: 'rejected', why: 'not valid at this time' } : holder);
}

function holderOf(certificate: X509Certificate, der: Uint8Array): CertificateHolder {
  // Without extended key usages everything is allowed.
  const usages = certificate.keyUsage as string[] | undefined;
  if (usages !== undefined && !usages.some(usage => usage === clientAuth || usage === anyUsage)) {
    return { is: 'rejected', why: 'not a client certificate' };
  }
  return readUser(der);
}

function readUser(der: Uint8Array): CertificateHolder {
  const parts = readCertificate(der);
  if (parts === undefined) return { is: 'rejected', why: 'not a version 3 certificate' };
  const subject = attempt(() => readSubject(parts.subject, 'certificate'));
  if (!subject.ok) return { is: 'rejected', why: 'malformed subject' };
  const { commonName, organizations } = subject.value;
  return commonName === '' ? { is: 'nameless' } : { is: 'user', user: { username: commonName, groups: organizations } };
}

function parse(der: Uint8Array): X509Certificate | undefined {
  try {
    return new X509Certificate(der);
  } catch {
    return undefined;
  }
}
