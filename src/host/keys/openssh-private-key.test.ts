import { generateKeyPairSync, type KeyObject, sign, verify } from 'node:crypto';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { toBase64 } from '#base/bytes.ts';
import { attempt } from '#base/errors.ts';
import { printPem } from '#base/pem.ts';
import { type KeyParts, partsOfJwk, publicKeyOf } from './key-parts.ts';
import { readOpensshKey } from './openssh-private-key.ts';
import { parsePrivateKey } from './private-key.ts';
import { authorizedKey } from './public-key.ts';
import { writeWire } from '#base/ssh-wire.ts';

type Field = string | Uint8Array | bigint;

interface Container {
  magic: string;
  cipher: string;
  kdf: string;
  count: number;
  publicBlob: Uint8Array;
  checks: [number, number];
  type: string;
  fields: Field[];
  padding: number[];
  tail: number[];
}

const uint32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};

/** Writes the container as ssh-keygen does; every part can be given otherwise. */
function writeContainer(parts: KeyParts, changes: Partial<Container> = {}): Uint8Array {
  const { type, blob } = publicKeyOf(parts);
  const whole: Container = {
    magic: 'openssh-key-v1\0',
    cipher: 'none',
    kdf: 'none',
    count: 1,
    publicBlob: blob,
    checks: [7, 7],
    type,
    fields: privateFields(parts),
    padding: [1, 2, 3],
    tail: [],
    ...changes,
  };
  const secret = Buffer.concat([
    ...whole.checks.map(uint32),
    writeWire(whole.type, ...whole.fields, 'comment'),
    Buffer.from(whole.padding),
  ]);
  return Buffer.concat([
    Buffer.from(whole.magic),
    writeWire(whole.cipher, whole.kdf, ''),
    uint32(whole.count),
    writeWire(whole.publicBlob, secret),
    Buffer.from(whole.tail),
  ]);
}

function privateFields(parts: KeyParts): Field[] {
  if (parts.kind === 'rsa') return [parts.n, parts.e, parts.d, parts.qInverse, parts.p, parts.q];
  if (parts.kind === 'ec') return [parts.curve.ssh, parts.point, parts.d];
  return [parts.point, Buffer.concat([parts.seed, parts.point])];
}

const generated: [type: string, key: KeyObject][] = [
  ['ssh-rsa', generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey],
  ['ecdsa-sha2-nistp256', generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey],
  ['ecdsa-sha2-nistp384', generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey],
  ['ecdsa-sha2-nistp521', generateKeyPairSync('ec', { namedCurve: 'P-521' }).privateKey],
  ['ssh-ed25519', generateKeyPairSync('ed25519').privateKey],
];
const partsOf = (key: KeyObject): KeyParts => partsOfJwk(key.export({ format: 'jwk' }));
const byType = new Map(generated.map(([type, key]) => [type, partsOf(key)]));
const rsa = byType.get('ssh-rsa') as Extract<KeyParts, { kind: 'rsa' }>;
const ec = byType.get('ecdsa-sha2-nistp256') as Extract<KeyParts, { kind: 'ec' }>;
const ed25519 = byType.get('ssh-ed25519') as Extract<KeyParts, { kind: 'ed25519' }>;
const otherEd25519 = partsOf(generateKeyPairSync('ed25519').privateKey) as typeof ed25519;

for (const [type, original] of generated) {
  test(`reads an OpenSSH key of type ${type} as the same key in PKCS#8`, () => {
    const ssh = parsePrivateKey(printPem('OPENSSH PRIVATE KEY', writeContainer(partsOf(original))));
    const pkcs8 = parsePrivateKey(original.export({ format: 'pem', type: 'pkcs8' }));
    expect(ssh.publicKey).toEqual(pkcs8.publicKey);
    expect(ssh.publicKey.type).toBe(type);
    const digest = type === 'ssh-ed25519' ? null : 'sha512';
    expect(verify(digest, Buffer.from('x'), original, sign(digest, Buffer.from('x'), ssh.signer))).toBe(true);
  });
}

