import { createPublicKey, generateKeyPairSync, type KeyObject, X509Certificate } from 'node:crypto';
import { expect, test } from 'vitest';
import { certificateExtension, distinguishedName, writeCertificate } from './certificate-write.ts';
import { element, namedBits, sequence } from './der-write.ts';

const authority = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const holder = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const fields = {
  issuer: distinguishedName({ commonName: 'the authority' }),
  subject: distinguishedName({ commonName: 'the holder', organizations: ['one', 'two'] }),
  publicKey: new Uint8Array(holder.publicKey.export({ type: 'spki', format: 'der' })),
  notBefore: Date.UTC(2026, 0, 1),
  notAfter: Date.UTC(2060, 0, 1),
  extensions: [
    certificateExtension('2.5.29.15', namedBits([0]), true),
    certificateExtension('2.5.29.17', sequence(element(0x82, new TextEncoder().encode('host.test')))),
  ],
};

const authorities: [what: string, key: KeyObject][] = [
  ['an elliptic', authority.privateKey],
  ['an RSA', generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey],
];
for (const [what, key] of authorities) {
  test(`a certificate that ${what} key has signed says what it should`, () => {
    const certificate = new X509Certificate(writeCertificate(fields, key));
    expect(certificate.verify(createPublicKey(key))).toBe(true);
    expect([certificate.issuer, certificate.subject]).toEqual(['CN=the authority', 'O=one\nO=two\nCN=the holder']);
    expect([certificate.validFromDate, certificate.validToDate].map(Number)).toEqual([
      fields.notBefore,
      fields.notAfter,
    ]);
    expect(certificate.publicKey.equals(holder.publicKey)).toBe(true);
    expect(certificate.subjectAltName).toBe('DNS:host.test');
    expect(certificate.ca).toBe(false);
  });
}

test('no two have the same number', () => {
  const numbers = [1, 2].map(() => new X509Certificate(writeCertificate(fields, authority.privateKey)).serialNumber);
  expect(numbers[0]).not.toBe(numbers[1]);
  for (const number of numbers) expect(number).toHaveLength(32);
});

test('a key of another kind signs nothing', () => {
  const { privateKey } = generateKeyPairSync('ed25519');
  expect(() => writeCertificate(fields, privateKey)).toThrow('a CA needs an RSA or EC key');
});

test('an extension is critical only if it says so', () => {
  const [critical, plain] = [true, false].map(isCritical =>
    certificateExtension('2.5.29.15', namedBits([0]), isCritical),
  );
  expect(plain).toEqual(certificateExtension('2.5.29.15', namedBits([0])));
  expect((critical?.length ?? 0) - (plain?.length ?? 0)).toBe(3);
});
