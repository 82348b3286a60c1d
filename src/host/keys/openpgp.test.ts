import { createCipheriv, createDecipheriv, createHash } from 'node:crypto';
import * as fc from 'fast-check';
import * as openpgp from 'openpgp';
import { expect, test } from 'vitest';
import { fromUtf8 } from '#base/bytes.ts';
import { decryptWithPassphrase, encryptWithPassphrase, type Opened } from './openpgp.ts';
import { type Packet, readPackets, writePacket } from './openpgp-packets.ts';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const open = (message: Uint8Array, passphrase: string): string =>
  said(decryptWithPassphrase(message, utf8(passphrase)));
const said = (opened: Opened): string => {
  if (opened.is === 'opened') return `opened: ${fromUtf8(opened.content)}`;
  return opened.is === 'damaged' ? `damaged: ${opened.why}` : opened.is;
};

/** Made by GnuPG 2.2.40 with `gpg -c`: old headers, no session key packet content beyond the hash of the passphrase. */
const fromGpg: [name: string, base64: string, want: string][] = [
  [
    'AES-128 and SHA-256',
    'jA0EBwMIYgFDDnQLuUFg0jUB2PMdUGy9/imqey4FuMOuqY0dyFQ4PxB66xfPjM/dAuFRJ/y66/TMMim8/TpQCMrDDfFbHQ==',
    'opened: core',
  ],
  [
    'AES-192 and SHA-384',
    'jA0ECAMJdpbVRB0vkNRg0jUByO8RBQXZBIF9Wn4cw7LA19rQAhg94bLo2fq/motdgCoDImeN5BK0e+3ZmXeFP8kVzKFpIw==',
    'opened: core',
  ],
  [
    'AES-256 and SHA-512',
    'jA0ECQMKydp4ORBIbyFg0jUB6mZPwZDgqSLVk4iz68OofINwAXQ9YxM1vEIrwxoG5/YNwt3J5TQYLJelSdoD330DLpj9Lw==',
    'opened: core',
  ],
  [
    'a file name',
    'jA0EBwMIVtH0epH8/0hg0j0BeSqpaFYAgRrNj4IMS26pJYjr6Q51IwkjnDDDNSK0TS50vWMr8ssonstvM9TOs/P4uipvpnYrtDxTUUU6',
    'opened: core',
  ],
  [
    'SHA-1',
    'jA0EBwMCh9mYeIO+HrZg0jUB0CSBTVmzXc94cz79KaaYPkESSm5nOHOqSmkxHHqXbMFBKBDPfM/HlknRk4TAwB8DBHyzAQ==',
    'damaged: it uses unsupported algorithms',
  ],
  [
    '3DES',
    'jA0EAgMIg9EhWwEdq9tg0i0BUeZgN4L7R/1FwNXcEHsPIN6IkqRx3BXFx1e6x+JTTyvJFAppjdOAl76yW8E=',
    'damaged: it uses unsupported algorithms',
  ],
  [
    'the highest count of octets to hash',
    'jA0ECQMIVIWrjgYSsTT/0jUBVnaZWa3mbzFzMmzvfWboStxt3R65mIPasaba282RKFwrNw6AfmYAAkZEE7J5yks+9akC0w==',
    'damaged: its iteration count is too high',
  ],
  [
    'compressed content',
    'jA0EBwMIxjZv9ptCcOxg0jkBmgrR0R03pkUtZHaupz6kUiwFVZz0wL9ot15/Nw6eov1heXAbozFi0hJupyAW8tC0NDOd74mk970=',
    'damaged: its content is compressed',
  ],
];
for (const [name, base64, want] of fromGpg)
  test(`handles a message of GnuPG with ${name}`, () =>
    expect(open(Uint8Array.fromBase64(base64), 'gpg pass')).toBe(want));

test('finds a wrong passphrase in a message without session key', () => {
  expect(open(Uint8Array.fromBase64(fromGpg[0]![1]), 'other')).toBe('wrong key');
});

const texts = ['', 'a', 'core', 'Administrator', 'üser name with spaces and 日本', 'x'.repeat(200), 'x'.repeat(9000)];
const { symmetric, compression } = openpgp.enums;

test.each(texts)('lets OpenPGP.js open what we encrypt: %.20s', async text => {
  const binaryMessage = encryptWithPassphrase(utf8(text), utf8('a passphrase'));
  const message = await openpgp.readMessage({ binaryMessage: Uint8Array.from(binaryMessage) });
  const { data } = await openpgp.decrypt({ message, passwords: ['a passphrase'] });
  expect(data).toBe(text);
});