/** Made with ssh-keygen of OpenSSH 9.2 for these tests; they open nothing. */
const fromSshKeygen: [secret: string, line: string][] = [
  [
    'b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZWQyNTUxOQAAACAiSTZkzyq6yaiBaUUX58wCbzMqAnbPhGVjCZkGbhg0cAAAAJjaXUqt2l1KrQAAAAtzc2gtZWQyNTUxOQAAACAiSTZkzyq6yaiBaUUX58wCbzMqAnbPhGVjCZkGbhg0cAAAAECqJnqUOlXHcpMSXouN8ZV1SGFfj3MYBgkxQKO2ccGVmiJJNmTPKrrJqIFpRRfnzAJvMyoCds+EZWMJmQZuGDRwAAAADm1hZGUgZm9yIHRlc3RzAQIDBAUGBw==',
    'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAICJJNmTPKrrJqIFpRRfnzAJvMyoCds+EZWMJmQZuGDRw',
  ],
  [
    'b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAaAAAABNlY2RzYS1zaGEyLW5pc3RwMjU2AAAACG5pc3RwMjU2AAAAQQQTx3St8x5zKBcOFU5heiYqcP49abY+Ybl0aJos7Kd8D0G4kDKFQCtcXlTYhcWqe/5ixjub6o8CLS9HlbX4HEatAAAAqMDELvbAxC72AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBBPHdK3zHnMoFw4VTmF6Jipw/j1ptj5huXRomizsp3wPQbiQMoVAK1xeVNiFxap7/mLGO5vqjwItL0eVtfgcRq0AAAAhAOBI8bmHI2kx2JiTJFRKmOsiB33bdbo3OPy7h1MITyjsAAAADm1hZGUgZm9yIHRlc3RzAQ==',
    'ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBBPHdK3zHnMoFw4VTmF6Jipw/j1ptj5huXRomizsp3wPQbiQMoVAK1xeVNiFxap7/mLGO5vqjwItL0eVtfgcRq0=',
  ],
  [
    'b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAiAAAABNlY2RzYS1zaGEyLW5pc3RwMzg0AAAACG5pc3RwMzg0AAAAYQRZDJ8fkGX630ugWuf7mcNjDKYvFqxbXPDyX9a3i2MShi5/zPuYDZl3BBao4sRYfjHawwZvX1It5LJ7Ug+dou8HOmZu9qSniN8NqKQcpOvrzwvB1uu0wJ3hwXKAjK7nVQEAAADYOjfKQjo3ykIAAAATZWNkc2Etc2hhMi1uaXN0cDM4NAAAAAhuaXN0cDM4NAAAAGEEWQyfH5Bl+t9LoFrn+5nDYwymLxasW1zw8l/Wt4tjEoYuf8z7mA2ZdwQWqOLEWH4x2sMGb19SLeSye1IPnaLvBzpmbvakp4jfDaikHKTr688LwdbrtMCd4cFygIyu51UBAAAAMF92e2DeJpzBAGwsaRXDU4l9vtYL/JZeV+uM98r8IdB+00acYAww9wK++yMHhxJaJgAAAA5tYWRlIGZvciB0ZXN0cwEC',
    'ecdsa-sha2-nistp384 AAAAE2VjZHNhLXNoYTItbmlzdHAzODQAAAAIbmlzdHAzODQAAABhBFkMnx+QZfrfS6Ba5/uZw2MMpi8WrFtc8PJf1reLYxKGLn/M+5gNmXcEFqjixFh+MdrDBm9fUi3ksntSD52i7wc6Zm72pKeI3w2opByk6+vPC8HW67TAneHBcoCMrudVAQ==',
  ],
];
for (const [secret, line] of fromSshKeygen) {
  test(`reads a key of ssh-keygen: ${line.split(' ')[0]}`, () => {
    const pem = printPem('OPENSSH PRIVATE KEY', Uint8Array.fromBase64(secret));
    expect(authorizedKey(parsePrivateKey(pem).publicKey)).toBe(`${line}\n`);
  });
}

