import { createHash, generateKeyPairSync } from 'node:crypto';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { type AppError, attempt } from '#base/errors.ts';
import { isKnownType, readPublicKey } from '#base/ssh-public-key.ts';
import { fromBigint, toBigint, writeWire } from '#base/ssh-wire.ts';
import { authorizedKey, checkStrength, parseAuthorizedKey, publicKeyHash } from './public-key.ts';

type Field = string | Uint8Array | bigint;

const point = (size: number): Uint8Array => Uint8Array.of(4, ...new Uint8Array(2 * size).fill(7));
const blobs: Record<string, Field[]> = {
  'ssh-rsa': [65_537n, 2n ** 2047n + 1n],
  'ssh-dss': [2n ** 1023n, 2n ** 159n, 5n, 7n],
  'ssh-ed25519': [new Uint8Array(32).fill(9)],
  'ecdsa-sha2-nistp256': ['nistp256', point(32)],
  'ecdsa-sha2-nistp384': ['nistp384', point(48)],
  'ecdsa-sha2-nistp521': ['nistp521', point(66)],
};
const line = (type: string, ...fields: Field[]): string => `${type} ${writeWire(type, ...fields).toBase64()}`;
const rsaLine = (bits: number): string => line('ssh-rsa', 65_537n, 2n ** BigInt(bits - 1) + 1n);
const known = Object.entries(blobs).map(([type, fields]) => [type, line(type, ...fields)] as const);

const errorOf = (run: () => unknown): AppError => {
  const result = attempt(run);
  if (result.ok) throw new Error(`no error but ${String(result.value)}`);
  return result.error;
};

const specLine = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIbM+SmqWhs/D5n4HgqjPvt4lz2qsmyaSbDs1SZBurg3';
const specHash = 'fe619823488aaf0eddf2dda5c06999ddef3f9df7633049e94f1b0a8f51afe21e';
const ed25519Line = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAm5MQBqxS/vzHl4fOYS6G+6jDzefuARqKxD7ao5OJdm';

const hashes: [name: string, line: string, want: string][] = [
  ['as live clusters know it', specLine, specHash],
  ['without the line end', `${specLine}\n`, specHash],
  ['without the comment', `${specLine} somebody@example.com`, specHash],
  ['without comment and Windows line end', `${specLine} a comment of many words\r\n`, specHash],
  ['of another key', ed25519Line, 'be01d73bf1f93eaf4c0093537f6bbe1d143142ebb93b8653e4934e2330da3fcf'],
];
for (const [name, text, want] of hashes)
  test(`hashes a key ${name}`, () => expect(publicKeyHash(parseAuthorizedKey(text))).toBe(want));

for (const [type, text] of known) {
  test(`reads a line with ${type} and writes the same line`, () => {
    const key = parseAuthorizedKey(text);
    expect(key.type).toBe(type);
    expect(authorizedKey(key)).toBe(`${text}\n`);
    expect(publicKeyHash(key)).toBe(createHash('sha256').update(text).digest('hex'));
  });
  test(`knows the type ${type}`, () => expect(isKnownType(type)).toBe(true));
  test(`rejects ${type} with an octet too many`, () => {
    const blob = Buffer.concat([writeWire(type, ...(blobs[type] ?? [])), Buffer.of(0)]);
    expect(readPublicKey(blob)).toBeUndefined();
  });
  test(`rejects ${type} with an octet too few`, () => {
    expect(readPublicKey(writeWire(type, ...(blobs[type] ?? [])).subarray(0, -1))).toBeUndefined();
  });
}

const spellings: [name: string, text: string][] = [
  ['blanks around', `  ${specLine} \n`],
  ['a tab between', specLine.replace(' ', '\t')],
  ['several blanks between', specLine.replace(' ', '   ')],
];
for (const [name, text] of spellings)
  test(`tolerates ${name}`, () => expect(publicKeyHash(parseAuthorizedKey(text))).toBe(specHash));