test.each([
  ['AES-128', symmetric.aes128, 0x60],
  ['AES-192', symmetric.aes192, 0x60],
  ['AES-256', symmetric.aes256, 0x60],
  ['its own count of octets to hash', symmetric.aes128, 0xe0],
  ['the lowest count of octets to hash', symmetric.aes128, 0],
] as const)('opens what OpenPGP.js encrypts with %s', async (_, preferredSymmetricAlgorithm, s2kIterationCountByte) => {
  const encrypted = await openpgp.encrypt({
    message: await openpgp.createMessage({ text: 'Administrator' }),
    passwords: 'a passphrase',
    format: 'binary',
    config: {
      aeadProtect: false,
      preferredSymmetricAlgorithm,
      s2kIterationCountByte,
      preferredCompressionAlgorithm: compression.uncompressed,
    },
  });
  expect(open(encrypted as Uint8Array, 'a passphrase')).toBe('opened: Administrator');
  expect(open(encrypted as Uint8Array, 'another')).toBe('wrong key');
});

test('rejects authenticated encryption', async () => {
  const encrypted = await openpgp.encrypt({
    message: await openpgp.createMessage({ text: 'Administrator' }),
    passwords: 'a passphrase',
    format: 'binary',
    config: { aeadProtect: true },
  });
  expect(open(encrypted as Uint8Array, 'a passphrase')).toMatch(/^damaged: it/);
});

/** Made by the Go library whose annotations are on live clusters: parts smaller than 512 octets. */
const fromGo = Uint8Array.fromBase64(
  'wx4EBwMIvLcj9w22ttlgjFzyzfXvDZlnhGZo141cGh7S5QF17pK9Jzxy40WrVAst/ZLxGI67vzk+R1sUNyaDFLx85JE1yA/Jwe9nl2Nj/h+8WvziDTQTReEnaODwAA==',
);
const passphrase = 'Super secr3t!';

test('opens a message of the Go library', () => {
  expect(open(fromGo, passphrase)).toBe('opened: core');
  expect(open(fromGo, 'Super secr3t')).toBe('wrong key');
  expect(open(fromGo, '')).toBe('wrong key');
});

const [sessionPacket, dataPacket] = readPackets(fromGo) as [Packet, Packet];
const message = (session = sessionPacket, data = dataPacket): Uint8Array =>
  Buffer.concat([writePacket(session.tag, session.body), writePacket(data.tag, data.body)]);

test('writes the packets that annotations on existing clusters have', () => {
  const written = readPackets(encryptWithPassphrase(utf8('core'), utf8('pw'))) ?? [];
  for (const [session, data] of [written, [sessionPacket, dataPacket]]) {
    expect([session?.tag, session?.body.length, data?.tag, data?.body[0]]).toEqual([3, 30, 18, 1]);
    expect(session?.body.subarray(0, 4).toHex()).toBe('04070308');
    expect(session?.body[12]).toBe(0x60);
  }
});

test('uses another salt, session key and prefix each time', () => {
  const messages = Array.from({ length: 20 }, () => encryptWithPassphrase(utf8('core'), utf8('pw')).toHex());
  expect(new Set(messages).size).toBe(20);
});

/** The parts of a message by the letter of the standard, so that tests can make broken ones. */
function passphraseKey(body: Uint8Array, passphrase: string): Buffer {
  const once = Buffer.concat([body.subarray(4, 12), utf8(passphrase)]);
  return createHash('sha256').update(Buffer.alloc(65_536, once)).digest().subarray(0, 16);
}
const cfb = (key: Uint8Array, plain: Uint8Array): Buffer =>
  createCipheriv('aes-128-cfb', key, Buffer.alloc(16)).update(plain);
const uncfb = (key: Uint8Array, sealed: Uint8Array): Buffer =>
  createDecipheriv('aes-128-cfb', key, Buffer.alloc(16)).update(sealed);

test('wraps a session key that opens the data to one literal text without name and date', () => {
  const [session, data] = readPackets(encryptWithPassphrase(utf8('core'), utf8('pw'))) as [Packet, Packet];
  const wrapped = uncfb(passphraseKey(session.body, 'pw'), session.body.subarray(13));
  expect([wrapped[0], wrapped.length]).toEqual([7, 17]);
  const plain = uncfb(wrapped.subarray(1), data.body.subarray(1));
  expect(plain.subarray(14, 16)).toEqual(plain.subarray(16, 18));
  expect(plain.subarray(18, -22)).toEqual(Buffer.concat([Buffer.from('cb0a740000000000', 'hex'), utf8('core')]));
  expect(plain.subarray(-22, -20).toHex()).toBe('d314');
  expect(plain.subarray(-20)).toEqual(createHash('sha1').update(plain.subarray(0, -20)).digest());
});

