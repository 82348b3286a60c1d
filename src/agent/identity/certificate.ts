import { X509Certificate } from 'node:crypto';
import { subjectOf } from '#base/certificate-read.ts';
import { AppError, shown } from '#base/errors.ts';
import { printPem, scanPem } from '#base/pem.ts';
import { Secret } from '#base/secret.ts';
import { pairProblem } from '#kube/config/identity.ts';
import type { ClientCertificate } from '#kube/transport/connection.ts';
import type { Subject } from './kept-identity.ts';
import { publicKeyHash } from './key.ts';
import type { Validity } from './lifetime.ts';

/** Subject, key and validity of a client certificate. */
export interface CertificateFacts extends Validity {
  commonName: string;
  organizations: string[];
  /** SHA-256 of the public key, as `install` prints it. */
  keyHash: string;
  hasAlternativeNames: boolean;
}

/** A client certificate with its matching key. */
export interface AgentCertificate extends CertificateFacts {
  readonly clientCertificate: ClientCertificate;
}

const deleteFile = 'Delete the file; the agent requests another certificate.';

/** Parses a stored file: certificates, leaf first, and one private key. No message quotes the content. */
export function readCertificate(text: string, label: string, remedy = deleteFile): AgentCertificate {
  const { blocks, broken } = scanPem(text);
  const [bad] = broken;
  if (bad !== undefined) throw unusable(label, `line ${bad.line} ${bad.why}`, remedy);
  const certificates = blocks.filter(block => block.type === 'CERTIFICATE');
  const [key, ...more] = blocks.filter(block => block.type.endsWith('PRIVATE KEY'));
  if (certificates.length === 0) throw unusable(label, 'contains no certificate', remedy);
  if (key === undefined || more.length > 0)
    throw unusable(label, `contains ${more.length > 0 ? 'several keys' : 'no key'}`, remedy);
  const certificate = certificates.map(({ type, der }) => printPem(type, der)).join('');
  const clientCertificate = { certificate, key: new Secret(printPem(key.type, key.der)) };
  const problem = pairProblem(certificate, clientCertificate.key.reveal());
  if (problem !== undefined) throw unusable(label, problem, remedy);
  return { clientCertificate, ...factsOf(certificate) };
}

export function printCertificate({ clientCertificate }: AgentCertificate): string {
  return `${clientCertificate.certificate}${clientCertificate.key.reveal()}`;
}

/** Facts of the first certificate of a valid PEM text. */
export function factsOf(certificate: string): CertificateFacts {
  const x509 = new X509Certificate(certificate);
  const { CN: [commonName = '', ...otherNames] = [], O: organizations = [] } = subjectOf(x509);
  return {
    notBeforeMs: x509.validFromDate.getTime(),
    notAfterMs: x509.validToDate.getTime(),
    // With several common names it would be ambiguous which one counts.
    commonName: otherNames.length > 0 ? '' : commonName,
    organizations,
    keyHash: publicKeyHash(x509.publicKey),
    hasAlternativeNames: x509.subjectAltName !== undefined,
  };
}

/** Why a certificate is not for exactly this subject; undefined when it is. */
export function subjectProblem(facts: CertificateFacts, { user, group }: Subject): string | undefined {
  const { commonName, organizations } = facts;
  if (commonName !== user) return `is for ${shown(commonName)}, not for ${shown(user)}`;
  if (organizations.length !== 1 || organizations[0] !== group)
    return `is for the groups ${shown(organizations)}, not for ${group} alone`;
  return facts.hasAlternativeNames ? 'has subject alternative names' : undefined;
}

export function unusable(label: string, why: string, remedy = deleteFile): AppError {
  return new AppError('AGENT_CERTIFICATE_UNUSABLE', `${label}: ${why}`, { remedy });
}
