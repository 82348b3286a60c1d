import { expect, test } from 'vitest';
import { attempt } from '#base/errors.ts';
import { Secret } from '#base/secret.ts';
import { privateKeyFromSecret } from './private-key.ts';

const found: [name: string, data: Record<string, Secret>, want: string][] = [
  ['the key', { 'private-key.pem': new Secret('PEM') }, 'PEM'],
  ['the key among others', { other: new Secret('x'), 'private-key.pem': new Secret('PEM') }, 'PEM'],
  ['the key with every byte of it', { 'private-key.pem': new Secret('\u{feff}PEM\r\n') }, '\u{feff}PEM\r\n'],
  ['an empty key, which the parser then refuses', { 'private-key.pem': new Secret('') }, ''],
];
for (const [name, data, want] of found)
  test(`finds ${name}`, () => expect(privateKeyFromSecret(data).reveal()).toBe(want));

const missing: [name: string, data: Record<string, Secret>][] = [
  ['an empty Secret', {}],
  ['a Secret with a key of another name', { 'private-key': new Secret('do not show') }],
  ['a Secret with a key in other letters', { 'Private-Key.pem': new Secret('do not show') }],
  [
    'a key that is inherited',
    Object.create({ 'private-key.pem': new Secret('do not show') }) as Record<string, Secret>,
  ],
];
for (const [name, data] of missing) {
  test(`misses the key in ${name}`, () => {
    const result = attempt(() => privateKeyFromSecret(data));
    expect(result).toMatchObject({
      ok: false,
      error: { code: 'PRIVATE_KEY_MISSING', message: "cloud-private-key missing 'private-key.pem' secret" },
    });
    expect(result.ok || result.error.remedy).toContain('private-key.pem');
  });
}

test('names the Secret as it is told to', () => {
  const result = attempt(() => privateKeyFromSecret({}, 'Secret ns/cloud-private-key'));
  expect(result.ok || result.error.message).toBe("Secret ns/cloud-private-key missing 'private-key.pem' secret");
});
