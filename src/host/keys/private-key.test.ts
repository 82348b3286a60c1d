import { createPublicKey, generateKeyPairSync, type KeyObject, sign, verify } from 'node:crypto';
import { inspect } from 'node:util';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { type AppError, attempt } from '#base/errors.ts';
import { printPem, scanPem } from '#base/pem.ts';
import { parsePrivateKey } from './private-key.ts';
import { authorizedKey, checkStrength, publicKeyHash } from './public-key.ts';
import { toBigint, writeWire } from '#base/ssh-wire.ts';

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
const weakRsa = generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey;
const p224 = generateKeyPairSync('ec', { namedCurve: 'P-224' }).privateKey;
const p256 = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
const p384 = generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey;
const p521 = generateKeyPairSync('ec', { namedCurve: 'P-521' }).privateKey;
const ed25519 = generateKeyPairSync('ed25519').privateKey;

const pem = (key: KeyObject, type: 'pkcs1' | 'sec1' | 'pkcs8'): string => key.export({ format: 'pem', type });
const locked = (key: KeyObject, type: 'pkcs1' | 'sec1' | 'pkcs8'): string =>
  key.export({ format: 'pem', type, cipher: 'aes-128-cbc', passphrase: 'x' });
const derOf = (text: string): Uint8Array => scanPem(text).blocks[0]!.der;

const refusal = (text: string): AppError => {
  const result = attempt(() => parsePrivateKey(text));
  if (result.ok) throw new Error(`accepted a key of type ${result.value.publicKey.type}`);
  return result.error;
};

const readable: [name: string, key: KeyObject, text: string, type: string][] = [
  ['RSA in PKCS#1', rsa, pem(rsa, 'pkcs1'), 'ssh-rsa'],
  ['RSA in PKCS#8', rsa, pem(rsa, 'pkcs8'), 'ssh-rsa'],
  ['RSA 1024 in PKCS#1', weakRsa, pem(weakRsa, 'pkcs1'), 'ssh-rsa'],
  ['P-256 in SEC1', p256, pem(p256, 'sec1'), 'ecdsa-sha2-nistp256'],
  ['P-256 in PKCS#8', p256, pem(p256, 'pkcs8'), 'ecdsa-sha2-nistp256'],
  ['P-384 in SEC1', p384, pem(p384, 'sec1'), 'ecdsa-sha2-nistp384'],
  ['P-384 in PKCS#8', p384, pem(p384, 'pkcs8'), 'ecdsa-sha2-nistp384'],
  ['P-521 in SEC1', p521, pem(p521, 'sec1'), 'ecdsa-sha2-nistp521'],
  ['P-521 in PKCS#8', p521, pem(p521, 'pkcs8'), 'ecdsa-sha2-nistp521'],
  ['Ed25519 in PKCS#8', ed25519, pem(ed25519, 'pkcs8'), 'ssh-ed25519'],
];
for (const [name, key, text, type] of readable) {
  test(`reads ${name}`, () => {
    const parsed = parsePrivateKey(text);
    const digest = type === 'ssh-ed25519' ? null : 'sha512';
    const signature = sign(digest, Buffer.from('x'), parsed.signer);
    expect(parsed.publicKey).toEqual({ type, blob: publicBlob(key, type) });
    expect(verify(digest, Buffer.from('x'), createPublicKey(key), signature)).toBe(true);
    expect(parsed.pem.reveal()).toBe(text);
  });
}

/** Wire form of the public half, made from the JWK in the way the SSH standards say. */
function publicBlob(key: KeyObject, type: string): Uint8Array {
  const jwk = createPublicKey(key).export({ format: 'jwk' });
  const [n, e, x, y] = [jwk.n, jwk.e, jwk.x, jwk.y].map(part => Buffer.from(part ?? '', 'base64url')) as Buffer[];
  if (type === 'ssh-rsa') return writeWire(type, toBigint(e!), toBigint(n!));
  if (type === 'ssh-ed25519') return writeWire(type, x!);
  return writeWire(type, type.slice('ecdsa-sha2-'.length), Buffer.concat([Buffer.of(4), x!, y!]));
}

const opensshEd25519 = `-----BEGIN OPENSSH PRIVATE KEY-----
b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZWQyNTUx
OQAAACAJuTEAasUv78x5eHzmEuhvuow83n7gEaisQ+2qOTiXZgAAAIixcfZ4sXH2eAAAAAtzc2gt
ZWQyNTUxOQAAACAJuTEAasUv78x5eHzmEuhvuow83n7gEaisQ+2qOTiXZgAAAEC5iwdfX3yV3YRR
uJBQ6MrIsjW4k4JvzTrmZ+m9YwAN0gm5MQBqxS/vzHl4fOYS6G+6jDzefuARqKxD7ao5OJdmAAAA
AAECAwQF
-----END OPENSSH PRIVATE KEY-----
`;

