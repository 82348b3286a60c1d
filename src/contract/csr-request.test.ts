import { createPublicKey, createVerify } from 'node:crypto';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { AppError } from '#base/errors.ts';
import { printPem } from '#base/pem.ts';
import * as kit from '../../test/kit/csr.ts';
import { parseCertificateRequest } from './csr-request.ts';

const label = 'CertificateSigningRequest csr-1';
const parse = (text: string) => parseCertificateRequest(text, label);
const parseDer = (bytes: Uint8Array) => parse(printPem('CERTIFICATE REQUEST', bytes));
const parseContent = (content: kit.CsrContent) => parse(kit.makeCsr(content));
const good = kit.makeCsr();
const v6 = (...groups: number[]) => groups.flatMap(group => [group >> 8, group & 0xff]);

test('reads subject, names and key of a request', () => {
  const request = parseContent({
    commonNames: ['system:node:win1'],
    organizations: ['system:nodes', 'second'],
    dnsNames: ['win1', 'win1.example.com'],
    ips: [[10, 0, 0, 1]],
    emails: ['a@b.c'],
    uris: ['spiffe://x/y'],
    otherNames: [kit.der(0xa4, kit.sequence()), kit.der(0x88, [0x2a])],
  });
  expect(request).toMatchObject({
    commonName: 'system:node:win1',
    organizations: ['system:nodes', 'second'],
    otherAttributes: [],
    dnsNames: ['win1', 'win1.example.com'],
    ipAddresses: ['10.0.0.1'],
    emailAddresses: ['a@b.c'],
    uris: ['spiffe://x/y'],
    otherNames: 2,
  });
});

test('gives the parts with which the signature of the request can be verified', () => {
  const { signed, subjectPublicKeyInfo } = parse(good);
  const key = createPublicKey({ key: Buffer.from(subjectPublicKeyInfo), format: 'der', type: 'spki' });
  expect(signed.algorithm).toBe('1.2.840.10045.4.3.2');
  expect(createVerify('sha256').update(signed.content).verify(key, signed.signature)).toBe(true);
  expect(createVerify('sha256').update(signed.content.subarray(1)).verify(key, signed.signature)).toBe(false);
});

test('reports what else the subject holds', () => {
  const uid = '1.3.6.1.4.1.57683.2';
  expect(
    parseContent({
      attributes: [
        ['2.5.4.11', 'unit'],
        [uid, '0'],
      ],
    }).otherAttributes,
  ).toEqual(['2.5.4.11', uid]);
});

test('reads all attributes of a subject part that holds several', () => {
  const attribute = (type: string, text: string) => kit.sequence(kit.oid(type), kit.der(0x13, kit.utf8(text)));
  const subject = kit.sequence(kit.set(attribute('2.5.4.10', 'one'), attribute('2.5.4.10', 'two')));
  expect(parseDer(withSubject(subject))).toMatchObject({ commonName: '', organizations: ['one', 'two'] });
});

test('reads a request without subject and names', () => {
  expect(parseContent({ commonNames: [], organizations: [] })).toMatchObject({
    commonName: '',
    organizations: [],
    dnsNames: [],
    otherNames: 0,
  });
});

const texts: [string, string][] = [
  ['text before the block', `Certificate Request:\n    Data:\n${good}`],
  ['text behind the block', `${good}\nmade by hand\n`],
  ['carriage returns', good.replaceAll('\n', '\r\n')],
  ['no line break at the end', good.trimEnd()],
];
for (const [name, text] of texts)
  test(`accepts ${name}`, () => expect(parse(text).commonName).toBe('system:node:win1'));

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
  [v6(0, 0, 0, 0, 0, 0xffff, 0x0a00, 0x0001), '10.0.0.1'],
];
for (const [octets, text] of addresses) {
  test(`prints the address ${text}`, () => expect(parseContent({ ips: [octets] }).ipAddresses).toEqual([text]));
}

test('finds alternative names in a critical extension and among others', () => {
  const names = kit.alternativeNames({ dnsNames: ['win1'] }) as Uint8Array;
  const attributeList = kit.extensionAttribute(
    kit.extension('2.5.29.19', kit.sequence()),
    kit.extension('2.5.29.17', names, true),
  );
  expect(parseContent({ attributeList }).dnsNames).toEqual(['win1']);
});

