import { type DerElement, readDer, readOid, derTag } from '#base/der.ts';
import { AppError } from '#base/errors.ts';

/** The request cannot be understood. The text itself is not shown: it is long, and binary in the end. */
export function malformedRequest(label: string, why: string): AppError {
  return new AppError('CSR_MALFORMED', `${label}: the certificate request cannot be read: ${why}`, {
    remedy: 'Create the request again with a tool that writes plain PKCS #10 in PEM form, and leave it unchanged.',
  });
}

/** The elements in a row that the bytes consist of. */
export function readParts(bytes: Uint8Array, what: string, label: string): DerElement[] {
  const parts = readDer(bytes);
  if (parts === undefined) throw malformedRequest(label, `its ${what} is no complete DER`);
  return parts;
}

/** The parts of a SEQUENCE, or of an element with another tag where one is given. */
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
  const found = element === undefined ? 'nothing' : `tag ${element.tag}`;
  throw malformedRequest(label, `its ${what} has ${found} where tag ${tag} belongs`);
}

/** Known ones have a dozen; they are shown in messages. */
const maxOidOctets = 32;

export function expectOid(element: DerElement | undefined, what: string, label: string): string {
  const { content } = expectTag(element, derTag.oid, what, label);
  const oid = content.length > maxOidOctets ? undefined : readOid(content);
  if (oid === undefined) throw malformedRequest(label, `the type of its ${what} is no object identifier`);
  return oid;
}

/** The octets of a BIT STRING that fills them all. */
export function expectBits(element: DerElement | undefined, what: string, label: string): Uint8Array {
  const { content } = expectTag(element, derTag.bitString, what, label);
  if (content.length > 1 && content[0] === 0) return content.subarray(1);
  throw malformedRequest(label, `its ${what} is empty or no whole number of octets`);
}
