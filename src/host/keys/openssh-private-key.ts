import { sameBytes } from '#base/bytes.ts';
import { AppError } from '#base/errors.ts';
import { type Curve, curves } from '#base/ssh-curves.ts';
import { type KeyParts, publicKeyOf, unreadableKey } from './key-parts.ts';
import { readPublicKey } from '#base/ssh-public-key.ts';
import { weakKey } from './public-key.ts';
import { readWire, type WireReader } from '#base/ssh-wire.ts';

/** Reads the content of a block `OPENSSH PRIVATE KEY`, the format of ssh-keygen, which node:crypto cannot read. */
export function readOpensshKey(bytes: Uint8Array): KeyParts {
  const container = readWire(bytes, readContainer);
  if (container === undefined) throw unreadableKey('is not in the OpenSSH format although its header says so');
  if (container.cipher !== 'none') throw encryptedKey();
  const type = readPublicKey(container.publicBlob)?.type;
  if (type === undefined) throw unreadableKey('has a damaged public half');
  if (type === 'ssh-dss') throw weakKey('it is a DSA key');
  const readParts = partReaders.get(type);
  if (readParts === undefined) throw unreadableKey(`has the unsupported type ${type}`);
  const parts = readWire(container.privateSection, reader => readPrivateSection(reader, type, readParts));
  if (parts === undefined) throw unreadableKey('has a damaged private half');
  if (!sameBytes(publicKeyOf(parts).blob, container.publicBlob))
    throw unreadableKey('has a public half of another key');
  return parts;
}

export function encryptedKey(): AppError {
  return new AppError('PRIVATE_KEY_ENCRYPTED', 'The private key is protected by a passphrase', {
    remedy: 'Remove the passphrase with `ssh-keygen -p -N "" -f <file>`; the Secret protects the key.',
  });
}

const magic = new TextEncoder().encode('openssh-key-v1\0');

interface Container {
  cipher: string;
  publicBlob: Uint8Array;
  privateSection: Uint8Array;
}

function readContainer(reader: WireReader): Container {
  reader.require(sameBytes(reader.bytes(magic.length), magic));
  const cipher = reader.text();
  reader.string(); // name of the key derivation
  reader.string(); // its options
  reader.require(reader.uint32() === 1);
  const [publicBlob, privateSection] = [reader.string(), reader.string()];
  // An encrypted private section is followed by the cipher's authentication tag.
  if (cipher !== 'none') reader.rest();
  return { cipher, publicBlob, privateSection };
}

type PartReader = (reader: WireReader) => KeyParts;

const partReaders: ReadonlyMap<string, PartReader> = new Map([
  ['ssh-rsa', readRsa],
  ['ssh-ed25519', readEd25519],
  ...curves.map(curve => [`ecdsa-sha2-${curve.ssh}`, (reader: WireReader) => readEc(reader, curve)] as const),
]);

function readPrivateSection(reader: WireReader, type: string, readParts: PartReader): KeyParts {
  // OpenSSH compares two equal numbers to detect a wrong passphrase; here a difference is damage.
  reader.require(reader.uint32() === reader.uint32());
  reader.require(reader.text() === type);
  const parts = readParts(reader);
  reader.string(); // comment
  reader.require(reader.rest().every((octet, index) => octet === index + 1));
  return parts;
}

function readRsa(reader: WireReader): KeyParts {
  const [n, e, d] = [reader.mpint(), reader.mpint(), reader.mpint()];
  const [qInverse, p, q] = [reader.mpint(), reader.mpint(), reader.mpint()];
  return { kind: 'rsa', n, e, d, p, q, qInverse };
}

function readEc(reader: WireReader, curve: Curve): KeyParts {
  reader.require(reader.text() === curve.ssh);
  return { kind: 'ec', curve, point: reader.string(), d: reader.mpint() };
}

function readEd25519(reader: WireReader): KeyParts {
  const point = reader.string();
  const secret = reader.string();
  reader.require(secret.length === 64 && sameBytes(secret.subarray(32), point));
  return { kind: 'ed25519', seed: secret.subarray(0, 32), point };
}
