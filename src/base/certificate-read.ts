import { X509Certificate } from 'node:crypto';
import { sha256 } from './sha256.ts';

/** What is recorded of an issued certificate. */
export interface IssuedCertificate {
  commonName: string;
  /** SHA-256 of the public key (DER of SubjectPublicKeyInfo), lower-case hex. */
  keyHash: string;
  notAfterMs: number;
}

/** Reads the first certificate of a PEM text; undefined when there is none. */
export function readIssued(pem: string): IssuedCertificate | undefined {
  try {
    const certificate = new X509Certificate(pem);
    const names = certificate.subject.split('\n').filter(line => line.startsWith('CN='));
    const [name = '', ...more] = names;
    if (more.length > 0) return undefined;
    return {
      commonName: name.slice('CN='.length),
      keyHash: sha256(certificate.publicKey.export({ type: 'spki', format: 'der' })),
      notAfterMs: certificate.validToDate.getTime(),
    };
  } catch {
    return undefined;
  }
}