test('reads an OpenSSH key as other programs do', () => {
  const { publicKey } = parsePrivateKey(opensshEd25519);
  expect(authorizedKey(publicKey)).toBe(
    'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAm5MQBqxS/vzHl4fOYS6G+6jDzefuARqKxD7ao5OJdm\n',
  );
  expect(publicKeyHash(publicKey)).toBe('be01d73bf1f93eaf4c0093537f6bbe1d143142ebb93b8653e4934e2330da3fcf');
});

const certificate = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
const parameters = '-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n';
const spellings: [name: string, text: string][] = [
  ['Windows line ends', pem(p256, 'pkcs8').replaceAll('\n', '\r\n')],
  ['no line end at the end', pem(p256, 'pkcs8').trimEnd()],
  ['text before and after', `Bag Attributes\n  name: x\n${pem(p256, 'pkcs8')}\nthe end`],
  ['a byte order mark', `\u{feff}${pem(p256, 'pkcs8')}`],
  ['a certificate in front', certificate + pem(p256, 'pkcs8')],
  ['the parameters openssl writes in front', parameters + pem(p256, 'sec1')],
  ['all in one line', pem(p256, 'pkcs8').replaceAll(/([A-Za-z0-9+/=]{60,})\n/g, '$1')],
  ['another key behind', pem(p256, 'pkcs8') + pem(rsa, 'pkcs1')],
  ['a damaged block behind', `${pem(p256, 'pkcs8')}-----BEGIN PRIVATE KEY-----\nAAAA`],
];
for (const [name, text] of spellings) {
  test(`tolerates ${name}`, () => {
    expect(parsePrivateKey(text).publicKey).toEqual(parsePrivateKey(pem(p256, 'pkcs8')).publicKey);
    expect(parsePrivateKey(text).pem.reveal()).toBe(text);
  });
}

const encrypted: [name: string, text: string][] = [
  ['PKCS#1', locked(rsa, 'pkcs1')],
  ['SEC1', locked(p256, 'sec1')],
  ['PKCS#8', locked(ed25519, 'pkcs8')],
  ['PKCS#8 with Windows line ends', locked(rsa, 'pkcs8').replaceAll('\n', '\r\n')],
];
for (const [name, text] of encrypted) {
  test(`says that a key in ${name} has a passphrase`, () => {
    expect(refusal(text)).toMatchObject({ code: 'PRIVATE_KEY_ENCRYPTED', message: /passphrase/ });
    expect(refusal(text).remedy).toContain('ssh-keygen -p');
  });
}

/** One DER element; contents are put one after another. */
function der(tag: number, ...contents: Uint8Array[]): Uint8Array {
  const content = Buffer.concat(contents);
  const length = content.length < 128 ? [content.length] : [0x82, content.length >> 8, content.length & 0xff];
  return Buffer.concat([Buffer.of(tag, ...length), content]);
}
const oid = (hex: string): Uint8Array => der(6, Uint8Array.fromHex(hex));
const integer = (value: number): Uint8Array => der(2, Uint8Array.of(value));
const pkcs8 = (algorithm: Uint8Array[], key: Uint8Array): string =>
  printPem('PRIVATE KEY', der(0x30, integer(0), der(0x30, ...algorithm), der(4, key)));
const hugeNumber = der(2, new Uint8Array(5000).fill(0x55));
const dsaParameters = der(0x30, integer(7), integer(3), integer(2));
const oids = {
  dsa: '2a8648ce380401',
  ec: '2a8648ce3d0201',
  rsa: '2a864886f70d010101',
  rsaPss: '2a864886f70d01010a',
  dh: '2a864886f70d010301',
  x25519: '2b656e',
  p224: '2b81040021',
  p256: '2a8648ce3d030107',
  secp256k1: '2b8104000a',
};
const otherCurveInside = der(0x30, integer(1), der(4, new Uint8Array(32).fill(1)), der(0xa0, oid(oids.secp256k1)));

