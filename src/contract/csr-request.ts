import { sameBytes } from '#base/bytes.ts';
import { type DerElement, derTag } from '#base/der.ts';
import { element, integer, octetString, oid, sequence, set } from '#base/der-write.ts';
import { AppError } from '#base/errors.ts';
import { readOnlyPem } from '#base/pem.ts';
import { sha256 } from '#base/sha256.ts';
import { expectOid, expectTag, malformedRequest, partsOf, readParts } from './csr-der.ts';
import {
  isSignedByKey,
  readKey,
  readSignature,
  type RequestKey,
  type RequestSignature,
  signatureOctets,
  writeKey,
  writeSignature,
} from './csr-key.ts';
import {
  type AlternativeNames,
  type GeneralName,
  namesOf,
  readGeneralNames,
  readSubjectParts,
  type Subject,
  subjectOf,
  type SubjectPart,
  writeGeneralNames,
  writeSubject,
} from './csr-names.ts';

/** A certificate signing request (PKCS #10) with a verified signature. */
export interface CertificateRequest extends Subject, AlternativeNames {
  subjectPublicKeyInfo: Uint8Array;
  /** Lower-case hex SHA-256 of the DER of SubjectPublicKeyInfo: it names the key. */
  keyHash: string;
  signed: { content: Uint8Array; algorithm: string; signature: Uint8Array };
}

/** All parts of a request; anything else in it is rejected. */
interface RequestParts {
  subject: SubjectPart[];
  key: RequestKey;
  names: GeneralName[];
  signature: RequestSignature;
}

const blockType = 'CERTIFICATE REQUEST';
/** Real requests have one to three kilobytes; the largest key with 64 long names has twelve. */
const maxCharacters = 16_384;

/** Of `spec.request`, which is the text in base64 once more. Longer ones are rejected unread. */
export const maxRequestCharacters = 4 * Math.ceil(maxCharacters / 3);

const extensionRequestOid = '1.2.840.113549.1.9.14';
const alternativeNamesOid = '2.5.29.17';
const attributesTag = 0xa0;

/**
 * Parses the decoded text of `spec.request`. Signers parse the same text with another program, so it must not be
 * ambiguous: a request is rejected unless its parsed parts, written again, give the same text.
 */
export function parseCertificateRequest(text: string, label = 'CSR'): CertificateRequest {
  const der = decodePem(text, label);
  const parts = readRequest(der, label);
  const info = writeInfo(parts);
  if (!sameBytes(sequence(info, ...writeSignature(parts.signature)), der))
    throw malformedRequest(label, 'it has unexpected parts, or is not in canonical DER');
  const subjectPublicKeyInfo = writeKey(parts.key);
  if (!isSignedByKey(parts.key, parts.signature, { content: info, publicKey: subjectPublicKeyInfo })) {
    throw new AppError('CSR_MALFORMED', `${label}: the signature of the certificate request does not match its key`, {
      remedy: 'Sign the request with the private key of its public key, with RSA, ECDSA or Ed25519 and SHA-2.',
    });
  }
  return {
    ...subjectOf(parts.subject, label),
    ...namesOf(parts.names, label),
    subjectPublicKeyInfo,
    keyHash: sha256(subjectPublicKeyInfo),
    signed: { content: info, algorithm: parts.signature.algorithm, signature: signatureOctets(parts.signature) },
  };
}

function decodePem(text: string, label: string): Uint8Array {
  if (text === '') {
    throw new AppError('CSR_MALFORMED', `${label}: CSR request spec should not be empty`, {
      remedy: 'Set spec.request to a PEM encoded certificate request.',
    });
  }
  if (text.length > maxCharacters) throw malformedRequest(label, `its text is longer than ${maxCharacters} characters`);
  const read = readOnlyPem(blockType, text);
  if (read.ok) return read.der;
  throw malformedRequest(label, `PEM block type must be ${blockType}, one block and no more: ${read.why}`);
}

function readRequest(der: Uint8Array, label: string): RequestParts {
  const [request] = readParts(der, 'request', label);
  const [info, ...signature] = partsOf(request, 'request', label);
  if (signature.length !== 2) throw malformedRequest(label, 'it does not consist of info, algorithm and signature');
  const parts = partsOf(info, 'request info', label);
  const [version, subject, publicKey, attributes] = parts;
  const isFirst = version?.tag === derTag.integer && version.content.every(octet => octet === 0);
  if (parts.length !== 4 || !isFirst)
    throw malformedRequest(label, 'it is not a request of version 1 with subject, key and attributes');
  return {
    subject: readSubjectParts(subject, label),
    key: readKey(publicKey, label),
    names: readAttributes(attributes, label),
    signature: readSignature(signature, label),
  };
}

/** The requested names. Allows only one attribute, a list of extensions, with one extension, the alternative names. */
function readAttributes(attributes: DerElement | undefined, label: string): GeneralName[] {
  const [attribute, ...more] = partsOf(attributes, 'attributes', label, attributesTag);
  if (attribute === undefined) return [];
  const [type, values] = partsOf(attribute, 'attribute', label);
  const name = expectOid(type, 'attribute', label);
  if (name !== extensionRequestOid) throw malformedRequest(label, `it has the unsupported attribute ${name}`);
  if (more.length > 0) throw malformedRequest(label, 'it has more than one attribute');
  const [list] = partsOf(values, 'attribute', label, derTag.set);
  const extensions = partsOf(list, 'extensions', label).map(extension => readExtension(extension, label));
  const other = extensions.find(({ oid: extension }) => extension !== alternativeNamesOid);
  if (other !== undefined)
    throw malformedRequest(label, `it requests the extension ${other.oid}; only alternative names are allowed`);
  const [names, ...twice] = extensions;
  if (names === undefined) throw malformedRequest(label, 'it requests an empty list of extensions');
  if (twice.length > 0) throw malformedRequest(label, 'it requests alternative names twice');
  return readGeneralNames(names.content, label);
}

/** The flag "critical" is rejected too: signers drop it. */
function readExtension(extension: DerElement, label: string): { oid: string; content: Uint8Array } {
  const [type, value] = partsOf(extension, 'extension', label);
  const name = expectOid(type, 'extension', label);
  if (name !== alternativeNamesOid) return { oid: name, content: new Uint8Array() };
  return { oid: name, content: expectTag(value, derTag.octetString, 'extension', label).content };
}

function writeInfo({ subject, key, names }: RequestParts): Uint8Array {
  const attributes = names.length === 0 ? [] : [extensionRequest(writeGeneralNames(names))];
  return sequence(integer([0]), writeSubject(subject), writeKey(key), element(attributesTag, ...attributes));
}

function extensionRequest(names: Uint8Array): Uint8Array {
  const extension = sequence(oid(alternativeNamesOid), octetString(names));
  return sequence(oid(extensionRequestOid), set(sequence(extension)));
}
