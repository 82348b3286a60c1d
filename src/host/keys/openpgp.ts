import { createCipheriv, createDecipheriv, createHash, hash, randomBytes } from 'node:crypto';
import { sameBytes } from '#base/bytes.ts';
import { packetTag, readPackets, writePacket } from './openpgp-packets.ts';

export type Opened = { is: 'opened'; content: Uint8Array } | { is: 'wrong key' } | { is: 'damaged'; why: string };

/**
 * Encrypts with a passphrase as `gpg -c` does: a random session key under a key derived from the passphrase, and the
 * data under the session key. Algorithms and parameters are those of the annotations in existing clusters.
 */
export function encryptWithPassphrase(content: Uint8Array, passphrase: Uint8Array): Uint8Array {
  const salt = randomBytes(saltSize);
  const sessionKey = randomBytes(aes128.keySize);
  const keyKey = deriveKey({ digest: 'sha256', salt, count: countOf(ourCountOctet) }, passphrase, aes128.keySize);
  const wrappedKey = encryptCfb(aes128, keyKey, Buffer.concat([Buffer.of(aes128.id), sessionKey]));
  const header = Buffer.of(skeskVersion, aes128.id, iteratedSalted, sha256Id);
  return Buffer.concat([
    writePacket(packetTag.encryptedSessionKey, Buffer.concat([header, salt, Buffer.of(ourCountOctet), wrappedKey])),
    writePacket(packetTag.encryptedData, sealData(writePacket(packetTag.literal, literalBody(content)), sessionKey)),
  ]);
}

/** Decrypts messages of this operator and of other OpenPGP programs that use AES and a passphrase. */
export function decryptWithPassphrase(message: Uint8Array, passphrase: Uint8Array): Opened {
  const packets = readPackets(message) ?? [];
  const [session, data] = packets;
  const isExpected =
    packets.length === 2 &&
    session?.tag === packetTag.encryptedSessionKey &&
    data?.tag === packetTag.encryptedData &&
    data.body[0] === seipdVersion;
  if (!isExpected) return damaged('it is not an OpenPGP message encrypted with a passphrase');
  const envelope = readSessionPacket(session.body);
  if (typeof envelope === 'string') return damaged(envelope);
  const sessionKey = unwrapSessionKey(envelope, passphrase);
  return sessionKey === undefined ? { is: 'wrong key' } : openData(data.body.subarray(1), sessionKey);
}

interface Cipher {
  id: number;
  name: string;
  keySize: number;
}

const aes128: Cipher = { id: 7, name: 'aes-128-cfb', keySize: 16 };
const ciphers = [aes128, { id: 8, name: 'aes-192-cfb', keySize: 24 }, { id: 9, name: 'aes-256-cfb', keySize: 32 }];

const sha256Id = 8;
/** Digests at least as long as the longest key, so that one run yields a whole key. */
const digests: ReadonlyMap<number | undefined, string> = new Map([
  [sha256Id, 'sha256'],
  [9, 'sha384'],
  [10, 'sha512'],
]);

const skeskVersion = 4;
const seipdVersion = 1;
const iteratedSalted = 3;
const saltSize = 8;
const ourCountOctet = 0x60;
/** 16 MiB, the highest default of OpenPGP libraries; a higher count would only cost time. */
const maxCountOctet = 0xe0;
const blockSize = 16;
const zeroBlock = Buffer.alloc(blockSize);
/** Header of the packet at the end of the data, whose body is the SHA-1 of all before it. */
const mdcHeader = Buffer.of(0xc0 | packetTag.mdc, 20);
const mdcSize = mdcHeader.length + 20;

interface PassphraseHash {
  digest: string;
  salt: Uint8Array;
  /** How many octets of salt and passphrase, repeated, are hashed. */
  count: number;
}

function countOf(octet: number): number {
  return (16 + (octet & 15)) << ((octet >> 4) + 6);
}

function deriveKey({ digest, salt, count }: PassphraseHash, passphrase: Uint8Array, size: number): Uint8Array {
  const once = Buffer.concat([salt, passphrase]);
  const many = Buffer.alloc(once.length * Math.ceil(65_536 / once.length), once);
  const running = createHash(digest);
  let left = Math.max(count, once.length);
  for (; left > many.length; left -= many.length) running.update(many);
  return running.update(many.subarray(0, left)).digest().subarray(0, size);
}