const weak: [name: string, text: string, says: string][] = [
  ['DSA in its own format', printPem('DSA PRIVATE KEY', dsaParameters), 'DSA'],
  ['DSA in PKCS#8', pkcs8([oid(oids.dsa), dsaParameters], integer(5)), 'DSA'],
  ['DSA with numbers that would take minutes', pkcs8([oid(oids.dsa), der(0x30, hugeNumber)], hugeNumber), 'DSA'],
  ['P-224 in SEC1', pem(p224, 'sec1'), 'P-224'],
  ['P-224 in PKCS#8', pem(p224, 'pkcs8'), 'P-224'],
];
for (const [name, text, says] of weak)
  test(`recognizes ${name} and refuses it as weak`, () =>
    expect(refusal(text)).toMatchObject({ code: 'PUBLIC_KEY_WEAK', message: expect.stringContaining(says) }));

test('reads a small RSA key, so that its size can be named', () => {
  const { publicKey } = parsePrivateKey(pem(weakRsa, 'pkcs8'));
  expect(attempt(() => checkStrength(publicKey))).toMatchObject({
    ok: false,
    error: { message: expect.stringContaining('RSA key size is 1024 bits') },
  });
});

const unreadable: [name: string, text: string, says: string][] = [
  ['an empty text', '', 'no block'],
  ['a text that is no key', 'PEM', 'no block'],
  ['a key without its frame', derOf(pem(rsa, 'pkcs8')).toBase64(), 'no block'],
  ['a public key', createPublicKey(rsa).export({ format: 'pem', type: 'spki' }), 'no block'],
  ['a certificate', certificate, 'no block'],
  ['a line of authorized_keys', 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAm5', 'no block'],
  ['a key of PuTTY', 'PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\n', 'PuTTY'],
  ['a key without END line', pem(rsa, 'pkcs8').split('-----END')[0]!, 'line 1 has no END line'],
  ['a key with the wrong END line', pem(p256, 'sec1').replace('END EC', 'END RSA'), 'no END line'],
  ['a key that is not base64', pem(p256, 'sec1').replace('\nM', '\n*'), 'is not base64'],
  ['an empty block', '-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n', 'is not base64'],
  ['a string of megabytes', `${'x'.repeat(65_536)}${pem(p256, 'sec1')}`, '65536'],
  ['a block of many bytes', printPem('PRIVATE KEY', new Uint8Array(16_385)), '16384'],
  ['a block of another program', printPem('PGP PRIVATE KEY', Uint8Array.of(1)), 'PGP PRIVATE KEY'],
  ['PKCS#8 under the name of PKCS#1', printPem('RSA PRIVATE KEY', derOf(pem(p256, 'pkcs8'))), 'damaged'],
  ['PKCS#1 under the name of PKCS#8', printPem('PRIVATE KEY', derOf(pem(rsa, 'pkcs1'))), 'algorithm (none)'],
  ['PKCS#8 under the name of SEC1', printPem('EC PRIVATE KEY', derOf(pem(p256, 'pkcs8'))), 'damaged'],
  ['SEC1 under the name of PKCS#1', printPem('RSA PRIVATE KEY', derOf(pem(p256, 'sec1'))), 'damaged'],
  ['PKCS#1 under the name of SEC1', printPem('EC PRIVATE KEY', derOf(pem(rsa, 'pkcs1'))), 'damaged'],
  ['PKCS#1 under the name of OpenSSH', printPem('OPENSSH PRIVATE KEY', derOf(pem(rsa, 'pkcs1'))), 'OpenSSH'],
  ['an RSA key cut off', printPem('RSA PRIVATE KEY', derOf(pem(rsa, 'pkcs1')).subarray(0, -1)), 'damaged'],
  ['an RSA key that is no DER', printPem('RSA PRIVATE KEY', Uint8Array.of(1, 2, 3)), 'damaged'],
  ['PKCS#8 that is no DER', printPem('PRIVATE KEY', Uint8Array.of(1, 2, 3)), 'algorithm (none)'],
  ['an RSA key without content', pkcs8([oid(oids.rsa), der(5)], new Uint8Array()), 'damaged'],
  ['RSA-PSS', pkcs8([oid(oids.rsaPss)], derOf(pem(rsa, 'pkcs1'))), '1.2.840.113549.1.1.10'],
  ['X25519', pem(generateKeyPairSync('x25519').privateKey, 'pkcs8'), '1.3.101.110'],
  ['Ed448', pem(generateKeyPairSync('ed448').privateKey, 'pkcs8'), '1.3.101.113'],
  ['DH with numbers that would take minutes', pkcs8([oid(oids.dh), der(0x30, hugeNumber)], hugeNumber), '113549.1.3.1'],
  [
    'a curve SSH does not have',
    pem(generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).privateKey, 'sec1'),
    '1.3.132.0.10',
  ],
  ['a curve given by its equation', pkcs8([oid(oids.ec), der(0x30, integer(1))], integer(1)), 'curve (none)'],
  [
    'a curve inside that the outside contradicts',
    pkcs8([oid(oids.ec), oid(oids.p256)], otherCurveInside),
    'private key',
  ],
  ['SEC1 without curve', printPem('EC PRIVATE KEY', der(0x30, integer(1), der(4, new Uint8Array(32)))), 'curve (none)'],
];
for (const [name, text, says] of unreadable) {
  test(`cannot read ${name}`, () => {
    const error = refusal(text);
    expect(error).toMatchObject({ code: 'PRIVATE_KEY_UNREADABLE', message: expect.stringContaining(says) });
    expect(error.remedy).toContain('Ed25519');
  });
}

