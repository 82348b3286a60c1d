import { createHash, createSign, type KeyObject, randomBytes } from 'node:crypto';
import {
  bitString,
  boolean,
  element,
  integer,
  namedBits,
  octetString,
  oid,
  sequence,
  set,
  time,
  utf8String,
} from '#base/der-write.ts';
import { printPem } from '#base/pem.ts';
import { ipOctets } from './ip-octets.ts';
import { readKeyUsages } from './key-usages.ts';

/** What a certificate says; whoever asks for one has already decided that it may. */
export interface CertificateContent {
  /** DER of the Name, see `distinguishedName`. */
  subject: Uint8Array;
  /** DER of the SubjectPublicKeyInfo. */
  publicKey: Uint8Array;
  /** In the words of the certificates API, such as `client auth`. */
  usages: readonly string[];
  names?: SubjectNames;
  /** Both in milliseconds since 1970. */
  notBefore: number;
  notAfter: number;
  isAuthority?: boolean;
}

/** Alternative names by their kinds; a text that is no address does not belong among the addresses and is left out. */
export interface SubjectNames {
  dnsNames?: readonly string[];
  ipAddresses?: readonly string[];
  emailAddresses?: readonly string[];
  uris?: readonly string[];
}

export interface Issuer {
  /** DER of the Name. */
  name: Uint8Array;
  keyId: Uint8Array;
  privateKey: KeyObject;
}

const algorithms: Readonly<Record<string, Uint8Array>> = {
  ec: sequence(oid('1.2.840.10045.4.3.2')),
  rsa: sequence(oid('1.2.840.113549.1.1.11'), element(0x05)),
};

/** A certificate of version 3, signed with SHA-256, in PEM form. */
export function makeCertificate(content: CertificateContent, issuer: Issuer): string {
  const algorithm = algorithms[issuer.privateKey.asymmetricKeyType ?? ''];
  if (algorithm === undefined) throw new Error('an authority needs an RSA or an EC key');
  const info = sequence(
    element(0xa0, integer([2])),
    integer([0x01, ...randomBytes(15)]),
    algorithm,
    issuer.name,
    sequence(time(content.notBefore), time(content.notAfter)),
    content.subject,
    content.publicKey,
    element(0xa3, sequence(...extensions(content, issuer))),
  );
  const signature = createSign('sha256').update(info).sign(issuer.privateKey);
  return printPem('CERTIFICATE', sequence(info, algorithm, bitString(signature)));
}

export function distinguishedName(name: { commonName: string; organizations?: readonly string[] }): Uint8Array {
  const attributes: [string, string][] = [
    ...(name.organizations ?? []).map((text): [string, string] => ['2.5.4.10', text]),
    ['2.5.4.3', name.commonName],
  ];
  return sequence(...attributes.map(([type, text]) => set(sequence(oid(type), utf8String(text)))));
}

/** Identifies a key in the certificates that name it. Takes the DER of its SubjectPublicKeyInfo. */
export function keyIdOf(publicKey: Uint8Array): Uint8Array {
  return createHash('sha256').update(publicKey).digest().subarray(0, 20);
}

function extensions(content: CertificateContent, issuer: Issuer): Uint8Array[] {
  const usages = readKeyUsages(content.usages);
  const names = alternativeNames(content.names ?? {});
  const isAuthority = content.isAuthority ?? false;
  return [
    ...(usages.bits.length === 0 ? [] : [extension('2.5.29.15', namedBits(usages.bits), true)]),
    ...(usages.extendedOids.length === 0 ? [] : [extension('2.5.29.37', sequence(...usages.extendedOids.map(oid)))]),
    extension('2.5.29.19', isAuthority ? sequence(boolean(true)) : sequence(), true),
    extension('2.5.29.14', octetString(keyIdOf(content.publicKey))),
    ...(isAuthority ? [] : [extension('2.5.29.35', sequence(element(0x80, issuer.keyId)))]),
    // Without a subject the names are all there is to identify the holder.
    ...(names.length === 0 ? [] : [extension('2.5.29.17', sequence(...names), content.subject.length === 2)]),
  ];
}

function alternativeNames(names: SubjectNames): Uint8Array[] {
  const text = (tag: number) => (value: string) => element(tag, new TextEncoder().encode(value));
  const addresses = (names.ipAddresses ?? []).map(ipOctets).filter(octets => octets !== undefined);
  return [
    ...(names.dnsNames ?? []).map(text(0x82)),
    ...(names.emailAddresses ?? []).map(text(0x81)),
    ...addresses.map(octets => element(0x87, octets)),
    ...(names.uris ?? []).map(text(0x86)),
  ];
}

function extension(type: string, value: Uint8Array, critical = false): Uint8Array {
  return sequence(oid(type), ...(critical ? [boolean(true)] : []), octetString(value));
}
