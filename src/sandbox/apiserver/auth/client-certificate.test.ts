import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { distinguishedName } from '#base/certificate-write.ts';
import { manualClock } from '../../../../test/kit/manual-clock.ts';
import { element, oid, sequence, set, utf8String } from '../../../base/der-write.ts';
import { createAuthority, issueClientPair, issueServerPair } from './ca.ts';
import type { CertificateContent } from './certificate.ts';
import { readCertificate } from './certificate-parts.ts';
import { CertificateHolders } from './client-certificate.ts';

const clock = manualClock(Date.UTC(2030, 0, 1));
const ca = createAuthority('ours', clock);
const authority = new X509Certificate(ca.certificate);
const hourMs = 3_600_000;
const derOf = (pem: string): Uint8Array => new X509Certificate(pem).raw;
const holder = (der: Uint8Array, now = clock.now()) => new CertificateHolders(authority).at(now, der);

const publicKey = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ type: 'spki', format: 'der' });
const issue = (content: Partial<CertificateContent>) =>
  derOf(
    ca.issue({
      subject: distinguishedName({ commonName: 'jane' }),
      publicKey,
      usages: ['client auth'],
      notBefore: clock.now() - hourMs,
      notAfter: clock.now() + hourMs,
      ...content,
    }),
  );

test('the common name is the user and the organizations are the groups', () => {
  const { certificate } = issueClientPair(
    ca,
    { commonName: 'system:admin', organizations: ['system:masters', 'b'] },
    clock,
  );
  expect(holder(derOf(certificate))).toEqual({
    is: 'user',
    user: { username: 'system:admin', groups: ['system:masters', 'b'] },
  });
});

test('a certificate without extended key usages is valid for clients', () => {
  expect(holder(issue({ usages: [] })).is).toBe('user');
  expect(holder(issue({ usages: ['digital signature'] })).is).toBe('user');
  expect(holder(issue({ usages: ['any'] })).is).toBe('user');
});

test('a certificate without a common name has no user', () => {
  const subject = sequence(set(sequence(oid('2.5.4.10'), utf8String('system:masters'))));
  expect(holder(issue({ subject }))).toEqual({ is: 'nameless' });
  expect(holder(issue({ subject: sequence() }))).toEqual({ is: 'nameless' });
});

const twoNames = sequence(...['a', 'b'].map(name => set(sequence(oid('2.5.4.3'), utf8String(name)))));
const oddText = sequence(set(sequence(oid('2.5.4.3'), element(0x1e, [0, 65]))));
const impostor = createAuthority('ours', clock);

const refused: [string, () => Uint8Array, RegExp][] = [
  ['bytes that are no certificate', () => Uint8Array.of(1, 2, 3), /not a certificate/],
  [
    'a certificate of an authority with the same name',
    () => derOf(issueClientPair(impostor, { commonName: 'jane' }, clock).certificate),
    /not issued by this authority/,
  ],
  ['another authority itself', () => derOf(createAuthority('theirs', clock).certificate), /not issued/],
  ['a certificate for servers', () => derOf(issueServerPair(ca, ['x'], clock).certificate), /not a client certificate/],
  ['a certificate for signing code', () => issue({ usages: ['code signing'] }), /not a client certificate/],
  ['two common names', () => issue({ subject: twoNames }), /malformed subject/],
  ['a name in an unknown kind of text', () => issue({ subject: oddText }), /malformed subject/],
];
test.each(refused)('rejects %s', (_, make, why) => {
  expect(holder(make())).toEqual({ is: 'rejected', why: expect.stringMatching(why) });
});

const times: [string, number, string][] = [
  ['a second too early', -hourMs - 1000, 'rejected'],
  ['at the start', -hourMs, 'user'],
  ['at the end', hourMs, 'user'],
  ['a second too late', hourMs + 1000, 'rejected'],
];
test.each(times)('is judged by the time given: %s', (_, offset, want) => {
  expect(holder(issue({}), clock.now() + offset).is).toBe(want);
});

test('a changed certificate is never accepted', () => {
  const der = issue({ subject: distinguishedName({ commonName: 'jane', organizations: ['dev'] }) });
  fc.assert(
    fc.property(fc.nat(der.length - 1), fc.integer({ min: 1, max: 255 }), (at, bits) => {
      const changed = Uint8Array.from(der, (octet, index) => (index === at ? octet ^ bits : octet));
      expect(holder(changed).is).toBe('rejected');
    }),
    { numRuns: 1000 },
  );
});

test('the parts of a certificate are its subject and extensions', () => {
  const parts = readCertificate(issue({ names: { dnsNames: ['a'] } }));
  expect(parts?.subject.whole.toHex()).toBe(distinguishedName({ commonName: 'jane' }).toHex());
  expect([...(parts?.extensions.keys() ?? [])]).toEqual([
    '2.5.29.37',
    '2.5.29.19',
    '2.5.29.14',
    '2.5.29.35',
    '2.5.29.17',
  ]);
});

const broken: [string, Uint8Array][] = [
  ['nothing', new Uint8Array()],
  ['an empty sequence', sequence()],
  ['a certificate of version 1', sequence(sequence(element(0x02, [1]), sequence()))],
  ['a certificate with something behind it', Uint8Array.from([...issue({}), 0x05, 0x00])],
  ['a text', new TextEncoder().encode('hello')],
];
test.each(broken)('%s has no parts', (_, der) => expect(readCertificate(der)).toBeUndefined());

test('bytes of any kind never make the reader fail', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), bytes => {
      readCertificate(bytes);
      expect(holder(bytes).is).toBe('rejected');
    }),
    { numRuns: 2000 },
  );
});
