import {
  alternativeNames,
  der,
  extension,
  extensionAttribute,
  extensionRequest,
  makeCsrDer,
  oid,
  requestInfo,
  sequence,
  set,
  signInfo,
  utf8,
} from '../csr.ts';
import type { AskedKind } from './asked-kinds.ts';
import { attribute, type HostileDer, join, oids, text } from './der-parts.ts';

export function hostileAttributes({ good, evil }: AskedKind): HostileDer[] {
  const own = extensionRequest(alternativeNames(good));
  const made: [string, Uint8Array][] = [
    ['a challenge password', join(own, other('1.2.840.113549.1.9.7', text('secret')))],
    ['an unstructured name', join(other('1.2.840.113549.1.9.2', text('x')), own)],
    ['a request in an attribute', join(own, other('1.3.6.1.4.1.57683.9', makeCsrDer(evil)))],
    ['extensions in the way of Microsoft', join(own, other('1.3.6.1.4.1.311.2.1.14', list))],
    ['two lists of extensions', join(own, extensionRequest(evilNames))],
    ['two lists of extensions in one attribute', other(oids.extensionRequest, list, list)],
    ['an attribute without values', join(own, other(oids.extensionRequest))],
    ['an attribute that is no sequence', join(own, der(0x05))],
    ['an attribute of three parts', sequence(oid(oids.extensionRequest), set(list), set(list))],
    ...extensions(good.dnsNames === undefined ? undefined : alternativeNames(good)),
  ];
  return made.map(([name, attributeList]) => [name, signInfo(requestInfo({ ...good, attributeList }))]);
}

const evilNames = sequence(der(0x82, utf8('win1')), der(0x82, utf8('evil')));
const list = sequence(extension(oids.alternativeNames, evilNames));
const other = (type: string, ...values: Uint8Array[]) => attribute(type, set(...values));

/** The names are asked for as well where the signer demands some. */
function extensions(names: Uint8Array | undefined): [string, Uint8Array][] {
  const { alternativeNames: type } = oids;
  const own = names === undefined ? [] : [extension(type, names)];
  const asks = (...more: Uint8Array[]) => extensionAttribute(...own, ...more);
  const marked = (mark: number) => sequence(oid(type), der(0x01, [mark]), der(0x04, evilNames));
  return [
    ['an empty list of extensions', extensionAttribute()],
    ['alternative names twice', extensionAttribute(extension(type, evilNames), extension(type, evilNames))],
    ['critical alternative names', extensionAttribute(marked(0xff))],
    ['alternative names marked as not critical', extensionAttribute(marked(0))],
    ['alternative names with an odd mark', extensionAttribute(marked(1))],
    ['an extension of three parts', extensionAttribute(sequence(oid(type), der(0x04, evilNames), der(0x05)))],
    ['octets behind the alternative names', extensionAttribute(extension(type, join(evilNames, der(0x05))))],
    ['an empty list of names', extensionAttribute(extension(type, sequence()))],
    ['the wish to be an authority', asks(extension('2.5.29.19', sequence(der(0x01, [0xff])), true))],
    ['the wish to sign certificates', asks(extension('2.5.29.15', der(0x03, [1, 6]), true))],
    ['the wish for any use', asks(extension('2.5.29.37', sequence(oid('2.5.29.37.0'))))],
    ['the wish for a key identifier', asks(extension('2.5.29.14', der(0x04, [1, 2, 3])))],
    ['the wish for an unknown extension', asks(extension('1.3.6.1.4.1.57683.10', der(0x05), true))],
    ['the wish for names of the issuer', asks(extension('2.5.29.18', evilNames))],
  ];
}

/** One DNS name and another name. */
export function hostileNames({ good }: AskedKind): HostileDer[] {
  return names().map(([name, extra]) => {
    const attributeList = extensionRequest(sequence(der(0x82, utf8('win1')), extra));
    return [`${name} among the names`, signInfo(requestInfo({ ...good, attributeList }))];
  });
}

function names(): [string, Uint8Array][] {
  const [mail, dns, uri, ip] = [0x81, 0x82, 0x86, 0x87];
  const mapped = [...new Uint8Array(10), 0xff, 0xff, 10, 0, 0, 1];
  return [
    ['another DNS name', der(dns, utf8('win1.example.com'))],
    ['a DNS name twice', der(dns, utf8('win1'))],
    ['a DNS name in large letters', der(dns, utf8('WIN1'))],
    ['a DNS name with a dot at the end', der(dns, utf8('win1.'))],
    ['a wildcard', der(dns, utf8('*.example.com'))],
    ['a DNS name with a blank', der(dns, utf8('win1 evil'))],
    ['an address as DNS name', der(dns, utf8('10.0.0.1'))],
    ['an empty DNS name', der(dns)],
    ['a DNS name with a NUL', der(dns, utf8('win1\0.evil'))],
    ['a DNS name with a line break', der(dns, utf8('win1\nevil'))],
    ['a DNS name with umlauts', der(dns, utf8('wín1'))],
    ['a DNS name in pieces', der(0xa2, text('win1', 0x16))],
    ['an address of IPv4', der(ip, [10, 0, 0, 1])],
    ['an address of IPv6', der(ip, [0xfd, ...new Uint8Array(14), 1])],
    ['an address of IPv4 in IPv6', der(ip, mapped)],
    ['an address of five octets', der(ip, [10, 0, 0, 1, 1])],
    ['an address with a mask', der(ip, [10, 0, 0, 1, 255, 255, 255, 0])],
    ['an empty address', der(ip)],
    ['a mail address', der(mail, utf8('a@b.c'))],
    ['a URI', der(uri, utf8('HTTP://Evil/%7e'))],
    ['a URI that is none', der(uri, utf8('::'))],
    ['another name', der(0xa0, oid('1.3.6.1.4.1.311.20.2.3'), der(0xa0, text('admin@evil')))],
    ['an X.400 address', der(0xa3, sequence())],
    ['a directory name', der(0xa4, sequence(set(attribute(oids.commonName, text('x')))))],
    ['an EDI party', der(0xa5, der(0x81, text('x')))],
    ['a registered identifier', der(0x88, [0x2a, 3])],
    ['a name with an unknown tag', der(0x89, utf8('win1'))],
    ['a name of another class', text('win1', 0x16)],
  ];
}