/** A message without session key whose content and tail can be anything. */
function handmade(content: Uint8Array, tail?: (hashed: Buffer) => Uint8Array): Uint8Array {
  const body = Buffer.from('04070308010203040506070860', 'hex');
  const hashed = Buffer.concat([Buffer.alloc(18, 5), content, Buffer.of(0xd3, 0x14)]);
  const plain = Buffer.concat([hashed, tail?.(hashed) ?? createHash('sha1').update(hashed).digest()]);
  const sealed = Buffer.concat([Buffer.of(1), cfb(passphraseKey(body, 'pw'), plain)]);
  return message({ tag: 3, body }, { tag: 18, body: sealed });
}
const literal = (...octets: number[]): Uint8Array => writePacket(11, Uint8Array.from(octets));
const core = [...utf8('core')];

const contents: [name: string, message: Uint8Array, want: string][] = [
  ['a text', handmade(literal(0x74, 0, 0, 0, 0, 0, ...core)), 'opened: core'],
  ['a binary literal', handmade(literal(0x62, 0, 0, 0, 0, 0, ...core)), 'opened: core'],
  ['a file name and a date', handmade(literal(0x75, 2, 65, 66, 1, 2, 3, 4, ...core)), 'opened: core'],
  ['no text', handmade(literal(0x74, 0, 0, 0, 0, 0)), 'opened: '],
  ['the literal in parts', handmade(Uint8Array.of(0xcb, 0xe2, 0x74, 0, 0, 0, 0xe0, 0, 5, 0, ...core)), 'opened: core'],
  ['an old header', handmade(Uint8Array.of(0xac, 10, 0x74, 0, 0, 0, 0, 0, ...core)), 'opened: core'],
  ['an empty literal', handmade(literal()), 'damaged: its content is not a single literal packet'],
  ['a date cut off', handmade(literal(0x74, 0, 0, 0, 0)), 'damaged: its content is not a single literal packet'],
  [
    'a file name that goes on too long',
    handmade(literal(0x74, 9, 0, 0, 0, 0, ...core)),
    'damaged: its content is not a single literal packet',
  ],
  ['no packet', handmade(new Uint8Array()), 'damaged: its content is not a single literal packet'],
  [
    'two literals',
    handmade(Buffer.concat([literal(0x74, 0, 0, 0, 0, 0), literal(0x74, 0, 0, 0, 0, 0)])),
    'damaged: its content is not a single literal packet',
  ],
  ['garbage', handmade(Uint8Array.of(1, 2, 3)), 'damaged: its content is not a single literal packet'],
  ['a compressed packet', handmade(writePacket(8, Uint8Array.of(1, 3, 0))), 'damaged: its content is compressed'],
  [
    'another hash at the end',
    handmade(literal(0x74, 0, 0, 0, 0, 0), () => new Uint8Array(20)),
    'damaged: it was altered',
  ],
];
for (const [name, bytes, want] of contents) test(`meets ${name} inside`, () => expect(open(bytes, 'pw')).toBe(want));

test('finds data without the packet that protects them', () => {
  const body = Buffer.from('04070308010203040506070860', 'hex');
  const plain = Buffer.concat([Buffer.alloc(18, 5), literal(0x74, 0, 0, 0, 0, 0, ...core), Buffer.alloc(22)]);
  const sealed = Buffer.concat([Buffer.of(1), cfb(passphraseKey(body, 'pw'), plain)]);
  expect(open(message({ tag: 3, body }, { tag: 18, body: sealed }), 'pw')).toBe('damaged: it was altered');
});