test('finds alternative names behind attributes we do not know', () => {
  const challenge = kit.sequence(kit.oid('1.2.840.113549.1.9.7'), kit.set(kit.der(0x0c, kit.utf8('secret'))));
  const names = kit.extensionRequest(kit.alternativeNames({ emails: ['a@b.c'] }));
  expect(parseContent({ attributeList: Uint8Array.from([...challenge, ...names]) }).emailAddresses).toEqual(['a@b.c']);
});

function withSubject(subject: Uint8Array): Uint8Array {
  const key = parse(good).subjectPublicKeyInfo;
  return kit.signInfo(kit.sequence(kit.der(0x02, [0]), subject, key, kit.der(0xa0)));
}

const attribute = (type: Uint8Array, ...value: Uint8Array[]) => kit.sequence(kit.set(kit.sequence(type, ...value)));
const cn = kit.oid('2.5.4.3');
const oneName = kit.extensionRequest(kit.alternativeNames({ dnsNames: ['a'] }));
const sanOf = (value: Uint8Array) => kit.makeCsrDer({ attributeList: kit.extensionRequest(value) });
const publicKey = () => parse(good).subjectPublicKeyInfo;
const info = () => kit.requestInfo({});
const algorithm = kit.sequence(kit.oid('1.2.840.10045.4.3.2'));
const bits = kit.der(0x03, [0, 1, 2]);
const withAttributes = (attributeList: Uint8Array) => kit.makeCsrDer({ attributeList });
const der = (make: () => Uint8Array) => () => printPem('CERTIFICATE REQUEST', make());

