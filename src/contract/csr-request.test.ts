import { createHash, createPublicKey, verify } from 'node:crypto';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { AppError, attempt } from '#base/errors.ts';
import { printPem } from '#base/pem.ts';
import * as kit from '../../test/kit/csr.ts';
import { knownAttacks, mutatedRequests } from '../../test/kit/hostile-requests.ts';
import { parseCertificateRequest } from './csr-request.ts';

const label = 'CertificateSigningRequest csr-1';
const parse = (text: string) => parseCertificateRequest(text, label);
const parseContent = (content: kit.CsrContent) => parse(kit.makeCsr(content));
const good = kit.makeCsr();

test('reads subject, names and key of a request', () => {
  const request = parseContent({
    commonNames: ['system:node:win1'],
    organizations: ['system:nodes', 'second'],
    dnsNames: ['win1', 'win1.example.com'],
    ips: [[10, 0, 0, 1]],
    emails: ['a@b.c'],
    uris: ['spiffe://x/y'],
  });
  expect(request).toMatchObject({
    commonName: 'system:node:win1',
    organizations: ['system:nodes', 'second'],
    otherAttributes: [],
    dnsNames: ['win1', 'win1.example.com'],
    ipAddresses: ['10.0.0.1'],
    emailAddresses: ['a@b.c'],
    uris: ['spiffe://x/y'],
    otherNames: 0,
  });
});

test('names the key by the hash of its SubjectPublicKeyInfo', () => {
  const { keyHash, subjectPublicKeyInfo } = parse(good);
  expect(keyHash).toBe(createHash('sha256').update(subjectPublicKeyInfo).digest('hex'));
  expect(parseContent({ commonNames: ['system:node:other'] }).keyHash).toBe(keyHash);
});

test('gives the parts over which the request is signed', () => {
  const { signed, subjectPublicKeyInfo } = parse(good);
  const key = createPublicKey({ key: Buffer.from(subjectPublicKeyInfo), format: 'der', type: 'spki' });
  expect(signed.algorithm).toBe('1.2.840.10045.4.3.2');
  expect(verify('sha256', signed.content, key, signed.signature)).toBe(true);
});

test('reads a request without subject and names', () => {
  expect(parseContent({ commonNames: [], organizations: [] })).toMatchObject({
    commonName: '',
    organizations: [],
    dnsNames: [],
    otherNames: 0,
  });
});

test('accepts a text without a line break at the end', () => {
  expect(parse(good.trimEnd()).commonName).toBe('system:node:win1');
});

const oneName = kit.extensionRequest(kit.alternativeNames({ dnsNames: ['a'] }));
const sanOf = (value: Uint8Array) => kit.makeCsrDer({ attributeList: kit.extensionRequest(value) });
const publicKey = () => parse(good).subjectPublicKeyInfo;
const info = () => kit.requestInfo({});
const algorithm = kit.sequence(kit.oid('1.2.840.10045.4.3.2'));
const bits = kit.der(0x03, [0, 1, 2]);
const numbers = kit.der(0x03, [0], kit.sequence(kit.der(0x02, [1]), kit.der(0x02, [1])));
const withAttributes = (...list: Uint8Array[]) =>
  kit.makeCsrDer({ attributeList: new Uint8Array(Buffer.concat(list)) });
const withExtensions = (...list: Uint8Array[]) => withAttributes(kit.extensionAttribute(...list));
const der = (make: () => Uint8Array) => () => printPem('CERTIFICATE REQUEST', make());
const sanOid = '2.5.29.17';
const oneDnsName = kit.sequence(kit.der(0x82, kit.utf8('a')));