const with3 = (change: (body: Buffer) => void): Packet => {
  const body = Buffer.from(sessionPacket.body);
  change(body);
  return { tag: 3, body };
};
const notOurs = 'damaged: it is not an OpenPGP message encrypted with a passphrase';
const unsupported = 'damaged: it uses unsupported algorithms';
const frames: [name: string, message: Uint8Array, want: string][] = [
  ['an empty message', new Uint8Array(), notOurs],
  ['garbage', utf8('HELLO'), notOurs],
  ['the session key alone', writePacket(3, sessionPacket.body), notOurs],
  ['the data alone', writePacket(18, dataPacket.body), notOurs],
  ['both in the wrong order', message(dataPacket, sessionPacket), notOurs],
  ['a third packet', Buffer.concat([message(), writePacket(11, new Uint8Array())]), notOurs],
  [
    'data of another version',
    message(sessionPacket, { tag: 18, body: Buffer.of(2, ...dataPacket.body.subarray(1)) }),
    notOurs,
  ],
  ['data without protection', message(sessionPacket, { tag: 9, body: dataPacket.body }), notOurs],
  ['a session key for a public key', message({ tag: 1, body: sessionPacket.body }), notOurs],
  ['data without content', message(sessionPacket, { tag: 18, body: new Uint8Array() }), notOurs],
  ['data of the version only', message(sessionPacket, { tag: 18, body: Buffer.of(1) }), 'damaged: it is truncated'],
  [
    'data shorter than its frame',
    message(sessionPacket, { tag: 18, body: dataPacket.body.subarray(0, 40) }),
    'damaged: it is truncated',
  ],
  [
    'data without its last octet',
    message(sessionPacket, { tag: 18, body: dataPacket.body.subarray(0, -1) }),
    'damaged: it was altered',
  ],
  ['an empty session key packet', message({ tag: 3, body: new Uint8Array() }), unsupported],
  ['a session key packet of version 6', message(with3(body => body.fill(6, 0, 1))), unsupported],
  ['the cipher Twofish', message(with3(body => body.fill(10, 1, 2))), unsupported],
  ['a passphrase hash without salt', message(with3(body => body.fill(0, 2, 3))), unsupported],
  ['the digest MD5', message(with3(body => body.fill(1, 3, 4))), unsupported],
  [
    'a session key packet cut off in the salt',
    message({ tag: 3, body: sessionPacket.body.subarray(0, 9) }),
    'damaged: it is truncated',
  ],
  [
    'a session key packet without count',
    message({ tag: 3, body: sessionPacket.body.subarray(0, 12) }),
    'damaged: it is truncated',
  ],
  [
    'a count above the limit',
    message(with3(body => body.fill(0xe1, 12, 13))),
    'damaged: its iteration count is too high',
  ],
  ['another count', message(with3(body => body.fill(0x61, 12, 13))), 'wrong key'],
  ['another salt', message(with3(body => body.fill(0, 4, 12))), 'wrong key'],
  ['a wrapped key of one octet', message({ tag: 3, body: sessionPacket.body.subarray(0, 14) }), 'wrong key'],
  ['a wrapped key cut off', message({ tag: 3, body: sessionPacket.body.subarray(0, 29) }), 'wrong key'],
  [
    'no wrapped key where the data need one',
    message({ tag: 3, body: sessionPacket.body.subarray(0, 13) }),
    'wrong key',
  ],
  [
    'another prefix',
    message(sessionPacket, { tag: 18, body: Buffer.of(1, 0, ...dataPacket.body.subarray(2)) }),
    'wrong key',
  ],
];
for (const [name, bytes, want] of frames) test(`meets ${name}`, () => expect(open(bytes, passphrase)).toBe(want));

test('opens a message whose session key is longer than the key that wraps it', () => {
  const body = Buffer.from('04070308010203040506070860', 'hex');
  const sessionKey = Buffer.alloc(32, 3);
  const wrapped = cfb(passphraseKey(body, 'pw'), Buffer.concat([Buffer.of(9), sessionKey]));
  const hashed = Buffer.concat([Buffer.alloc(18, 5), literal(0x74, 0, 0, 0, 0, 0, ...core), Buffer.of(0xd3, 0x14)]);
  const plain = Buffer.concat([hashed, createHash('sha1').update(hashed).digest()]);
  const sealed = createCipheriv('aes-256-cfb', sessionKey, Buffer.alloc(16)).update(plain);
  const whole = message(
    { tag: 3, body: Buffer.concat([body, wrapped]) },
    { tag: 18, body: Buffer.concat([Buffer.of(1), sealed]) },
  );
  expect(open(whole, 'pw')).toBe('opened: core');
});

test('hashes a passphrase longer than the count once and whole', () => {
  const long = 'k'.repeat(70_000);
  const whole = encryptWithPassphrase(utf8('core'), utf8(long));
  expect(open(whole, long)).toBe('opened: core');
  expect(open(whole, long.slice(1))).toBe('wrong key');
});

test('gives back any content under any passphrase', () => {
  const bytes = fc.uint8Array({ maxLength: 400 });
  fc.assert(
    fc.property(bytes, bytes, (content, passphrase) => {
      const opened = decryptWithPassphrase(encryptWithPassphrase(content, passphrase), passphrase);
      expect(opened).toMatchObject({ is: 'opened' });
      expect(opened.is === 'opened' && opened.content.toHex()).toBe(content.toHex());
    }),
    { numRuns: 300 },
  );
});

test('never opens a message in which one octet of the data was changed', () => {
  const whole = Buffer.from(message());
  const firstOfData = whole.length - dataPacket.body.length;
  fc.assert(
    fc.property(
      fc.integer({ min: firstOfData, max: whole.length - 1 }),
      fc.integer({ min: 1, max: 255 }),
      (at, flip) => {
        const changed = Buffer.from(whole);
        changed[at] = (changed[at] ?? 0) ^ flip;
        expect(decryptWithPassphrase(changed, utf8(passphrase)).is).not.toBe('opened');
      },
    ),
    { numRuns: 2000 },
  );
});