const unreadable: [name: string, text: string, why: RegExp][] = [
  ['an empty text', '', /form/],
  ['a type alone', 'ssh-ed25519', /form/],
  ['the base64 alone', specLine.split(' ')[1] ?? '', /form/],
  ['content that is not base64', 'ssh-ed25519 AAAA*', /form/],
  ['content without padding', 'ssh-ed25519 AAAAC', /form/],
  ['content that is empty', 'ssh-ed25519 ====', /form/],
  ['content cut off', specLine.slice(0, -4), /form/],
  ['options in front', `no-pty ${specLine}`, /form/],
  ['a type that the content contradicts', specLine.replace('ssh-ed25519', 'ssh-rsa'), /first word/],
  ['an unknown type that the content contradicts', specLine.replace('ssh-ed25519', 'ssh-ed448'), /first word/],
  ['two lines', `${specLine}\n${ed25519Line}`, /more than one line/],
  ['a line beyond all measure', `${specLine} ${'x'.repeat(20_000)}`, /longer than 16384/],
  ['an Ed25519 key of 31 octets', line('ssh-ed25519', new Uint8Array(31)), /form/],
  ['a curve that the type contradicts', line('ecdsa-sha2-nistp256', 'nistp384', point(48)), /form/],
  ['a point that is too short', line('ecdsa-sha2-nistp256', 'nistp256', point(31)), /form/],
  ['a compressed point', line('ecdsa-sha2-nistp256', 'nistp256', point(32).fill(2)), /form/],
  ['a negative modulus', line('ssh-rsa', 3n, Uint8Array.of(0x80)), /form/],
  ['a type name with blanks', line('ssh rsa', 3n), /form/],
  ['a type name that is too long', line('x'.repeat(65), 3n), /form/],
  ['a type name in capitals', line('SSH-RSA', 3n), /form/],
  ['an empty type name', line('', 3n), /form/],
];
for (const [name, text, why] of unreadable) {
  test(`cannot read ${name}`, () => {
    const error = errorOf(() => parseAuthorizedKey(text));
    expect(error).toMatchObject({ code: 'PUBLIC_KEY_UNREADABLE', message: expect.stringMatching(why) });
    expect(error.remedy).not.toBe('');
  });
}

test('never shows the line, as it may be a private key pasted by mistake', () => {
  const error = errorOf(() => parseAuthorizedKey('-----BEGIN PRIVATE-KEY----- c2VjcmV0'));
  expect(error.message).not.toContain('c2VjcmV0');
  expect(error.message).not.toContain('BEGIN');
});

const strong: [name: string, text: string][] = [
  ['RSA 2048', rsaLine(2048)],
  ['RSA 4096', rsaLine(4096)],
  ['P-256', line('ecdsa-sha2-nistp256', 'nistp256', point(32))],
  ['P-384', line('ecdsa-sha2-nistp384', 'nistp384', point(48))],
  ['P-521', line('ecdsa-sha2-nistp521', 'nistp521', point(66))],
  ['Ed25519', specLine],
];
for (const [name, text] of strong)
  test(`finds ${name} strong enough`, () => expect(() => checkStrength(parseAuthorizedKey(text))).not.toThrow());

const weak: [name: string, text: string, message: string][] = [
  ['RSA 512', rsaLine(512), 'RSA key size is 512 bits'],
  ['RSA 1024', rsaLine(1024), 'RSA key size is 1024 bits'],
  ['RSA 2047', rsaLine(2047), 'RSA key size is 2047 bits'],
  ['RSA with the modulus zero', line('ssh-rsa', 3n, 0n), 'RSA key size is 1 bits'],
  ['DSA', line('ssh-dss', ...(blobs['ssh-dss'] ?? [])), 'DSA'],
  ['P-224', line('ecdsa-sha2-nistp224', 'nistp224', point(28)), 'P-224'],
  ['P-224 by number', line('ecdsa-sha2-1.3.132.0.33', '1.3.132.0.33', point(28)), 'P-224'],
  ['a type from the future', line('ssh-ed448', new Uint8Array(57)), '"ssh-ed448"'],
  ['a security key', line('sk-ssh-ed25519@openssh.com', new Uint8Array(32), 'ssh:'), '"sk-ssh-ed25519@openssh.com"'],
  ['a type named like a member of all objects', line('constructor', 'x'), '"constructor"'],
];
for (const [name, text, message] of weak) {
  test(`finds ${name} too weak`, () => {
    const error = errorOf(() => checkStrength(parseAuthorizedKey(text)));
    expect(error).toMatchObject({ code: 'PUBLIC_KEY_WEAK', message: expect.stringContaining(message) });
    expect(error.remedy).toContain('2048');
  });
}

