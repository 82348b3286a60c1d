import { X509Certificate } from 'node:crypto';
import { expect, test } from 'vitest';
import { type CsrContent, makeCsr } from '../../../../test/kit/csr.ts';
import { manualClock } from '../../../../test/kit/manual-clock.ts';
import { parseCertificateRequest } from '../../../contract/csr-request.ts';
import { createAuthority } from './ca.ts';
import { signRequest } from './signing-request.ts';

const clock = manualClock(Date.UTC(2030, 0, 1));
const ca = createAuthority('signer', clock);
const usages = ['digital signature', 'key encipherment', 'client auth'];
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const yearMs = 365 * 24 * hourMs;

const signed = (content: CsrContent, terms: { expirationSeconds?: number } = {}, authority = ca) => {
  const request = parseCertificateRequest(makeCsr(content));
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

test('keeps unknown attributes of the subject', () => {
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
  const certificate = signed({}, {}, dying);
  expect(certificate.validToDate.getTime()).toBe(clock.now() + hourMs);
});
