import { X509Certificate } from 'node:crypto';
import { subjectOf } from '../../src/base/certificate-read.ts';
import { derTag, readDer, readOid } from '../../src/base/der.ts';
import type { CertificateRequest } from '../../src/contract/csr-request.ts';
import { readCertificate } from '../../src/sandbox/apiserver/auth/certificate-parts.ts';
import { readKeyUsages } from '../../src/sandbox/apiserver/auth/key-usages.ts';

/** Everything in a certificate that matters to a verifier, in a comparable form. */
export interface CertificateContent {
  /** By the short names of OpenSSL, which reads it. */
  subject: Partial<Record<string, string[]>>;
  /** Tag and octets of each name, sorted. */
  names: string[];
  usageBits: number[];
  extendedUsages: string[];
  isAuthority: boolean;
  publicKey: string;
  /** Extensions that no signer of Kubernetes writes. */
  otherExtensions: string[];
}

const [keyUsage, extendedKeyUsage, alternativeNames] = ['2.5.29.15', '2.5.29.37', '2.5.29.17'];
/** With the identifiers of both keys, and the constraint that it is no authority. */
const expected = [keyUsage, extendedKeyUsage, alternativeNames, '2.5.29.14', '2.5.29.35', '2.5.29.19'];

/** What was issued. Subject and key as OpenSSL reads them, apart from our own readers. */
export function issuedContent(pem: string): CertificateContent {
  const certificate = new X509Certificate(pem);
  const { extensions } = readCertificate(certificate.raw) ?? { extensions: new Map<string, Uint8Array>() };
  return {
    subject: subjectOf(certificate),
    names: partsOf(extensions.get(alternativeNames))
      .map(({ tag, content }) => nameOf(tag, content))
      .toSorted(),
    usageBits: bitsOf(extensions.get(keyUsage)),
    extendedUsages: partsOf(extensions.get(extendedKeyUsage))
      .map(({ content }) => readOid(content) ?? '')
      .toSorted(),
    isAuthority: certificate.ca,
    publicKey: certificate.publicKey.export({ type: 'spki', format: 'der' }).toString('hex'),
    otherExtensions: [...extensions.keys()].filter(type => !expected.includes(type)),
  };
}

/** What was decided on. */
export function decidedContent(request: CertificateRequest, usages: readonly string[]): CertificateContent {
  const { bits, extendedOids } = readKeyUsages(usages);
  const text = (tag: number) => (name: string) => nameOf(tag, Buffer.from(name, 'latin1'));
  const names = [
    ...request.emailAddresses.map(text(0x81)),
    ...request.dnsNames.map(text(0x82)),
    ...request.uris.map(text(0x86)),
    ...request.ipAddresses.map(address => nameOf(0x87, octetsOf(address))),
  ];
  return {
    subject: { O: request.organizations, CN: [request.commonName] },
    names: names.toSorted(),
    usageBits: [...new Set(bits)].toSorted((one, other) => one - other),
    extendedUsages: extendedOids.toSorted(),
    isAuthority: false,
    publicKey: Buffer.from(request.subjectPublicKeyInfo).toString('hex'),
    otherExtensions: [],
  };
}

function nameOf(tag: number, content: Uint8Array): string {
  return `${tag.toString(16)} ${Buffer.from(content).toString('hex')}`;
}

/** The elements of the one list in an extension. */
function partsOf(extension: Uint8Array | undefined): { tag: number; content: Uint8Array }[] {
  const [list] = readDer(extension ?? new Uint8Array()) ?? [];
  return readDer(list?.content ?? new Uint8Array()) ?? [];
}

function bitsOf(extension: Uint8Array | undefined): number[] {
  const [bits] = readDer(extension ?? new Uint8Array()) ?? [];
  const octets = bits?.tag === derTag.bitString ? [...bits.content.subarray(1)] : [];
  return octets.flatMap((octet, index) =>
    [0, 1, 2, 3, 4, 5, 6, 7].filter(bit => octet & (0x80 >> bit)).map(bit => bit + 8 * index),
  );
}

function octetsOf(address: string): Uint8Array {
  if (address.includes('.')) return Uint8Array.from(address.split('.').map(Number));
  const [front = [], back = []] = address.split('::').map(part => part.split(':').filter(group => group !== ''));
  const zeros = Array.from({ length: 8 - front.length - back.length }, () => '0');
  const groups = [...front, ...zeros, ...back].map(group => Number.parseInt(group, 16));
  return Uint8Array.from(groups.flatMap(group => [group >> 8, group & 0xff]));
}