test('finds the public half of an EC key that lacks it', () => {
  const secret = Buffer.from(p256.export({ format: 'jwk' }).d ?? '', 'base64url');
  const bare = der(0x30, integer(1), der(4, secret), der(0xa0, oid(oids.p256)));
  expect(parsePrivateKey(printPem('EC PRIVATE KEY', bare)).publicKey).toEqual(
    parsePrivateKey(pem(p256, 'sec1')).publicKey,
  );
});

test('shows the key neither in JSON nor to a user who inspects it', () => {
  const parsed = parsePrivateKey(pem(ed25519, 'pkcs8'));
  const body = pem(ed25519, 'pkcs8').split('\n')[1] ?? '';
  for (const text of [JSON.stringify(parsed), inspect(parsed, { depth: 9, showHidden: true }), String(parsed.pem)])
    expect(text).not.toContain(body.slice(-20));
});

/** Every way in which a file gets damaged: characters replaced, left out, put in, lines cut off. */
const damage = (text: string): fc.Arbitrary<string> =>
  fc
    .tuple(fc.nat(text.length - 1), fc.nat(20), fc.string({ maxLength: 5 }), fc.boolean())
    .map(([at, drop, put, cut]) => (cut ? text.slice(0, at) + put : text.slice(0, at) + put + text.slice(at + drop)));
const expected = ['PRIVATE_KEY_UNREADABLE', 'PRIVATE_KEY_ENCRYPTED', 'PUBLIC_KEY_WEAK'];

test('parses a damaged file or throws an AppError that does not quote it', () => {
  const files = [...readable.map(([, , text]) => text), opensshEd25519, ...encrypted.map(([, text]) => text)];
  fc.assert(
    fc.property(
      fc.constantFrom(...files).chain(text => fc.tuple(fc.constant(text), damage(text))),
      ([whole, text]) => {
        const result = attempt(() => parsePrivateKey(text));
        if (result.ok) return;
        expect(expected).toContain(result.error.code);
        for (const line of whole.split('\n').filter(part => !part.includes('-')))
          if (line !== '') expect(result.error.message).not.toContain(line);
      },
    ),
    { numRuns: 2000 },
  );
});

test('handles any changed octet in a good frame with the same key or an AppError, in reasonable time', () => {
  const blocks = [...readable.map(([, , text]) => text), pem(p224, 'sec1')].map(text => scanPem(text).blocks[0]!);
  fc.assert(
    fc.property(fc.constantFrom(...blocks), fc.nat(), fc.nat(255), (block, at, octet) => {
      const changed = Buffer.from(block.der);
      changed[at % changed.length] = octet;
      const before = process.threadCpuUsage();
      const result = attempt(() => parsePrivateKey(printPem(block.type, changed)));
      const { user, system } = process.threadCpuUsage(before);
      expect((user + system) / 1000).toBeLessThan(500);
      if (!result.ok) expect(expected).toContain(result.error.code);
      // PKCS#8 holds nothing of an Ed25519 key but its seed, and every seed is a key.
      else if (result.value.publicKey.type !== 'ssh-ed25519')
        expect(result.value.publicKey).toEqual(parsePrivateKey(printPem(block.type, block.der)).publicKey);
    }),
    { numRuns: 2000 },
  );
});

test('handles arbitrary bytes in every kind of frame with an AppError', () => {
  const kinds = ['RSA PRIVATE KEY', 'EC PRIVATE KEY', 'PRIVATE KEY', 'DSA PRIVATE KEY', 'OPENSSH PRIVATE KEY'];
  fc.assert(
    fc.property(fc.constantFrom(...kinds), fc.uint8Array({ minLength: 1, maxLength: 100 }), (kind, bytes) => {
      expect(expected).toContain(refusal(printPem(kind, bytes)).code);
    }),
    { numRuns: 2000 },
  );
});