const dsaBlob = writeWire('ssh-dss', 2n ** 1023n, 2n ** 159n, 5n, 7n);
const cases: [name: string, bytes: Uint8Array, code: string, says: string][] = [
  ['a passphrase', writeContainer(rsa, { cipher: 'aes256-ctr', kdf: 'bcrypt' }), 'PRIVATE_KEY_ENCRYPTED', 'passphrase'],
  [
    'a passphrase and an authentication tag',
    writeContainer(rsa, { cipher: 'aes256-gcm@openssh.com', tail: Array(16).fill(1) as number[] }),
    'PRIVATE_KEY_ENCRYPTED',
    'passphrase',
  ],
  ['DSA', writeContainer(rsa, { publicBlob: dsaBlob }), 'PUBLIC_KEY_WEAK', 'DSA'],
  ['an empty content', new Uint8Array(), 'PRIVATE_KEY_UNREADABLE', 'OpenSSH format'],
  ['another magic', writeContainer(rsa, { magic: 'openssh-key-v2\0' }), 'PRIVATE_KEY_UNREADABLE', 'OpenSSH format'],
  ['no key inside', writeContainer(rsa, { count: 0 }), 'PRIVATE_KEY_UNREADABLE', 'OpenSSH format'],
  ['two keys inside', writeContainer(rsa, { count: 2 }), 'PRIVATE_KEY_UNREADABLE', 'OpenSSH format'],
  ['bytes left over', writeContainer(rsa, { tail: [0] }), 'PRIVATE_KEY_UNREADABLE', 'OpenSSH format'],
  ['a cut', writeContainer(rsa).subarray(0, -1), 'PRIVATE_KEY_UNREADABLE', 'OpenSSH format'],
  [
    'an empty public half',
    writeContainer(rsa, { publicBlob: new Uint8Array() }),
    'PRIVATE_KEY_UNREADABLE',
    'public half',
  ],
  [
    'a security key',
    writeContainer(rsa, { publicBlob: writeWire('sk-ssh-ed25519@openssh.com', new Uint8Array(32), 'ssh:') }),
    'PRIVATE_KEY_UNREADABLE',
    'sk-ssh-ed25519@openssh.com',
  ],
  ['check numbers that differ', writeContainer(rsa, { checks: [1, 2] }), 'PRIVATE_KEY_UNREADABLE', 'private half'],
  ['two types', writeContainer(rsa, { type: 'ssh-ed25519' }), 'PRIVATE_KEY_UNREADABLE', 'private half'],
  ['wrong padding', writeContainer(rsa, { padding: [1, 2, 4] }), 'PRIVATE_KEY_UNREADABLE', 'private half'],
  ['padding that begins at zero', writeContainer(rsa, { padding: [0] }), 'PRIVATE_KEY_UNREADABLE', 'private half'],
  ['too few numbers', writeContainer(rsa, { fields: [rsa.n, rsa.e] }), 'PRIVATE_KEY_UNREADABLE', 'private half'],
  [
    'a curve that the type contradicts',
    writeContainer(ec, { fields: ['nistp384', ec.point, ec.d] }),
    'PRIVATE_KEY_UNREADABLE',
    'private half',
  ],
  [
    'an Ed25519 seed without point',
    writeContainer(ed25519, { fields: [ed25519.point, ed25519.seed] }),
    'PRIVATE_KEY_UNREADABLE',
    'private half',
  ],
  [
    'an Ed25519 secret with the point of another key',
    writeContainer(ed25519, { fields: [ed25519.point, Buffer.concat([ed25519.seed, otherEd25519.point])] }),
    'PRIVATE_KEY_UNREADABLE',
    'private half',
  ],
  [
    'the public half of another key',
    writeContainer(ed25519, { publicBlob: publicKeyOf(otherEd25519).blob }),
    'PRIVATE_KEY_UNREADABLE',
    'public half of another key',
  ],
];
for (const [name, bytes, code, says] of cases) {
  test(`rejects ${name}`, () => {
    const result = attempt(() => readOpensshKey(bytes));
    expect(result).toMatchObject({ ok: false, error: { code, message: expect.stringContaining(says) } });
    expect(result.ok || result.error.remedy).not.toBe('');
  });
}

test('rejects a seed that does not make the point', () => {
  const fields = [ed25519.point, Buffer.concat([otherEd25519.seed, ed25519.point])];
  const pem = printPem('OPENSSH PRIVATE KEY', writeContainer(ed25519, { fields }));
  expect(attempt(() => parsePrivateKey(pem))).toMatchObject({ ok: false, error: { code: 'PRIVATE_KEY_UNREADABLE' } });
});

test('needs no padding', () => {
  expect(readOpensshKey(writeContainer(ed25519, { padding: [] }))).toMatchObject({ kind: 'ed25519' });
});

test('handles any change of the bytes with the same key or an AppError', () => {
  const containers = [...byType.values()].map(parts => writeContainer(parts));
  const change = fc.tuple(fc.constantFrom(...containers), fc.nat(), fc.nat(255), fc.nat(3));
  fc.assert(
    fc.property(change, ([bytes, at, octet, cut]) => {
      const changed = Buffer.from(bytes.subarray(0, bytes.length - (octet % 7 === 0 ? cut : 0)));
      changed[at % changed.length] = octet;
      const result = attempt(() => parsePrivateKey(printPem('OPENSSH PRIVATE KEY', changed)));
      if (!result.ok) expect(result.error.message).not.toContain(toBase64(bytes.subarray(-30)));
      else
        expect(result.value.publicKey).toMatchObject(publicKeyOf(byType.get(result.value.publicKey.type) as KeyParts));
    }),
    { numRuns: 2000 },
  );
});

test('handles arbitrary bytes after the magic with an AppError', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), bytes => {
      const result = attempt(() => readOpensshKey(Buffer.concat([Buffer.from('openssh-key-v1\0'), bytes])));
      expect(result.ok).toBe(false);
    }),
    { numRuns: 2000 },
  );
});
