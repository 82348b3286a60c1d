import { createHash, type KeyObject } from 'node:crypto';
import { certificateExtension as extension, writeCertificate } from '#base/certificate-write.ts';
import { boolean, element, namedBits, octetString, oid, sequence } from '#base/der-write.ts';
import { ipOctets } from './ip-octets.ts';
import { readKeyUsages } from './key-usages.ts';

export interface CertificateContent {
  /** DER of the Name, see `distinguishedName` of `certificate-write.ts`. */
  subject: Uint8Array;
  /** DER of the SubjectPublicKeyInfo. */
  publicKey: Uint8Array;
  /** Names of the certificates API, such as `client auth`. */
  usages: readonly string[];
  names?: SubjectNames;
  /** Both in milliseconds since 1970. */
  notBefore: number;
  notAfter: number;
  isAuthority?: boolean;
}

/** Subject alternative names; invalid IP addresses are left out. */
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

/** A certificate of version 3, signed with SHA-256, in PEM form. */
export function makeCertificate(content: CertificateContent, issuer: Issuer): string {
  const fields = { ...content, issuer: issuer.name, extensions: extensions(content, issuer) };
  return writeCertificate(fields, issuer.privateKey);
}

/** Key identifier of a SubjectPublicKeyInfo (DER). */
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
    // Critical if the subject is empty.
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
