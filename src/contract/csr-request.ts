import { sha256 } from '#base/sha256.ts';
import { type DerElement, derTag } from '#base/der.ts';
import { AppError } from '#base/errors.ts';
import { printPem, scanPem } from '#base/pem.ts';
import { expectOid, expectTag, malformedRequest, readParts } from './csr-der.ts';
import { type AlternativeNames, readAlternativeNames, readSubject, type Subject } from './csr-names.ts';

/** What a certificate signing request (PKCS #10) asks for, and what its own signature is made over. */
export interface CertificateRequest extends Subject, AlternativeNames {
  subjectPublicKeyInfo: Uint8Array;
  /** SHA-256 of it, lower-case hex. */
  keyHash: string;
  signed: { content: Uint8Array; algorithm: string; signature: Uint8Array };
}

const blockType = 'CERTIFICATE REQUEST';
// Real requests have one to three kilobytes; the bound keeps hostile ones from costing time.
const maxCharacters = 65_536;

const extensionRequestOid = '1.2.840.113549.1.9.14';
const alternativeNamesOid = '2.5.29.17';
const attributesTag = 0xa0;
const booleanTag = 0x01;

/** Reads the decoded text of `spec.request`. Explanatory text before the block is skipped; anything odd is an error. */
export function parseCertificateRequest(text: string, label = 'CSR'): CertificateRequest {
  const [info, algorithm, signature] = readSignedParts(decodePem(text, label), label);
  const parts = readParts(info.content, 'request info', label);
  const [version, subject, publicKey, attributes] = parts;
  if (parts.length !== 4 || version?.tag !== derTag.integer || !isZero(version.content)) {
    throw malformedRequest(label, 'it is not a request of version 1 with subject, key and attributes');
  }
  return {
    ...readSubject(expectTag(subject, derTag.sequence, 'subject', label), label),
    ...readAlternativeNames(requestedNames(expectTag(attributes, attributesTag, 'attributes', label), label), label),
    subjectPublicKeyInfo: expectTag(publicKey, derTag.sequence, 'public key', label).whole,
    keyHash: sha256(expectTag(publicKey, derTag.sequence, 'public key', label).whole),
    signed: { content: info.whole, algorithm, signature },
  };
}

/**
 * The signer takes the first block it finds in the text. So that it cannot find another one than we do, there must be
 * one block only, and no header lines in it.
 */
function decodePem(text: string, label: string): Uint8Array {
  if (text === '') {
    throw new AppError('CSR_MALFORMED', `${label}: CSR request spec should not be empty`, {
      remedy: 'Put a PEM encoded certificate request into spec.request.',
    });
  }
  if (text.length > maxCharacters) throw malformedRequest(label, `its text is longer than ${maxCharacters} characters`);
  const { blocks, broken } = scanPem(text);
  const [block, second] = blocks;
  const [bad] = broken;
  if (bad !== undefined) throw wrongPem(label, `line ${bad.line} ${bad.why}`);
  if (block === undefined) throw wrongPem(label, 'there is no PEM block');
  if (block.type !== blockType) throw wrongPem(label, `it is ${block.type}`);
  if (second !== undefined) throw wrongPem(label, 'there is more than one block');
  if (!withoutSpace(text).includes(withoutSpace(printPem(blockType, block.der)))) {
    throw wrongPem(label, 'the block holds more than plain base64');
  }
  return block.der;
}

function wrongPem(label: string, why: string): AppError {
  return malformedRequest(label, `PEM block type must be ${blockType}, one whole block: ${why}`);
}

function withoutSpace(text: string): string {
  return text.replaceAll(/\s/g, '');
}

function readSignedParts(der: Uint8Array, label: string): [info: DerElement, algorithm: string, signature: Uint8Array] {
  const [request, ...rest] = readParts(der, 'request', label);
  if (rest.length > 0) throw malformedRequest(label, 'data follows the request');
  const parts = readParts(expectTag(request, derTag.sequence, 'request', label).content, 'request', label);
  if (parts.length !== 3) throw malformedRequest(label, 'it does not consist of info, algorithm and signature');
  const [info, algorithm, signature] = parts;
  return [
    expectTag(info, derTag.sequence, 'request info', label),
    readAlgorithm(expectTag(algorithm, derTag.sequence, 'signature algorithm', label), label),
    readSignature(expectTag(signature, derTag.bitString, 'signature', label), label),
  ];
}

function isZero(content: Uint8Array): boolean {
  return content.length === 1 && content[0] === 0;
}

function readAlgorithm(element: DerElement, label: string): string {
  const [oid] = readParts(element.content, 'signature algorithm', label);
  return expectOid(oid, 'signature algorithm', label);
}

function readSignature(element: DerElement, label: string): Uint8Array {
  if (element.content.length > 1 && element.content[0] === 0) return element.content.subarray(1);
  throw malformedRequest(label, 'the signature is empty or no whole number of octets');
}

/** Content of the one subject alternative name extension that is asked for; undefined without one. */
function requestedNames(attributes: DerElement, label: string): Uint8Array | undefined {
  const found = readParts(attributes.content, 'attributes', label)
    .flatMap(attribute => requestedExtensions(attribute, label))
    .filter(({ oid }) => oid === alternativeNamesOid);
  if (found.length > 1) throw malformedRequest(label, 'it asks for subject alternative names twice');
  return found[0]?.content;
}

interface Extension {
  oid: string;
  content: Uint8Array;
}

function requestedExtensions(attribute: DerElement, label: string): Extension[] {
  const parts = readParts(expectTag(attribute, derTag.sequence, 'attribute', label).content, 'attribute', label);
  const [type, values] = parts;
  if (expectOid(type, 'attribute', label) !== extensionRequestOid) return [];
  const [list, ...more] = readParts(expectTag(values, derTag.set, 'attribute', label).content, 'extensions', label);
  if (parts.length !== 2 || more.length > 0) throw malformedRequest(label, 'its list of extensions is ambiguous');
  const extensions = readParts(expectTag(list, derTag.sequence, 'extensions', label).content, 'extensions', label);
  return extensions.map(extension => readExtension(extension, label));
}

function readExtension(element: DerElement, label: string): Extension {
  const parts = readParts(expectTag(element, derTag.sequence, 'extension', label).content, 'extension', label);
  const value = parts.at(-1);
  const known = parts.length === 2 || (parts.length === 3 && parts[1]?.tag === booleanTag);
  if (!known) throw malformedRequest(label, 'one of its extensions has unknown parts');
  return {
    oid: expectOid(parts[0], 'extension', label),
    content: expectTag(value, derTag.octetString, 'extension', label).content,
  };
}
