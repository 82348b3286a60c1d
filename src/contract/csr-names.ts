import { fromUtf8 } from '#base/bytes.ts';
import { type DerElement, derTag } from '#base/der.ts';
import { element, oid, sequence, set } from '#base/der-write.ts';
import { shown } from '#base/errors.ts';
import { printIpv4 } from '#base/ipv4.ts';
import { expectOid, malformedRequest, partsOf, readParts } from './csr-der.ts';

export interface Subject {
  commonName: string;
  organizations: string[];
  /** Object identifiers of other attributes; some have a meaning for API servers. */
  otherAttributes: string[];
}

export interface AlternativeNames {
  dnsNames: string[];
  ipAddresses: string[];
  emailAddresses: string[];
  uris: string[];
  /** Names of other kinds are rejected, because signers drop them. */
  otherNames: 0;
}

export interface SubjectPart {
  type: string;
  tag: number;
  text: string;
}

const commonNameOid = '2.5.4.3';
const organizationOid = '2.5.4.10';

/** String types that every reader decodes alike. */
const utf8String = 0x0c;
const printableString = 0x13;
const printable = /^[A-Za-z0-9 '()+,./:=?-]*$/;
const control = /\p{Cc}/u;

const maxParts = 8;

/** Rejects parts with several attributes: signers reorder or split them. */
export function readSubjectParts(subject: DerElement | undefined, label: string): SubjectPart[] {
  const parts = partsOf(subject, 'subject', label);
  // Kubelets and agents write one organization and one common name.
  if (parts.length > maxParts) throw malformedRequest(label, `its subject has more than ${maxParts} parts`);
  return parts.map(part => {
    const [attribute, ...more] = partsOf(part, 'subject', label, derTag.set);
    if (more.length > 0) throw malformedRequest(label, 'its subject has a part with several attributes');
    const [type, value, ...rest] = partsOf(attribute, 'subject', label);
    if (value === undefined || rest.length > 0)
      throw malformedRequest(label, 'its subject has a part without a value, or with several');
    return { type: expectOid(type, 'subject', label), tag: value.tag, text: subjectText(value, label) };
  });
}

/** Rejects two common names: readers differ in which one they use. */
export function subjectOf(parts: readonly SubjectPart[], label: string): Subject {
  const valuesOf = (type: string) => parts.filter(part => part.type === type).map(({ text }) => text);
  const [commonName = '', ...more] = valuesOf(commonNameOid);
  if (more.length > 0) throw malformedRequest(label, 'its subject has more than one common name');
  const others = parts.filter(({ type }) => type !== commonNameOid && type !== organizationOid);
  return { commonName, organizations: valuesOf(organizationOid), otherAttributes: others.map(({ type }) => type) };
}

export function readSubject(subject: DerElement, label: string): Subject {
  return subjectOf(readSubjectParts(subject, label), label);
}

export function writeSubject(parts: readonly SubjectPart[]): Uint8Array {
  const encoder = new TextEncoder();
  return sequence(...parts.map(({ type, tag, text }) => set(sequence(oid(type), element(tag, encoder.encode(text))))));
}

function subjectText({ tag, content }: DerElement, label: string): string {
  if (tag !== utf8String && tag !== printableString)
    throw malformedRequest(label, `its subject has a string of tag ${tag}, not UTF8String or PrintableString`);
  const text = fromUtf8(content);
  const isGood = text !== undefined && (tag === utf8String ? !control.test(text) : printable.test(text));
  if (!isGood) throw malformedRequest(label, 'its subject has characters that its string type does not allow');
  return text;
}

/** One encoded name; its tag is the kind. */
export interface GeneralName {
  tag: number;
  content: Uint8Array;
}

/** Context tags of the supported kinds of names. */
const nameKinds = {
  0x81: 'emailAddresses',
  0x82: 'dnsNames',
  0x86: 'uris',
  0x87: 'ipAddresses',
} as const;

/** Reads the content of a subject alternative name extension. */
export function readGeneralNames(extension: Uint8Array, label: string): GeneralName[] {
  const [list, ...rest] = readParts(extension, 'alternative names', label);
  const items = partsOf(list, 'alternative names', label);
  if (items.length === 0 || rest.length > 0) throw malformedRequest(label, 'its list of alternative names is empty');
  // A kubelet requests a handful; each name is compared with those of other hosts.
  if (items.length > maxNames) throw malformedRequest(label, `it requests more than ${maxNames} alternative names`);
  return items.map(({ tag, content }) => ({ tag, content }));
}

const maxNames = 64;

export function namesOf(items: readonly GeneralName[], label: string): AlternativeNames {
  const names: AlternativeNames = { dnsNames: [], ipAddresses: [], emailAddresses: [], uris: [], otherNames: 0 };
  for (const { tag, content } of items) {
    const kind = nameKinds[tag as keyof typeof nameKinds];
    if (kind === undefined) throw malformedRequest(label, `it has a name of an unsupported kind (tag ${tag})`);
    names[kind].push(readName(kind, content, label));
  }
  return names;
}

/** URIs that a parser does not change; signers rewrite all others. */
function isPlainUri(text: string): boolean {
  const cut = text.indexOf(':');
  const [scheme, rest] = [text.slice(0, cut), text.slice(cut + 1)];
  const isHierarchical = rest.startsWith('//');
  const parts = isHierarchical ? rest.slice(2).split('/') : [rest];
  const [host = '', ...path] = isHierarchical ? parts : ['x', ...parts];
  return (
    /^[a-z][a-z0-9+.-]*$/.test(scheme) &&
    /^[a-z0-9.-]+$/.test(host) &&
    path.every(part => /^[A-Za-z0-9._~-]+$/.test(part))
  );
}

function readName(kind: (typeof nameKinds)[keyof typeof nameKinds], content: Uint8Array, label: string): string {
  if (kind === 'ipAddresses') return printIp(content, label);
  const text = asciiText(content, kind, label);
  if (kind === 'uris' && !isPlainUri(text))
    throw malformedRequest(label, `it has the URI ${shown(text)}, which signers would rewrite`);
  return text;
}

export function writeGeneralNames(items: readonly GeneralName[]): Uint8Array {
  return sequence(...items.map(({ tag, content }) => element(tag, content)));
}

function asciiText(content: Uint8Array, what: string, label: string): string {
  const isPlain = content.length > 0 && content.every(octet => octet >= 0x20 && octet < 0x7f);
  const text = isPlain ? fromUtf8(content) : undefined;
  if (text === undefined) throw malformedRequest(label, `one of its ${what} is empty or not printable ASCII`);
  return text;
}

function printIp(octets: Uint8Array, label: string): string {
  if (octets.length === 4) return printIpv4(bitsOf(octets));
  if (octets.length !== 16) throw malformedRequest(label, `it has an IP address of ${octets.length} octets`);
  const groups = Array.from({ length: 8 }, (_, index) => bitsOf(octets.subarray(2 * index, 2 * index + 2)));
  // Signers write it as plain IPv4, so the certificate would have another name than the request.
  if (groups.slice(0, 5).every(group => group === 0) && groups[5] === 0xffff)
    throw malformedRequest(label, 'it has an IPv4 address in IPv6 form');
  return printIpv6(groups);
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
