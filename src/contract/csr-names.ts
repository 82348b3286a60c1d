import { fromUtf8 } from '#base/bytes.ts';
import { type DerElement, derTag } from '#base/der.ts';
import { printIpv4 } from '#base/ipv4.ts';
import { expectOid, expectTag, malformedRequest, readParts } from './csr-der.ts';

export interface Subject {
  commonName: string;
  organizations: string[];
  /** Object identifiers of whatever else the subject holds; some of them mean something to an API server. */
  otherAttributes: string[];
}

export interface AlternativeNames {
  dnsNames: string[];
  ipAddresses: string[];
  emailAddresses: string[];
  uris: string[];
  /** How many names there are of kinds nobody here has a use for. */
  otherNames: number;
}

const commonNameOid = '2.5.4.3';
const organizationOid = '2.5.4.10';

/** Tags of the string types a subject may be written in. */
const utf8String = 0x0c;
const asciiStrings = [0x13, 0x16];

/** Two common names are refused: which of them counts would be the reader's choice. */
export function readSubject(subject: DerElement, label: string): Subject {
  const attributes = readParts(subject.content, 'subject', label)
    .flatMap(set => readParts(expectTag(set, derTag.set, 'subject', label).content, 'subject', label))
    .map(attribute => readAttribute(attribute, label));
  const valuesOf = (oid: string) =>
    attributes.filter(item => item.oid === oid).map(item => subjectText(item.value, label));
  const [commonName = '', ...more] = valuesOf(commonNameOid);
  if (more.length > 0) throw malformedRequest(label, 'its subject has more than one common name');
  const others = attributes.filter(({ oid }) => oid !== commonNameOid && oid !== organizationOid);
  return {
    commonName,
    organizations: valuesOf(organizationOid),
    otherAttributes: others.map(({ oid }) => oid),
  };
}

interface Attribute {
  oid: string;
  value: DerElement;
}

function readAttribute(element: DerElement, label: string): Attribute {
  const parts = readParts(expectTag(element, derTag.sequence, 'subject', label).content, 'subject', label);
  const [type, value] = parts;
  if (value === undefined || parts.length !== 2)
    throw malformedRequest(label, 'its subject has a part without a value');
  return { oid: expectOid(type, 'subject', label), value };
}

function subjectText(value: DerElement, label: string): string {
  if (asciiStrings.includes(value.tag)) return asciiText(value.content, 'subject', label);
  const text = value.tag === utf8String ? fromUtf8(value.content) : undefined;
  if (text === undefined) throw malformedRequest(label, 'its subject is written in an unknown kind of text');
  return text;
}

function asciiText(content: Uint8Array, what: string, label: string): string {
  const text = content.every(octet => octet >= 0x20 && octet < 0x7f) ? fromUtf8(content) : undefined;
  if (text === undefined) throw malformedRequest(label, `its ${what} is not plain ASCII text`);
  return text;
}

/** Context tags of the names we read, and where they go. */
const nameKinds = {
  0x81: 'emailAddresses',
  0x82: 'dnsNames',
  0x86: 'uris',
  0x87: 'ipAddresses',
} as const;

/** Reads the content of a subject alternative name extension; no extension, no names. */
export function readAlternativeNames(extension: Uint8Array | undefined, label: string): AlternativeNames {
  const names: AlternativeNames = { dnsNames: [], ipAddresses: [], emailAddresses: [], uris: [], otherNames: 0 };
  if (extension === undefined) return names;
  const [list, ...rest] = readParts(extension, 'alternative names', label);
  const items = readParts(expectTag(list, derTag.sequence, 'alternative names', label).content, 'names', label);
  if (items.length === 0 || rest.length > 0) throw malformedRequest(label, 'its list of alternative names is empty');
  for (const { tag, content } of items) {
    const kind = nameKinds[tag as keyof typeof nameKinds];
    if (kind === undefined) names.otherNames += 1;
    else names[kind].push(kind === 'ipAddresses' ? printIp(content, label) : asciiText(content, kind, label));
  }
  return names;
}

function printIp(octets: Uint8Array, label: string): string {
  if (octets.length === 4) return printIpv4(bitsOf(octets));
  if (octets.length !== 16) throw malformedRequest(label, `it holds an IP address of ${octets.length} octets`);
  const groups = Array.from({ length: 8 }, (_, index) => bitsOf(octets.subarray(2 * index, 2 * index + 2)));
  // Signers write an IPv4 address mapped into IPv6 as plain IPv4, so that is what the certificate would hold.
  const mapped = groups.slice(0, 5).every(group => group === 0) && groups[5] === 0xffff;
  return mapped ? printIpv4(bitsOf(octets.subarray(12))) : printIpv6(groups);
}

function bitsOf(octets: Uint8Array): number {
  return octets.reduce((bits, octet) => bits * 256 + octet, 0);
}

/** RFC 5952: no leading zeros, and `::` for the first of the longest runs of at least two zero groups. */
function printIpv6(groups: readonly number[]): string {
  const zerosFrom = (start: number) => {
    const end = groups.findIndex((group, index) => index >= start && group !== 0);
    return (end === -1 ? groups.length : end) - start;
  };
  const runs = groups.map((_, start) => zerosFrom(start));
  const longest = Math.max(...runs);
  const hex = (part: readonly number[]) => part.map(group => group.toString(16)).join(':');
  if (longest < 2) return hex(groups);
  const start = runs.indexOf(longest);
  return `${hex(groups.slice(0, start))}::${hex(groups.slice(start + longest))}`;
}