const malformed: [string, () => string, RegExp][] = [
  ['an empty text', () => '', /CSR request spec should not be empty/],
  ['a text without a block', () => 'hello', /PEM block type must be CERTIFICATE REQUEST.*no PEM block/],
  ['a mangled BEGIN line', () => '-----BEGIN??\n', /PEM block type must be CERTIFICATE REQUEST/],
  [
    'a block of another type',
    () => printPem('CERTIFICATE', kit.makeCsrDer()),
    /must be CERTIFICATE REQUEST.*it is CERT/,
  ],
  ['the old type name', () => printPem('NEW CERTIFICATE REQUEST', kit.makeCsrDer()), /it is NEW CERT/],
  ['a block without END', () => good.slice(0, -20), /line 1 has no END line/],
  ['a block that is no base64', () => good.replace('MI', '!!'), /line 1 is not base64/],
  ['two requests', () => good + good, /more than one block/],
  ['a key behind the request', () => good + printPem('PRIVATE KEY', kit.sequence()), /more than one block/],
  ['a certificate before the request', () => printPem('CERTIFICATE', kit.sequence()) + good, /it is CERTIFICATE/],
  [
    'a header that hides part of the block',
    () => good.replace(/-----\n/, `-----\nComment: x\n${kit.makeCsrDer().toBase64()}\n\n`),
    /more than plain base64/,
  ],
  ['a text without end', () => `${'x'.repeat(65_536)}\n${good}`, /longer than 65536 characters/],
  ['a cut request', der(() => kit.makeCsrDer().subarray(0, -1)), /no complete DER/],
  ['data behind the request', der(() => Uint8Array.from([...kit.makeCsrDer(), 5, 0])), /data follows the request/],
  ['an empty sequence', der(() => kit.sequence()), /info, algorithm and signature/],
  ['a request that is a set', der(() => kit.set(info(), algorithm, bits)), /tag 49 where tag 48 belongs/],
  ['a request without signature', der(() => kit.sequence(info(), algorithm)), /info, algorithm and signature/],
  ['a fourth part', der(() => kit.sequence(info(), algorithm, bits, bits)), /info, algorithm and signature/],
  ['info that is no sequence', der(() => kit.sequence(bits, algorithm, bits)), /request info has tag 3/],
  ['an algorithm that is no sequence', der(() => kit.sequence(info(), bits, bits)), /signature algorithm has tag 3/],
  ['an algorithm without a type', der(() => kit.sequence(info(), kit.sequence(), bits)), /algorithm has nothing where/],
  ['a signature that is no bits', der(() => kit.sequence(info(), algorithm, algorithm)), /signature has tag 48/],
  ['a signature with odd bits', der(() => kit.sequence(info(), algorithm, kit.der(0x03, [3, 8]))), /whole number/],
  ['an empty signature', der(() => kit.sequence(info(), algorithm, kit.der(0x03, [0]))), /signature is empty/],
  ['a request of version 2', () => kit.makeCsr({ version: 1 }), /version 1/],
  [
    'info without attributes',
    der(() => kit.signInfo(kit.sequence(kit.der(2, [0]), kit.sequence(), publicKey()))),
    /version 1/,
  ],
  [
    'attributes under another tag',
    der(() => kit.signInfo(kit.sequence(kit.der(2, [0]), kit.sequence(), publicKey(), kit.set()))),
    /attributes has tag 49 where tag 160 belongs/,
  ],
  [
    'a key that is no sequence',
    der(() => kit.signInfo(kit.sequence(kit.der(2, [0]), kit.sequence(), bits, kit.der(0xa0)))),
    /public key has tag 3/,
  ],
  [
    'two common names',
    () => kit.makeCsr({ commonNames: ['system:node:a', 'system:node:b'] }),
    /more than one common name/,
  ],
  ['a subject without sets', der(() => withSubject(kit.sequence(kit.sequence()))), /subject has tag 48 where tag 49/],
  ['a subject part without a value', der(() => withSubject(attribute(cn))), /a part without a value/],
  ['a subject part with two values', der(() => withSubject(attribute(cn, bits, bits))), /a part without a value/],
  ['a subject part without a type', der(() => withSubject(attribute(bits, bits))), /subject has tag 3 where tag 6/],
  ['a common name in BMP text', der(() => withSubject(attribute(cn, kit.der(0x1e, [0, 65])))), /unknown kind of text/],
  [
    'a common name that is no UTF-8',
    der(() => withSubject(attribute(cn, kit.der(0x0c, [0xff])))),
    /unknown kind of text/,
  ],
  [
    'a printable name with control characters',
    der(() => withSubject(attribute(cn, kit.der(0x13, [0])))),
    /not plain ASCII/,
  ],
  ['an address of five octets', () => kit.makeCsr({ ips: [[1, 2, 3, 4, 5]] }), /IP address of 5 octets/],
  ['an empty address', () => kit.makeCsr({ ips: [[]] }), /IP address of 0 octets/],
  ['a DNS name outside ASCII', () => kit.makeCsr({ dnsNames: ['wín1'] }), /dnsNames is not plain ASCII/],
  ['a DNS name with a null', () => kit.makeCsr({ dnsNames: ['win1\0.evil'] }), /dnsNames is not plain ASCII/],
  ['a URI with a line break', () => kit.makeCsr({ uris: ['http://a\nb'] }), /uris is not plain ASCII/],
  ['an empty list of names', der(() => sanOf(kit.sequence())), /alternative names is empty/],
  ['names that are no list', der(() => sanOf(kit.set())), /alternative names has tag 49/],
  ['two lists of names', der(() => sanOf(Uint8Array.from([...kit.sequence(bits), ...kit.sequence(bits)]))), /empty/],
  ['names that are no DER', der(() => sanOf(Uint8Array.from([0x30, 9]))), /alternative names is no complete DER/],
  ['names asked for twice', der(() => withAttributes(Uint8Array.from([...oneName, ...oneName]))), /twice/],
  [
    'a second value of the attribute',
    der(() => withAttributes(kit.sequence(kit.oid('1.2.840.113549.1.9.14'), kit.set(kit.sequence(), kit.sequence())))),
    /ambiguous/,
  ],
  [
    'a second set of values',
    der(() => withAttributes(kit.sequence(kit.oid('1.2.840.113549.1.9.14'), kit.set(kit.sequence()), kit.set()))),
    /ambiguous/,
  ],
  ['an attribute that is no sequence', der(() => withAttributes(bits)), /attribute has tag 3/],
  ['an attribute without a type', der(() => withAttributes(kit.sequence())), /attribute has nothing where tag 6/],
  [
    'an extension without a value',
    der(() => withAttributes(kit.extensionAttribute(kit.sequence(cn)))),
    /unknown parts/,
  ],
  [
    'an extension of four parts',
    der(() => withAttributes(kit.extensionAttribute(kit.sequence(cn, cn, cn, cn)))),
    /unknown parts/,
  ],
  [
    'an extension whose mark is no boolean',
    der(() => withAttributes(kit.extensionAttribute(kit.sequence(cn, kit.der(2, [1]), kit.der(4, []))))),
    /unknown parts/,
  ],
  [
    'an extension of other type',
    der(() => withAttributes(kit.extensionAttribute(kit.sequence(cn, bits)))),
    /extension has tag 3/,
  ],
  [
    'an object identifier that ends early',
    der(() => withSubject(attribute(kit.der(6, [0x81]), bits))),
    /no object identifier/,
  ],
];
for (const [name, text, message] of malformed) {
  test(`refuses ${name}`, () => {
    const error = errorOf(text());
    expect(error).toMatchObject({ code: 'CSR_MALFORMED', remedy: expect.stringMatching(/\S/) });
    expect(error.message).toMatch(message);
    expect(error.message.startsWith(`${label}: `)).toBe(true);
  });
}

