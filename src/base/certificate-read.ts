import { X509Certificate } from 'node:crypto';
// In Node 26 toLegacyObject() breaks `node:tls` when it is the first to load it.
import 'node:tls';
import { sha256 } from './sha256.ts';

export interface IssuedCertificate {
  commonName: string;
  /** SHA-256 of the public key (DER of SubjectPublicKeyInfo), lower-case hex. */
  keyHash: string;
  notAfterMs: number;
}

/** Attributes of the subject by their short names: CN, O. */
export function subjectOf(certificate: X509Certificate): Partial<Record<string, string[]>> {
  const parts = Object.entries<string | string[] | undefined>({ ...certificate.toLegacyObject().subject });
  return Object.fromEntries(parts.map(([name, value = []]) => [name, [value].flat()]));
}

/** Reads the first certificate of a PEM text; undefined when there is none. */
export function readIssued(pem: string): IssuedCertificate | undefined {
  try {
    const certificate = new X509Certificate(pem);
    const [commonName = '', ...more] = subjectOf(certificate)['CN'] ?? [];
    if (more.length > 0) return undefined;
    return {
      commonName,
      keyHash: sha256(certificate.publicKey.export({ type: 'spki', format: 'der' })),
      notAfterMs: certificate.validToDate.getTime(),
    };
  } catch {
    return undefined;
  }
}
