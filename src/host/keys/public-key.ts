import { fromBase64, toBase64 } from '#base/bytes.ts';
import { AppError } from '#base/errors.ts';
import { sha256 } from '#base/sha256.ts';
import { readWire, type WireReader } from './ssh-wire.ts';

export interface PublicKey {
  /** SSH name of the key type, such as `ssh-ed25519`. */
  type: string;
  /** The key in SSH wire format, which begins with the type. */
  blob: Uint8Array;
}

/** A line of an authorized_keys file without options; a comment and a line end are tolerated. */
export function parseAuthorizedKey(line: string): PublicKey {
  const text = line.trim();
  if (text.length > maxLineLength) throw unreadable(`is longer than ${maxLineLength} characters`);
  if (/[\r\n]/.test(text)) throw unreadable('has more than one line');
  const [type = '', base64 = ''] = text.split(/[ \t]+/);
  const blob = fromBase64(base64);
  const key = blob === undefined ? undefined : readPublicKey(blob);
  if (key === undefined) throw unreadable('is not of the form "<type> <base64>"');
  if (key.type !== type) throw unreadable('says one type in its first word and another in its content');
  return key;
}

/** The line as it stands in an authorized_keys file, with its line end. */
export function authorizedKey(key: PublicKey): string {
  return `${bareLine(key)}\n`;
}

/** Value of the annotation pub-key-hash; clusters in use rely on every byte of it. */
export function publicKeyHash(key: PublicKey): string {
  return sha256(bareLine(key));
}

/** Refuses keys nobody should rely on any more, and types whose strength we cannot judge. */
export function checkStrength(key: PublicKey): void {
  const why = weakTypes.get(key.type);
  if (why !== undefined) throw weakKey(why);
  if (key.type === 'ssh-rsa') checkRsaSize(key);
  else if (!structures.has(key.type)) throw weakKey(`the key type ${JSON.stringify(key.type)} is unknown`);
}

export function weakKey(why: string): AppError {
  return new AppError('PUBLIC_KEY_WEAK', `The public key is too weak: ${why}`, {
    remedy: 'Make a new Ed25519, ECDSA P-256 or RSA key of at least 2048 bits and use it instead.',
  });
}

/** Reads a key in wire format. Of known types the whole structure is checked, of others only that they begin with a name. */
export function readPublicKey(blob: Uint8Array): PublicKey | undefined {
  return readWire(blob, reader => {
    const type = reader.text();
    reader.insist(/^[a-z0-9][a-z0-9@.-]{0,63}$/.test(type));
    (structures.get(type) ?? skipContent)(reader);
    return { type, blob };
  });
}

/** Types that OpenSSH servers and clients use, without certificates and security keys. */
export function isKnownType(type: string): boolean {
  return structures.has(type);
}

const maxLineLength = 16_384;
const smallCurve = 'the curve P-224 is too small';

const weakTypes: ReadonlyMap<string, string> = new Map([
  ['ssh-dss', 'DSA keys have only 1024 bits and are refused by today’s SSH servers'],
  ['ecdsa-sha2-nistp224', smallCurve],
  ['ecdsa-sha2-1.3.132.0.33', smallCurve],
]);

const structures: ReadonlyMap<string, (reader: WireReader) => void> = new Map([
  ['ssh-rsa', (reader: WireReader) => skipNumbers(reader, 2)],
  ['ssh-dss', (reader: WireReader) => skipNumbers(reader, 4)],
  ['ssh-ed25519', (reader: WireReader) => reader.insist(reader.string().length === 32)],
  ['ecdsa-sha2-nistp256', (reader: WireReader) => checkPoint(reader, 'nistp256', 32)],
  ['ecdsa-sha2-nistp384', (reader: WireReader) => checkPoint(reader, 'nistp384', 48)],
  ['ecdsa-sha2-nistp521', (reader: WireReader) => checkPoint(reader, 'nistp521', 66)],
]);

function skipContent(reader: WireReader): void {
  reader.rest();
}

function skipNumbers(reader: WireReader, count: number): void {
  for (let index = 0; index < count; index += 1) reader.mpint();
}

function checkPoint(reader: WireReader, curve: string, size: number): void {
  reader.insist(reader.text() === curve);
  const point = reader.string();
  reader.insist(point.length === 1 + 2 * size && point[0] === 4);
}

function checkRsaSize(key: PublicKey): void {
  const modulus = readWire(key.blob, reader => {
    reader.text();
    reader.mpint();
    return reader.mpint();
  });
  if (modulus === undefined) throw unreadable('is no RSA key although it says so');
  const bits = modulus.toString(2).length;
  if (bits < 2048) throw weakKey(`RSA key size is ${bits} bits`);
}

function bareLine(key: PublicKey): string {
  return `${key.type} ${toBase64(key.blob)}`;
}

// The line is never shown: people have been seen to paste the private key instead.
function unreadable(why: string): AppError {
  return new AppError('PUBLIC_KEY_UNREADABLE', `The public key ${why}`, {
    remedy: 'Give one line as ssh-keygen writes it into a .pub file.',
  });
}