function errorOf(text: string): AppError {
  try {
    parse(text);
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new Error('the request was accepted');
}

/** Gives a request or a typed error, in good time; a busy machine gets three attempts. */
function survives(text: string): boolean {
  return [1, 2, 3].some(() => {
    const start = performance.now();
    try {
      parse(text);
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'CSR_MALFORMED') throw error;
    }
    return performance.now() - start < 50;
  });
}

const runs = { numRuns: 2000 };
const sample = kit.makeCsrDer({ dnsNames: ['win1', 'win1.example.com'], ips: [[10, 0, 0, 1]], emails: ['a@b.c'] });
const change = fc.record({ at: fc.nat(), to: fc.integer({ min: 0, max: 255 }) });

test('random text gives a typed error', () => {
  fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 500 }), survives), runs);
});

test('random bytes in a block give a typed error', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), bytes => survives(printPem('CERTIFICATE REQUEST', bytes))),
    runs,
  );
});

test('changed bytes of a request give a request or a typed error', () => {
  const mutate = (changes: { at: number; to: number }[]) => {
    const bytes = Uint8Array.from(sample);
    for (const { at, to } of changes) bytes[at % bytes.length] = to;
    return survives(printPem('CERTIFICATE REQUEST', bytes));
  };
  fc.assert(fc.property(fc.array(change, { minLength: 1, maxLength: 6 }), mutate), runs);
});

test('cut and lengthened requests give a typed error', () => {
  const cut = (from: number, to: number, extra: Uint8Array) => {
    const [start, end] = [from % sample.length, to % sample.length];
    const bytes = Uint8Array.from([...sample.subarray(0, start), ...extra, ...sample.subarray(end)]);
    return survives(printPem('CERTIFICATE REQUEST', bytes));
  };
  fc.assert(fc.property(fc.nat(), fc.nat(), fc.uint8Array({ maxLength: 20 }), cut), runs);
});

test('a changed text of a request gives a request or a typed error', () => {
  const replace = (at: number, length: number, text: string) => {
    const start = at % good.length;
    return survives(good.slice(0, start) + text + good.slice(start + length));
  };
  fc.assert(fc.property(fc.nat(), fc.nat(80), fc.string({ maxLength: 80 }), replace), runs);
});

test('whatever names go in come out', () => {
  const word = fc.stringMatching(/^[a-z0-9.-]{1,30}$/);
  const octets = fc.uint8Array({ minLength: 4, maxLength: 4 });
  const back = (commonName: string, dnsNames: string[], ips: Uint8Array[]) => {
    const request = parseContent({ commonNames: [commonName], dnsNames, ips: ips.map(ip => [...ip]) });
    expect(request).toMatchObject({ commonName, dnsNames, ipAddresses: ips.map(ip => ip.join('.')) });
  };
  fc.assert(fc.property(fc.string(), fc.array(word, { maxLength: 5 }), fc.array(octets, { maxLength: 3 }), back), {
    numRuns: 300,
  });
});
