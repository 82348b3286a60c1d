import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { printPem } from '#base/pem.ts';
import * as kit from '../../test/kit/csr.ts';
import { parseCertificateRequest } from './csr-request.ts';

const parse = (content: kit.CsrContent) => parseCertificateRequest(kit.makeCsr(content), 'CSR csr-1');
const { subjectPublicKeyInfo } = parse({});
const withSubject = (...parts: Uint8Array[]) => {
  const info = kit.sequence(kit.der(0x02, [0]), kit.sequence(...parts), subjectPublicKeyInfo, kit.der(0xa0));
  return parseCertificateRequest(printPem('CERTIFICATE REQUEST', kit.signInfo(info)), 'CSR csr-1');
};
const refused = (message: RegExp) =>
  expect.objectContaining({ code: 'CSR_MALFORMED', message: expect.stringMatching(message) });

const cn = kit.oid('2.5.4.3');
const attribute = (...parts: Uint8Array[]) => kit.set(kit.sequence(...parts));
const text = (tag: number, value: string) => kit.der(tag, kit.utf8(value));

test('reports what else the subject holds', () => {
  const uid = '1.3.6.1.4.1.57683.2';
  const attributes: [string, string][] = [
    ['2.5.4.11', 'unit'],
    [uid, '0'],
  ];
  expect(parse({ attributes }).otherAttributes).toEqual(['2.5.4.11', uid]);
});

test('reads printable text and UTF-8 alike', () => {
  expect(withSubject(attribute(cn, text(0x13, 'system:node:win1'))).commonName).toBe('system:node:win1');
  expect(withSubject(attribute(cn, text(0x0c, 'system:node:wín1'))).commonName).toBe('system:node:wín1');
});

const one = kit.sequence(cn, text(0x0c, 'a'));
const subjects: [string, Uint8Array[], RegExp][] = [
  ['two common names', [kit.set(one), kit.set(one)], /more than one common name/],
  ['a part with two attributes', [kit.set(one, one)], /a part with several attributes/],
  ['an empty part', [kit.set()], /subject has no element instead of tag 48/],
  ['a subject without sets', [kit.sequence()], /subject has tag 48 instead of tag 49/],
  ['a part without a value', [attribute(cn)], /a part without a value/],
  [
    'a part with two values',
    [attribute(cn, text(0x0c, 'a'), text(0x0c, 'b'))],
    /a part without a value, or with several/,
  ],
  ['a part without a type', [attribute(text(0x0c, 'a'), text(0x0c, 'b'))], /subject has tag 12 instead of tag 6/],
  ['a type that ends early', [attribute(kit.der(6, [0x81]), text(0x0c, 'a'))], /not an object identifier/],
  ['a type in a long form', [attribute(kit.der(6, [0x55, 4, 0x80, 3]), text(0x0c, 'a'))], /not an object identifier/],
  [
    'a type without end',
    [attribute(kit.der(6, Array<number>(33).fill(1)), text(0x0c, 'a'))],
    /not an object identifier/,
  ],
  ['BMP text', [attribute(cn, kit.der(0x1e, [0, 65]))], /a string of tag 30,/],
  ['T61 text', [attribute(cn, text(0x14, 'a'))], /a string of tag 20,/],
  ['universal text', [attribute(cn, kit.der(0x1c, [0, 0, 0, 65]))], /a string of tag 28,/],
  ['IA5 text', [attribute(cn, text(0x16, 'a'))], /a string of tag 22,/],
  ['text in pieces', [attribute(cn, kit.der(0x2c, text(0x0c, 'a')))], /a string of tag 44,/],
  ['UTF-8 that is none', [attribute(cn, kit.der(0x0c, [0xff]))], /characters that its string type/],
  ['a NUL', [attribute(cn, text(0x0c, 'a\0b'))], /characters that its string type/],
  ['a line break', [attribute(cn, text(0x0c, 'a\nb'))], /characters that its string type/],
  ['a control character of eight bits', [attribute(cn, text(0x0c, 'a\u0085b'))], /characters that its string type/],
  ['printable text with an asterisk', [attribute(cn, text(0x13, 'a*'))], /characters that its string type/],
  ['printable text with an underscore', [attribute(cn, text(0x13, 'a_'))], /characters that its string type/],
  ['printable text with a NUL', [attribute(cn, text(0x13, '\0'))], /characters that its string type/],
];
test.each(subjects)('rejects a subject with %s', (_, parts, message) => {
  expect(() => withSubject(...parts)).toThrow(refused(message));
});