interface Envelope {
  cipher: Cipher;
  passphraseHash: PassphraseHash;
  /** Empty when the key derived from the passphrase is itself the session key. */
  wrappedKey: Uint8Array;
}

/** Reads the body of the session key packet; a string is the problem. */
function readSessionPacket(body: Uint8Array): Envelope | string {
  const [version, cipherId, s2k, digestId] = body;
  const cipher = ciphers.find(({ id }) => id === cipherId);
  const digest = digests.get(digestId);
  const count = body[4 + saltSize];
  if (version !== skeskVersion || s2k !== iteratedSalted || cipher === undefined || digest === undefined) {
    return 'it uses unsupported algorithms';
  }
  if (count === undefined) return 'it is truncated';
  if (count > maxCountOctet) return 'its iteration count is too high';
  const salt = body.subarray(4, 4 + saltSize);
  return { cipher, passphraseHash: { digest, salt, count: countOf(count) }, wrappedKey: body.subarray(5 + saltSize) };
}

interface SessionKey {
  cipher: Cipher;
  key: Uint8Array;
}

/** Undefined when the unwrapped bytes are not a key, as with a wrong passphrase. */
function unwrapSessionKey(
  { cipher, passphraseHash, wrappedKey }: Envelope,
  passphrase: Uint8Array,
): SessionKey | undefined {
  const keyKey = deriveKey(passphraseHash, passphrase, cipher.keySize);
  if (wrappedKey.length === 0) return { cipher, key: keyKey };
  const unwrapped = decryptCfb(cipher, keyKey, wrappedKey);
  const inner = ciphers.find(({ id, keySize }) => id === unwrapped[0] && keySize === unwrapped.length - 1);
  return inner === undefined ? undefined : { cipher: inner, key: unwrapped.subarray(1) };
}

function sealData(packets: Uint8Array, key: Uint8Array): Uint8Array {
  const prefix = randomBytes(blockSize);
  const plain = Buffer.concat([prefix, prefix.subarray(-2), packets, mdcHeader]);
  const sealed = encryptCfb(aes128, key, Buffer.concat([plain, sha1(plain)]));
  return Buffer.concat([Buffer.of(seipdVersion), sealed]);
}

function openData(sealed: Uint8Array, { cipher, key }: SessionKey): Opened {
  const plain = decryptCfb(cipher, key, sealed);
  if (plain.length < blockSize + 2 + mdcSize) return damaged('it is truncated');
  const repeated = plain.subarray(blockSize - 2, blockSize);
  if (!sameBytes(repeated, plain.subarray(blockSize, blockSize + 2))) return { is: 'wrong key' };
  const hashed = plain.subarray(0, -20);
  const isIntact =
    sameBytes(hashed.subarray(-mdcHeader.length), mdcHeader) && sameBytes(sha1(hashed), plain.subarray(-20));
  if (!isIntact) return damaged('it was altered');
  return readLiteral(plain.subarray(blockSize + 2, -mdcSize));
}

function readLiteral(bytes: Uint8Array): Opened {
  const packets = readPackets(bytes) ?? [];
  const [literal] = packets;
  if (literal?.tag === packetTag.compressed) return damaged('its content is compressed');
  // Format octet, length of the file name, the name, four octets of date.
  const start = 2 + (literal?.body[1] ?? 0) + 4;
  if (packets.length !== 1 || literal?.tag !== packetTag.literal || literal.body.length < start) {
    return damaged('its content is not a single literal packet');
  }
  return { is: 'opened', content: literal.body.subarray(start) };
}

/** Text format, without file name and date. */
function literalBody(content: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from('t'), Buffer.alloc(5), content]);
}

function encryptCfb(cipher: Cipher, key: Uint8Array, plain: Uint8Array): Uint8Array {
  return createCipheriv(cipher.name, key, zeroBlock).update(plain);
}

function decryptCfb(cipher: Cipher, key: Uint8Array, sealed: Uint8Array): Uint8Array {
  return createDecipheriv(cipher.name, key, zeroBlock).update(sealed);
}

function sha1(bytes: Uint8Array): Uint8Array {
  return hash('sha1', bytes, 'buffer');
}

function damaged(why: string): Opened {
  return { is: 'damaged', why };
}
