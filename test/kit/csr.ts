import { createSign, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { element as der, oid, sequence, set } from '../../src/base/der-write.ts';
import { printPem } from '../../src/base/pem.ts';
import { sha256 } from '../../src/base/sha256.ts';

export { element as der, oid, sequence, set } from '../../src/base/der-write.ts';

/** Content of a request for a test. Texts get the default string types; octets are used unchanged. */
export interface CsrContent {
  commonNames?: readonly string[];
  organizations?: readonly string[];
  /** Further subject attributes by object identifier. */
  attributes?: readonly (readonly [oid: string, text: string])[];
  dnsNames?: readonly string[];
  ips?: readonly (readonly number[])[];
  emails?: readonly string[];
  uris?: readonly string[];
  /** Whole GeneralName elements of other kinds. */
  otherNames?: readonly Uint8Array[];
  /** Replaces the attributes, everything between the tag [0] and the end. */
  attributeList?: Uint8Array;
  version?: number;
}

const oids = {
  commonName: '2.5.4.3',
  organization: '2.5.4.10',
  extensionRequest: '1.2.840.113549.1.9.14',
  alternativeNames: '2.5.29.17',
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
};

const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });

/** As the record has it, of the key that requests are made with unless another one is given. */
export const requestKeyHash = sha256(keys.publicKey.export({ type: 'spki', format: 'der' }));

export interface CsrKey {
  privateKey: KeyObject;
  /** As it stands in requests and certificates. */
  publicKey: Uint8Array;
}

/** A request in PEM, signed by a P-256 key. */
export function makeCsr(content: CsrContent = {}, key?: CsrKey): string {
  return printPem('CERTIFICATE REQUEST', makeCsrDer(content, key));
}

export function makeCsrDer(content: CsrContent = {}, key?: CsrKey): Uint8Array {
  return signInfo(requestInfo(content, key?.publicKey), key?.privateKey);
}

/** Wraps any request info into a signed request. */
export function signInfo(info: Uint8Array, privateKey: KeyObject = keys.privateKey): Uint8Array {
  const signature = createSign('sha256').update(info).sign(privateKey);
  return sequence(info, sequence(oid(oids.ecdsaWithSha256)), der(0x03, [0], signature));
}

export function requestInfo(
  content: CsrContent,
  publicKey: Uint8Array = keys.publicKey.export({ type: 'spki', format: 'der' }),
): Uint8Array {
  const attributes = content.attributeList ?? extensionRequest(alternativeNames(content));
  return sequence(der(0x02, [content.version ?? 0]), subject(content), publicKey, der(0xa0, attributes));
}

/** The attribute that asks for subject alternative names; empty without names. */
export function extensionRequest(names: Uint8Array | undefined): Uint8Array {
  return names === undefined ? new Uint8Array() : extensionAttribute(extension(oids.alternativeNames, names));
}

export function extensionAttribute(...extensions: Uint8Array[]): Uint8Array {
  return sequence(oid(oids.extensionRequest), set(sequence(...extensions)));
}

export function extension(type: string, value: Uint8Array, critical = false): Uint8Array {
  return sequence(oid(type), ...(critical ? [der(0x01, [0xff])] : []), der(0x04, value));
}

/** A list of names as the extension holds it; undefined when there are none. */
export function alternativeNames(content: CsrContent): Uint8Array | undefined {
  const names = [
    ...(content.emails ?? []).map(text => der(0x81, ascii(text))),
    ...(content.dnsNames ?? []).map(text => der(0x82, ascii(text))),
    ...(content.uris ?? []).map(text => der(0x86, ascii(text))),
    ...(content.ips ?? []).map(octets => der(0x87, octets)),
    ...(content.otherNames ?? []),
  ];
  return names.length === 0 ? undefined : sequence(...names);
}

function subject(content: CsrContent): Uint8Array {
  const attributes = [
    ...(content.organizations ?? ['system:nodes']).map(text => [oids.organization, text] as const),
    ...(content.commonNames ?? ['system:node:win1']).map(text => [oids.commonName, text] as const),
    ...(content.attributes ?? []),
  ];
  return sequence(...attributes.map(([type, text]) => set(sequence(oid(type), der(0x0c, utf8(text))))));
}

export function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function ascii(text: string): Uint8Array {
  return Uint8Array.from(text, character => character.charCodeAt(0) & 0xff);
}