const v6 = (...groups: number[]) => groups.flatMap(group => [group >> 8, group & 0xff]);
const addresses: [number[], string][] = [
  [[10, 1, 42, 1], '10.1.42.1'],
  [[255, 255, 255, 255], '255.255.255.255'],
  [[0, 0, 0, 0], '0.0.0.0'],
  [v6(0, 0, 0, 0, 0, 0, 0, 1), '::1'],
  [v6(0, 0, 0, 0, 0, 0, 0, 0), '::'],
  [v6(0xfd00, 0, 0, 0, 0, 0, 0, 0), 'fd00::'],
  [v6(0xfd00, 0, 0, 1, 0, 0, 0, 1), 'fd00:0:0:1::1'],
  [v6(0x2001, 0xdb8, 0, 0, 1, 0, 0, 1), '2001:db8::1:0:0:1'],
  [v6(0x2001, 0xdb8, 0, 1, 1, 1, 1, 1), '2001:db8:0:1:1:1:1:1'],
  [v6(1, 2, 3, 4, 5, 6, 7, 0xabcd), '1:2:3:4:5:6:7:abcd'],
];
for (const [octets, printed] of addresses) {
  test(`prints the address ${printed}`, () => expect(parse({ ips: [octets] }).ipAddresses).toEqual([printed]));
}

const names: [string, kit.CsrContent, RegExp][] = [
  ['an address of five octets', { ips: [[1, 2, 3, 4, 5]] }, /IP address of 5 octets/],
  ['an empty address', { ips: [[]] }, /IP address of 0 octets/],
  [
    'an address of IPv4 in the form of IPv6',
    { ips: [v6(0, 0, 0, 0, 0, 0xffff, 0x0a00, 1)] },
    /IPv4 address in IPv6 form/,
  ],
  ['a DNS name outside ASCII', { dnsNames: ['wín1'] }, /dnsNames is empty or not printable ASCII/],
  ['a DNS name with a NUL', { dnsNames: ['win1\0.evil'] }, /dnsNames is empty or not printable ASCII/],
  ['an empty DNS name', { dnsNames: ['win1', ''] }, /dnsNames is empty or not printable ASCII/],
  ['a URI with a line break', { uris: ['http://a\nb'] }, /uris is empty or not printable ASCII/],
  ['a URI with a scheme in large letters', { uris: ['HTTP://a'] }, /URI "HTTP:\/\/a", which signers would rewrite/],
  ['a URI with an escape', { uris: ['http://a/%7e'] }, /which signers would rewrite/],
  ['a URI without a scheme', { uris: ['//a/b'] }, /which signers would rewrite/],
  ['a URI without a host', { uris: ['a:///b'] }, /which signers would rewrite/],
  ['a directory name', { otherNames: [kit.der(0xa4, kit.sequence())] }, /a name of an unsupported kind \(tag 164\)/],
  ['a registered identifier', { otherNames: [kit.der(0x88, [0x2a])] }, /a name of an unsupported kind \(tag 136\)/],
  [
    'a DNS name in pieces',
    { otherNames: [kit.der(0xa2, text(0x16, 'a'))] },
    /a name of an unsupported kind \(tag 162\)/,
  ],
];
test('reads plain URIs', () => {
  const uris = ['spiffe://cluster.local/ns/x', 'https://x', 'urn:a', 'a+b.c-d://e.f'];
  expect(parse({ uris }).uris).toEqual(uris);
});

test.each(names)('rejects %s', (_, content, message) => {
  expect(() => parse(content)).toThrow(refused(message));
});

test('returns all alternative names', () => {
  const word = fc.stringMatching(/^[a-z0-9.-]{1,30}$/);
  const octets = fc.uint8Array({ minLength: 4, maxLength: 4 });
  const back = (commonName: string, dnsNames: string[], ips: Uint8Array[]) => {
    const request = parse({ commonNames: [commonName], dnsNames, ips: ips.map(ip => [...ip]) });
    expect(request).toMatchObject({ commonName, dnsNames, ipAddresses: ips.map(ip => ip.join('.')) });
  };
  const subject = fc.string({ unit: 'grapheme' });
  fc.assert(fc.property(subject, fc.array(word, { maxLength: 5 }), fc.array(octets, { maxLength: 3 }), back), {
    numRuns: 300,
  });
});

test('takes as many names as a host can have, and no more', () => {
  const names = (count: number) => Array.from({ length: count }, (_, index) => `n${index}.example.com`);
  expect(parse({ dnsNames: names(64) }).dnsNames).toHaveLength(64);
  expect(() => parse({ dnsNames: names(65) })).toThrow(refused(/more than 64 alternative names/));
});

test('takes a subject of a few parts, and no more', () => {
  const organizations = (count: number) => Array.from({ length: count }, (_, index) => `o${index}`);
  expect(parse({ organizations: organizations(7) }).organizations).toHaveLength(7);
  expect(() => parse({ organizations: organizations(8) })).toThrow(refused(/subject has more than 8 parts/));
});

test('takes all the names a host can have, even if they are long', () => {
  const dnsNames = Array.from({ length: 64 }, (_, index) => `${'n'.repeat(60)}${index}.${'d'.repeat(60)}.corp`);
  expect(parse({ dnsNames }).dnsNames).toEqual(dnsNames);
});
