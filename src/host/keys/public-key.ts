import { fromBase64 } from '#base/bytes.ts';
import { AppError } from '#base/errors.ts';
import { sha256 } from '#base/sha256.ts';
import { isKnownType, printPublicKey, type PublicKey, readPublicKey } from '#base/ssh-public-key.ts';
import { readWire } from '#base/ssh-wire.ts';

export { printPublicKey, type PublicKey } from '#base/ssh-public-key.ts';

/** Parses a line of an authorized_keys file without options; a comment and a line end are allowed. */
export function parseAuthorizedKey(line: string): PublicKey {
  const text = line.trim();
  if (text.length > maxLineLength) throw unreadable(`is longer than ${maxLineLength} characters`);
  if (/[\r\n]/.test(text)) throw unreadable('has more than one line');
  const [type = '', base64 = ''] = text.split(/[ \t]+/);
  const blob = fromBase64(base64);
  const key = blob === undefined ? undefined : readPublicKey(blob);
  if (key === undefined) throw unreadable('is not of the form "<type> <base64>"');
  if (key.type !== type) throw unreadable('has one type in its first word and another in its content');
  return key;
}

/** A line of an authorized_keys file, with its line end. */
export function authorizedKey(key: PublicKey): string {
  return `${printPublicKey(key)}\n`;
}

/** As ssh-keygen prints it. */
export function fingerprint(key: PublicKey): string {
  return `SHA256:${Uint8Array.fromHex(sha256(key.blob)).toBase64({ omitPadding: true })}`;
}

export function describeKey(key: PublicKey): string {
  return `${key.type} ${fingerprint(key)}`;
}

/** Value of the annotation pub-key-hash; existing clusters depend on it. */
export function publicKeyHash(key: PublicKey): string {
  return sha256(printPublicKey(key));
}

/** Rejects weak keys, and types of unknown strength. */
export function checkStrength(key: PublicKey): void {
  const why = weakTypes.get(key.type);
  if (why !== undefined) throw weakKey(why);
  if (key.type === 'ssh-rsa') checkRsaSize(key);
  else if (!isKnownType(key.type)) throw weakKey(`the key type ${JSON.stringify(key.type)} is unknown`);
}

export function weakKey(why: string): AppError {
  return new AppError('PUBLIC_KEY_WEAK', `The public key is too weak: ${why}`, {
    remedy: 'Create another key, for example with `ssh-keygen -t ed25519`; RSA needs at least 2048 bits.',
  });
}

const maxLineLength = 16_384;
const smallCurve = 'the curve P-224 is too small';

const weakTypes: ReadonlyMap<string, string> = new Map([
  ['ssh-dss', 'DSA keys have only 1024 bits and are rejected by SSH servers'],
  ['ecdsa-sha2-nistp224', smallCurve],
  ['ecdsa-sha2-1.3.132.0.33', smallCurve],
]);

function checkRsaSize(key: PublicKey): void {
  const modulus = readWire(key.blob, reader => {
    reader.text();
    reader.mpint();
    return reader.mpint();
  });
  if (modulus === undefined) throw unreadable('is not an RSA key although its type is ssh-rsa');
  const bits = modulus.toString(2).length;
  if (bits < 2048) throw weakKey(`RSA key size is ${bits} bits`);
}

// The line is never shown: it may be a private key that was pasted by mistake.
function unreadable(why: string): AppError {
  return new AppError('PUBLIC_KEY_UNREADABLE', `The public key ${why}`, {
    remedy: 'Use one line as ssh-keygen writes it to a .pub file.',
  });
}
