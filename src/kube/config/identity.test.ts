import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { Secret } from '#base/secret.ts';
import { TestCa } from '../../../test/kit/certificates.ts';
import type { Credential, Identity } from '../transport/connection.ts';
import { anonymous, certificateIdentity, combinedIdentity, passwordIdentity, tokenIdentity } from './identity.ts';
import { fixedText, type TextSource } from './text-source.ts';

const { signal } = new AbortController();
const ca = new TestCa();
const [first, second] = [ca.issue({ commonName: 'one' }), ca.issue({ commonName: 'two' })];

/** A text that changes between the times it is asked; the last one stays. */
function changing(...texts: string[]): TextSource {
  const next = () => Promise.resolve((texts.length > 1 ? texts.shift() : texts[0]) ?? '');
  return { read: next, reread: next };
}

const header = async (identity: Identity) => (await identity.current(signal)).authorization?.reveal();
const certificate = async (identity: Identity) => (await identity.current(signal)).clientCertificate?.certificate;

test('anonymous has no credential', async () => {
  expect(await anonymous.current(signal)).toEqual({});
  expect(await anonymous.renew({}, signal)).toBe(false);
});

test('a token becomes a header, without the line break at its end', async () => {
  expect(await header(tokenIdentity(fixedText('abc.def-_~+/=\n')))).toBe('Bearer abc.def-_~+/=');
});

test('the same token is the same credential, another one is another', async () => {
  const identity = tokenIdentity(changing('one', 'one', 'two'));
  const credentials = [await identity.current(signal), await identity.current(signal), await identity.current(signal)];
  expect(credentials[0]).toBe(credentials[1]);
  expect(credentials[2]?.authorization?.reveal()).toBe('Bearer two');
});

for (const bad of ['', ' ', 'a b', 'a\nb', 'a\u0000', 'ü']) {
  test(`rejects ${JSON.stringify(bad)} as a token without showing it`, async () => {
    await expect(tokenIdentity(fixedText(bad)).current(signal)).rejects.toMatchObject({
      code: 'CREDENTIAL_UNREADABLE',
      message: 'token: is empty or has characters that are not allowed in a header',
    });
  });
}

test('a refused token may be renewed only when the file has another one', async () => {
  const identity = tokenIdentity(changing('one', 'one', 'two'));
  const refused = await identity.current(signal);
  expect(await identity.renew(refused, signal)).toBe(false);
  expect(await identity.renew(refused, signal)).toBe(true);
  expect(await header(identity)).toBe('Bearer two');
});

test('user name and password become a header', async () => {
  const identity = passwordIdentity('Grüße', new Secret('a:b'));
  const [scheme, encoded = ''] = ((await header(identity)) ?? '').split(' ');
  expect([scheme, Buffer.from(encoded, 'base64').toString()]).toEqual(['Basic', 'Grüße:a:b']);
  expect(await identity.renew(await identity.current(signal), signal)).toBe(false);
});

test('a certificate goes with its key', async () => {
  const { clientCertificate } = await certificateIdentity(fixedText(first.cert), fixedText(first.key)).current(signal);
  expect(clientCertificate?.certificate).toBe(first.cert);
  expect(clientCertificate?.key.reveal()).toBe(first.key);
});

test('a new pair is taken only once both halves fit', async () => {
  const identity = certificateIdentity(
    changing(first.cert, second.cert, second.cert),
    changing(first.key, first.key, second.key),
  );
  expect(await certificate(identity)).toBe(first.cert);
  expect(await certificate(identity)).toBe(first.cert);
  expect(await certificate(identity)).toBe(second.cert);
});

test('a half-written certificate does not replace a good one', async () => {
  const identity = certificateIdentity(changing(first.cert, first.cert.slice(0, 100)), fixedText(first.key));
  expect([await certificate(identity), await certificate(identity)]).toEqual([first.cert, first.cert]);
});

test('a refused certificate may be renewed only when there is another', async () => {
  const identity = certificateIdentity(
    changing(first.cert, first.cert, second.cert),
    changing(first.key, first.key, second.key),
  );
  const refused = await identity.current(signal);
  expect(await identity.renew(refused, signal)).toBe(false);
  expect(await identity.renew(refused, signal)).toBe(true);
});

const pairs: [string, string, string, string][] = [
  ['of two pairs', first.cert, second.key, 'certificate and key do not belong together'],
  ['whose certificate is none', 'nonsense', first.key, 'certificate or key is not in PEM form'],
  ['whose key is none', first.cert, 'nonsense', 'certificate or key is not in PEM form'],
];
for (const [name, cert, key, why] of pairs) {
  test(`rejects halves ${name}`, async () => {
    await expect(certificateIdentity(fixedText(cert), fixedText(key)).current(signal)).rejects.toMatchObject({
      code: 'CREDENTIAL_UNREADABLE',
      message: `client certificate: ${why}`,
    });
  });
}

test('a certificate and a token go together, and either may be renewed', async () => {
  const identity = combinedIdentity([
    certificateIdentity(fixedText(first.cert), fixedText(first.key)),
    tokenIdentity(changing('one', 'one', 'two')),
  ]);
  const refused: Credential = await identity.current(signal);
  expect(refused.clientCertificate?.certificate).toBe(first.cert);
  expect(refused.authorization?.reveal()).toBe('Bearer one');
  expect(await identity.renew(refused, signal)).toBe(false);
  expect(await identity.renew(refused, signal)).toBe(true);
});

test('combinedIdentity of no parts is anonymous, of one part that part', () => {
  const only = tokenIdentity(fixedText('a'));
  expect(combinedIdentity([])).toBe(anonymous);
  expect(combinedIdentity([only])).toBe(only);
});

test('no credential shows what it holds when it is printed', async () => {
  const identity = combinedIdentity([
    certificateIdentity(fixedText(first.cert), fixedText(first.key)),
    tokenIdentity(fixedText('topsecret')),
  ]);
  const printed = inspect(await identity.current(signal), { depth: null, showHidden: true });
  expect(printed).not.toContain('topsecret');
  expect(printed).not.toContain(first.key.slice(40, 90));
});