test('cannot judge an RSA key that is none', () => {
  const error = errorOf(() => checkStrength({ type: 'ssh-rsa', blob: Uint8Array.of(1) }));
  expect(error.code).toBe('PUBLIC_KEY_UNREADABLE');
});

test.each([1024, 2048])('counts the bits of a real RSA key of %i bits', modulusLength => {
  const { n = '', e = '' } = generateKeyPairSync('rsa', { modulusLength }).publicKey.export({ format: 'jwk' });
  const [modulus, exponent] = [n, e].map(text => toBigint(Buffer.from(text, 'base64url'))) as [bigint, bigint];
  const key = parseAuthorizedKey(line('ssh-rsa', exponent, modulus));
  const result = attempt(() => checkStrength(key));
  expect(result.ok ? 'strong' : result.error.message).toMatch(modulusLength === 2048 ? /strong/ : /1024 bits/);
});

test('does not take members of all objects for key types', () => {
  for (const type of ['constructor', 'tostring', '__proto__', 'ssh-ed448']) expect(isKnownType(type)).toBe(false);
});

test('judges RSA by the size of the modulus alone', () => {
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 5000 }), fc.bigInt({ min: 3n, max: 2n ** 64n }), (bits, exponent) => {
      const key = parseAuthorizedKey(line('ssh-rsa', exponent, 2n ** BigInt(bits) - 1n));
      expect(attempt(() => checkStrength(key)).ok).toBe(bits >= 2048);
    }),
  );
});

test('hashes exactly type and content, for any comment', () => {
  fc.assert(
    fc.property(fc.constantFrom(...known), fc.stringMatching(/^[ -~]{0,30}$/), ([, text], comment) => {
      expect(publicKeyHash(parseAuthorizedKey(`${text} ${comment}\n`))).toBe(publicKeyHash(parseAuthorizedKey(text)));
    }),
  );
});

test('handles any line with a key or an AppError', () => {
  const changed = fc
    .tuple(fc.constantFrom(...known), fc.nat(), fc.string({ maxLength: 3 }))
    .map(([[, text], at, put]) => {
      const index = at % text.length;
      return text.slice(0, index) + put + text.slice(index + 1);
    });
  fc.assert(
    fc.property(fc.oneof(changed, fc.string({ maxLength: 200 })), text => {
      const result = attempt(() => parseAuthorizedKey(text));
      if (result.ok) attempt(() => checkStrength(result.value));
      else expect(result.error.code).toBe('PUBLIC_KEY_UNREADABLE');
    }),
    { numRuns: 2000 },
  );
});

test('parses any content in wire format or returns undefined', () => {
  const content = fc.uint8Array({ maxLength: 80 });
  fc.assert(
    fc.property(fc.constantFrom(...Object.keys(blobs)), content, (type, bytes) => {
      const blob = Buffer.concat([writeWire(type), bytes]);
      expect([undefined, type]).toContain(readPublicKey(blob)?.type);
    }),
    { numRuns: 2000 },
  );
});

test('keeps the octets of a key as they are', () => {
  const blob = writeWire('ssh-rsa', 3n, Uint8Array.of(0, 0, ...fromBigint(2n ** 2047n)));
  expect(readPublicKey(blob)?.blob).toBe(blob);
});
