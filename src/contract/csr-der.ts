import { type DerElement, readDer, readOid, derTag } from '#base/der.ts';
import { AppError } from '#base/errors.ts';

/** Does not quote the request, which is long and binary. */
export function malformedRequest(label: string, why: string): AppError {
  return new AppError('CSR_MALFORMED', `${label}: the certificate request cannot be read: ${why}`, {
    remedy: 'Create the request again with a tool that writes PKCS #10 in PEM form, and do not change it afterwards.',
  });
}

export function readParts(bytes: Uint8Array, what: string, label: string): DerElement[] {
  const parts = readDer(bytes);
  if (parts === undefined) throw malformedRequest(label, `its ${what} is not complete DER`);
  return parts;
}

/** The parts of a SEQUENCE, or of an element with the given tag. */
export function partsOf(
  element: DerElement | undefined,
  what: string,
  label: string,
  tag: number = derTag.sequence,
): DerElement[] {
  return readParts(expectTag(element, tag, what, label).content, what, label);
}

export function expectTag(element: DerElement | undefined, tag: number, what: string, label: string): DerElement {
  if (element?.tag === tag) return element;
  const found = element === undefined ? 'no element' : `tag ${element.tag}`;
  throw malformedRequest(label, `its ${what} has ${found} instead of tag ${tag}`);
}

/** Known identifiers have about a dozen; messages quote them. */
const maxOidOctets = 32;

export function expectOid(element: DerElement | undefined, what: string, label: string): string {
  const { content } = expectTag(element, derTag.oid, what, label);
  const oid = content.length > maxOidOctets ? undefined : readOid(content);
  if (oid === undefined) throw malformedRequest(label, `the type of its ${what} is not an object identifier`);
  return oid;
}

/** The octets of a BIT STRING without unused bits. */
export function expectBits(element: DerElement | undefined, what: string, label: string): Uint8Array {
  const { content } = expectTag(element, derTag.bitString, what, label);
  if (content.length > 1 && content[0] === 0) return content.subarray(1);
  throw malformedRequest(label, `its ${what} is empty or has unused bits`);
}
