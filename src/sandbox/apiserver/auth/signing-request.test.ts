import { generateKeyPairSync, sign, X509Certificate } from 'node:crypto';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { type CsrContent, makeCsr, requestInfo } from '../../../../test/kit/csr.ts';
import { manualClock } from '../../../../test/kit/manual-clock.ts';
import { bitString, element, oid, sequence } from '../../../base/der-write.ts';
import { printPem, scanPem } from '../../../base/pem.ts';
import { createAuthority, loadAuthority } from './ca.ts';
import { readSignedRequest, signRequest } from './signing-request.ts';

const clock = manualClock(Date.UTC(2030, 0, 1));
const ca = createAuthority('signer', clock);
const usages = ['digital signature', 'key encipherment', 'client auth'];
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const yearMs = 365 * 24 * hourMs;

const signed = (content: CsrContent, terms: { expirationSeconds?: number } = {}, authority = ca) => {
  const request = readSignedRequest(makeCsr(content));
  return new X509Certificate(signRequest(authority, request, { usages, now: clock.now(), ...terms }));
};

test('takes over subject, names and key', () => {
  const content = { dnsNames: ['win1', 'win1.example'], ips: [[10, 0, 0, 1]], emails: ['a@b'], uris: ['x://y'] };
  const certificate = signed(content);
  expect(certificate.subject).toBe('O=system:nodes\nCN=system:node:win1');
  expect(certificate.subjectAltName).toBe('DNS:win1, DNS:win1.example, email:a@b, IP Address:10.0.0.1, URI:x://y');
  expect(certificate.verify(new X509Certificate(ca.certificate).publicKey)).toBe(true);
  expect(certificate.ca).toBe(false);
});

test('keeps parts of the subject that mean nothing to us', () => {
  expect(signed({ attributes: [['2.5.4.11', 'unit']] }).subject).toContain('OU=unit');
});

test('keeps IPv6 addresses', () => {
  const address = [0xfd, ...Array.from({ length: 14 }, () => 0), 7];
  expect(signed({ ips: [address] }).subjectAltName).toBe('IP Address:FD00:0:0:0:0:0:0:7');
});

const lifetimes: [string, number | undefined, from: number, to: number][] = [
  ['a year when nothing is asked for', undefined, -5 * minuteMs, yearMs - 5 * minuteMs],
  ['a year when more is asked for', 2 * 365 * 24 * 3600, -5 * minuteMs, yearMs - 5 * minuteMs],
  ['a day when that is asked for', 24 * 3600, -5 * minuteMs, 24 * hourMs - 5 * minuteMs],
  ['eight hours counted from the backdated start', 8 * 3600, -5 * minuteMs, 8 * hourMs - 5 * minuteMs],
  ['an hour from now', 3600, -5 * minuteMs, hourMs],
  ['ten minutes at least', 1, -5 * minuteMs, 10 * minuteMs],
];
test.each(lifetimes)('gives %s', (_, expirationSeconds, from, to) => {
  const certificate = signed({}, expirationSeconds === undefined ? {} : { expirationSeconds });
  expect(certificate.validFromDate.getTime() - clock.now()).toBe(from);
  expect(certificate.validToDate.getTime() - clock.now()).toBe(to);
});

test('gives no more than the authority has left', () => {
  const dying = createAuthority('dying', manualClock(clock.now() - 10 * yearMs + hourMs));
  const certificate = signed({}, {}, loadAuthority(dying.certificate, dying.key));
  expect(certificate.validToDate.getTime()).toBe(clock.now() + hourMs);
});

/** A request without a subject, signed by its own key of the kind given. */
function requestSignedBy(kind: 'rsa' | 'ec' | 'ed25519', algorithm: string, digest: string | null): string {
  const pair =
    kind === 'rsa'
      ? generateKeyPairSync('rsa', { modulusLength: 2048 })
      : kind === 'ec'
        ? generateKeyPairSync('ec', { namedCurve: 'P-384' })
        : generateKeyPairSync('ed25519');
  const info = sequence(
    element(0x02, [0]),
    sequence(),
    pair.publicKey.export({ type: 'spki', format: 'der' }),
    element(0xa0),
  );
  const signature = sign(digest, info, pair.privateKey);
  return printPem('CERTIFICATE REQUEST', sequence(info, sequence(oid(algorithm)), bitString(signature)));
}

const algorithms: ['rsa' | 'ec' | 'ed25519', string, string | null][] = [
  ['rsa', '1.2.840.113549.1.1.11', 'sha256'],
  ['rsa', '1.2.840.113549.1.1.12', 'sha384'],
  ['rsa', '1.2.840.113549.1.1.13', 'sha512'],
  ['ec', '1.2.840.10045.4.3.2', 'sha256'],
  ['ec', '1.2.840.10045.4.3.3', 'sha384'],
  ['ec', '1.2.840.10045.4.3.4', 'sha512'],
  ['ed25519', '1.3.101.112', null],
];
test.each(algorithms)('accepts a signature by %s with %s', (kind, algorithm, digest) => {
  const request = readSignedRequest(requestSignedBy(kind, algorithm, digest));
  expect(request.signed.algorithm).toBe(algorithm);
});

const wrong: [string, () => string][] = [
  ['an old digest', () => requestSignedBy('rsa', '1.2.840.113549.1.1.5', 'sha1')],
  ['another digest than it says', () => requestSignedBy('ec', '1.2.840.10045.4.3.3', 'sha256')],
  ['an algorithm for another kind of key', () => requestSignedBy('ed25519', '1.2.840.10045.4.3.2', null)],
  ['an algorithm without digest for a key that needs one', () => requestSignedBy('ec', '1.3.101.112', 'sha256')],
  [
    'a signature by another key',
    () => {
      const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const info = requestInfo({});
      const signature = sign('sha256', info, privateKey);
      const algorithm = sequence(oid('1.2.840.10045.4.3.2'));
      return printPem('CERTIFICATE REQUEST', sequence(info, algorithm, bitString(signature)));
    },
  ],
  [
    'a key nobody can read',
    () => {
      const info = sequence(element(0x02, [0]), sequence(), sequence(), element(0xa0));
      const algorithm = sequence(oid('1.2.840.10045.4.3.2'));
      return printPem('CERTIFICATE REQUEST', sequence(info, algorithm, bitString([1, 2, 3])));
    },
  ],
];
test.each(wrong)('refuses %s', (_, make) => {
  expect(() => readSignedRequest(make(), 'CSR csr-7')).toThrow(
    expect.objectContaining({
      code: 'CSR_MALFORMED',
      message: expect.stringMatching(/^CSR csr-7: the signature/),
      remedy: expect.stringMatching(/\S/),
    }),
  );
});

test('refuses a text that is no request', () => {
  expect(() => readSignedRequest('hello')).toThrow(expect.objectContaining({ code: 'CSR_MALFORMED' }));
});

test('no bit of a request can be changed', () => {
  const der = scanPem(makeCsr({ dnsNames: ['win1'] })).blocks[0]?.der ?? new Uint8Array();
  fc.assert(
    fc.property(fc.nat(der.length - 1), fc.integer({ min: 1, max: 255 }), (at, bits) => {
      const changed = Uint8Array.from(der, (octet, index) => (index === at ? octet ^ bits : octet));
      expect(() => readSignedRequest(printPem('CERTIFICATE REQUEST', changed))).toThrow(
        expect.objectContaining({ code: 'CSR_MALFORMED' }),
      );
    }),
    { numRuns: 2000 },
  );
});
