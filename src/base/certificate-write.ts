import { createSign, type KeyObject, randomBytes } from 'node:crypto';
import {
  bitString,
  boolean,
  element,
  integer,
  octetString,
  oid,
  sequence,
  set,
  time,
  utf8String,
} from './der-write.ts';
import { printPem } from './pem.ts';

export interface CertificateFields {
  /** DER of both Names, see `distinguishedName`. */
  issuer: Uint8Array;
  subject: Uint8Array;
  /** DER of the SubjectPublicKeyInfo. */
  publicKey: Uint8Array;
  /** Both in milliseconds since 1970. */
  notBefore: number;
  notAfter: number;
  /** See `certificateExtension`. */
  extensions: readonly Uint8Array[];
}

const algorithms: Readonly<Record<string, Uint8Array>> = {
  ec: sequence(oid('1.2.840.10045.4.3.2')),
  rsa: sequence(oid('1.2.840.113549.1.1.11'), element(0x05)),
};

/** An X.509 v3 certificate with a random serial number, signed with SHA-256, in PEM form. */
export function writeCertificate(fields: CertificateFields, issuerKey: KeyObject): string {
  const algorithm = algorithms[issuerKey.asymmetricKeyType ?? ''];
  if (algorithm === undefined) throw new Error('a CA needs an RSA or EC key');
  const info = sequence(
    element(0xa0, integer([2])),
    integer([0x01, ...randomBytes(15)]),
    algorithm,
    fields.issuer,
    sequence(time(fields.notBefore), time(fields.notAfter)),
    fields.subject,
    fields.publicKey,
    element(0xa3, sequence(...fields.extensions)),
  );
  const signature = createSign('sha256').update(info).sign(issuerKey);
  return printPem('CERTIFICATE', sequence(info, algorithm, bitString(signature)));
}

export function distinguishedName(name: { commonName: string; organizations?: readonly string[] }): Uint8Array {
  const attributes: [string, string][] = [
    ...(name.organizations ?? []).map((text): [string, string] => ['2.5.4.10', text]),
    ['2.5.4.3', name.commonName],
  ];
  return sequence(...attributes.map(([type, text]) => set(sequence(oid(type), utf8String(text)))));
}

export function certificateExtension(type: string, value: Uint8Array, isCritical = false): Uint8Array {
  return sequence(oid(type), ...(isCritical ? [boolean(true)] : []), octetString(value));
}