const malformed: [string, () => string, RegExp][] = [
  ['an empty text', () => '', /CSR request spec should not be empty/],
  ['a text without a block', () => 'hello', /PEM block type must be CERTIFICATE REQUEST.*does not begin/],
  ['a mangled BEGIN line', () => '-----BEGIN??\n', /PEM block type must be CERTIFICATE REQUEST/],
  ['a block of another type', () => printPem('CERTIFICATE', kit.makeCsrDer()), /does not begin with the line/],
  ['the old type name', () => printPem('NEW CERTIFICATE REQUEST', kit.makeCsrDer()), /does not begin with the line/],
  ['a block without END', () => good.slice(0, -20), /does not end with the line/],
  ['a block that is no base64', () => good.replace('MI', '!!'), /is not base64/],
  ['two requests', () => good + good, /is not base64/],
  ['text before the block', () => `Certificate Request:\n    Data:\n${good}`, /does not begin/],
  ['text behind the block', () => `${good}made by hand\n`, /does not end/],
  ['carriage returns', () => good.replaceAll('\n', '\r\n'), /does not begin/],
  ['a header', () => good.replace('-----\n', '-----\nComment: x\n\n'), /is not base64/],
  ['a blank line', () => good.replace('-----\n', '-----\n\n'), /lines of 64 characters/],
  ['a text without end', () => `${'x'.repeat(16_384)}\n${good}`, /longer than 16384 characters/],
  ['a cut request', der(() => kit.makeCsrDer().subarray(0, -1)), /not complete DER/],
  ['data behind the request', der(() => Uint8Array.from([...kit.makeCsrDer(), 5, 0])), /unexpected parts/],
  ['an empty sequence', der(() => kit.sequence()), /info, algorithm and signature/],
  ['a request that is a set', der(() => kit.set(info(), algorithm, bits)), /tag 49 instead of tag 48/],
  ['a request without signature', der(() => kit.sequence(info(), algorithm)), /info, algorithm and signature/],
  ['a fourth part', der(() => kit.sequence(info(), algorithm, bits, bits)), /info, algorithm and signature/],
  ['info that is no sequence', der(() => kit.sequence(bits, algorithm, bits)), /request info has tag 3/],
  ['a request of version 2', () => kit.makeCsr({ version: 1 }), /version 1/],
  [
    'a version of two octets',
    der(() => kit.signInfo(kit.sequence(kit.der(2, [0, 0]), kit.sequence(), publicKey(), kit.der(0xa0)))),
    /not in canonical DER/,
  ],
  [
    'info without attributes',
    der(() => kit.signInfo(kit.sequence(kit.der(2, [0]), kit.sequence(), publicKey()))),
    /version 1/,
  ],
  [
    'attributes under another tag',
    der(() => kit.signInfo(kit.sequence(kit.der(2, [0]), kit.sequence(), publicKey(), kit.set()))),
    /attributes has tag 49 instead of tag 160/,
  ],
  ['an invalid signature', der(() => kit.sequence(info(), algorithm, numbers)), /does not match its key/],
  [
    'a challenge password',
    der(() => withAttributes(kit.sequence(kit.oid('1.2.840.113549.1.9.7'), kit.set(kit.der(0x0c, [65]))))),
    /the unsupported attribute 1\.2\.840\.113549\.1\.9\.7/,
  ],
  ['a second attribute', der(() => withAttributes(oneName, oneName)), /more than one attribute/],
  [
    'a second value of the attribute',
    der(() =>
      withAttributes(
        kit.sequence(
          kit.oid('1.2.840.113549.1.9.14'),
          kit.set(kit.sequence(kit.extension(sanOid, oneDnsName)), kit.sequence()),
        ),
      ),
    ),
    /unexpected parts/,
  ],
  ['an attribute that is no sequence', der(() => withAttributes(bits)), /attribute has tag 3/],
  [
    'an attribute without a type',
    der(() => withAttributes(kit.sequence())),
    /attribute has no element instead of tag 6/,
  ],
  ['an empty list of extensions', der(() => withExtensions()), /empty list of extensions/],
  [
    'the wish to be an authority',
    der(() => withExtensions(kit.extension('2.5.29.19', kit.sequence(kit.der(1, [0xff]))))),
    /requests the extension 2\.5\.29\.19/,
  ],
  [
    'the wish to sign beside good names',
    der(() => withExtensions(kit.extension(sanOid, oneDnsName), kit.extension('2.5.29.15', kit.der(3, [1, 6]), true))),
    /requests the extension 2\.5\.29\.15/,
  ],
  [
    'names asked for twice',
    der(() => withExtensions(kit.extension(sanOid, oneDnsName), kit.extension(sanOid, oneDnsName))),
    /alternative names twice/,
  ],
  [
    'critical names',
    der(() => withExtensions(kit.extension(sanOid, oneDnsName, true))),
    /extension has tag 1 instead of tag 4/,
  ],
  [
    'an extension without a value',
    der(() => withExtensions(kit.sequence(kit.oid(sanOid)))),
    /extension has no element instead of tag 4/,
  ],
  [
    'an extension of three parts',
    der(() => withExtensions(kit.sequence(kit.oid(sanOid), kit.der(4, oneDnsName), bits))),
    /unexpected parts/,
  ],
  ['an empty list of names', der(() => sanOf(kit.sequence())), /alternative names is empty/],
  ['names that are no list', der(() => sanOf(kit.set())), /alternative names has tag 49/],
  ['names that are no DER', der(() => sanOf(Uint8Array.from([0x30, 9]))), /alternative names is not complete DER/],
];
for (const [name, text, message] of malformed) {
  test(`rejects ${name}`, () => {
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

const latin1 = (bytes: Uint8Array) => Buffer.from(bytes).toString('latin1');
const attacks = knownAttacks();

test('rejects every text that the API server would read otherwise than a lenient reader', () => {
  const evil = attacks.filter(attack => attack.evil !== undefined);
  expect(evil.length).toBeGreaterThan(40);
  for (const { bytes, name } of evil) expect(attempt(() => parse(latin1(bytes))).ok, name).toBe(false);
});

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

test('random text gives a typed error', () => {
  fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 500 }), survives), runs);
});

