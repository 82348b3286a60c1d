import { type DerElement, derTag, readDer, readOid } from '#base/der.ts';

/** The parts of a certificate that node:crypto does not hand out as they are. */
export interface CertificateParts {
  subject: DerElement;
  /** Contents of the extensions by object identifier. */
  extensions: ReadonlyMap<string, Uint8Array>;
}

/** Undefined when the bytes are no certificate of version 3. */
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
