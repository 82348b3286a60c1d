import { type DerElement, derTag, readDer, readOid } from '#base/der.ts';

/** Parts of a certificate that node:crypto does not expose. */
export interface CertificateParts {
  subject: DerElement;
  /** Extension values by OID. */
  extensions: ReadonlyMap<string, Uint8Array>;
}

/** Undefined if the bytes are not a version 3 certificate. */
export function readCertificate(der: Uint8Array): CertificateParts | undefined {
  const [whole, ...rest] = readDer(der) ?? [];
  const [info] = childrenOf(whole);
  // version, serial number, algorithm, issuer, validity, subject, key, and the tagged extensions
  const parts = childrenOf(info);
  const subject = parts[5];
  if (rest.length > 0 || parts[0]?.tag !== 0xa0 || subject?.tag !== derTag.sequence) return undefined;
  const [list] = childrenOf(parts.find(({ tag }) => tag === 0xa3));
  return { subject, extensions: new Map(childrenOf(list).flatMap(readExtension)) };
}

function childrenOf(element: DerElement | undefined): DerElement[] {
  return element === undefined ? [] : (readDer(element.content) ?? []);
}

function readExtension(element: DerElement): [string, Uint8Array][] {
  const parts = childrenOf(element);
  const type = parts[0]?.tag === derTag.oid ? readOid(parts[0].content) : undefined;
  const value = parts.at(-1);
  return type === undefined || value?.tag !== derTag.octetString ? [] : [[type, value.content]];
}