test('random bytes in a block give a typed error', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), bytes => survives(printPem('CERTIFICATE REQUEST', bytes))),
    runs,
  );
});

test('no bit of a request can be changed', () => {
  fc.assert(
    fc.property(fc.nat(sample.length - 1), fc.integer({ min: 1, max: 255 }), (at, flip) => {
      const changed = sample.with(at, (sample[at] ?? 0) ^ flip);
      expect(errorOf(printPem('CERTIFICATE REQUEST', changed)).code).toBe('CSR_MALFORMED');
    }),
    runs,
  );
});

test('cut and lengthened requests give a typed error', () => {
  const cut = (from: number, to: number, extra: Uint8Array) => {
    const [start, end] = [from % sample.length, to % sample.length];
    const bytes = Uint8Array.from([...sample.subarray(0, start), ...extra, ...sample.subarray(end)]);
    return survives(printPem('CERTIFICATE REQUEST', bytes));
  };
  fc.assert(fc.property(fc.nat(), fc.nat(), fc.uint8Array({ maxLength: 20 }), cut), runs);
});

test('a text that is changed in any way is refused', () => {
  const replace = (at: number, length: number, text: string) => {
    const start = at % good.length;
    const changed = good.slice(0, start) + text + good.slice(start + length);
    return changed.trimEnd() === good.trimEnd() || errorOf(changed).code === 'CSR_MALFORMED';
  };
  fc.assert(fc.property(fc.nat(), fc.nat(80), fc.string({ maxLength: 80 }), replace), runs);
});

test('an accepted request is written again as the same text', () => {
  let accepted = 0;
  for (const { bytes, name } of [...attacks, ...mutatedRequests(1500, 7)]) {
    const text = latin1(bytes);
    const read = attempt(() => parse(text));
    if (!read.ok) continue;
    accepted += 1;
    const { signed } = read.value;
    const again = kit.sequence(signed.content, ...tailOf(signed));
    expect(printPem('CERTIFICATE REQUEST', again).trimEnd(), name).toBe(text.trimEnd());
  }
  expect(accepted).toBeGreaterThan(300);
});

function tailOf({ algorithm: type, signature }: { algorithm: string; signature: Uint8Array }): Uint8Array[] {
  const parameters = type.startsWith('1.2.840.113549.') ? [kit.der(0x05)] : [];
  return [kit.sequence(kit.oid(type), ...parameters), kit.der(0x03, [0], signature)];
}
