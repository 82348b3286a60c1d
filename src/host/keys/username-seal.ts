import { fromBase64, fromUtf8, toBase64 } from '#base/bytes.ts';
import { AppError } from '#base/errors.ts';
import { decryptWithPassphrase, encryptWithPassphrase } from './openpgp.ts';

/** The whole text of the private key, used as the passphrase; undefined when there is none. */
export type SealKey = string | Uint8Array | undefined;

/** Value of the username annotation: OpenPGP in ASCII armor without its frame, line ends replaced by a marker. */
export function sealUsername(username: string, key: SealKey): string {
  const message = encryptWithPassphrase(Buffer.from(username), keyBytes(key, 'encrypted'));
  const lines = toBase64(message).match(/.{1,64}/g) ?? [];
  return [...lines, `=${toBase64(crc24(message))}`].join(lineMarker);
}

/** Reverse of `sealUsername`; also reads annotations of old versions, which kept the frame or the line ends. */
export function openUsername(annotation: string, key: SealKey): string {
  const passphrase = keyBytes(key, 'decrypted');
  if (annotation.length > maxAnnotationLength) throw unreadable(`it has more than ${maxAnnotationLength} characters`);
  const opened = decryptWithPassphrase(unarmor(annotation), passphrase);
  if (opened.is === 'opened') return textOf(opened.content);
  if (opened.is === 'damaged') throw unreadable(opened.why);
  throw new AppError('USERNAME_WRONG_KEY', 'The username annotation was encrypted with another private key', {
    remedy:
      'Restore the private key with which the node was configured, or remove the annotation to configure the node again.',
  });
}

const lineMarker = '<wmcoMarker>';
const begin = '-----BEGIN ENCRYPTED DATA-----';
const end = '-----END ENCRYPTED DATA-----';
/** The limit of Kubernetes for all annotations of an object. */
const maxAnnotationLength = 262_144;

function unarmor(annotation: string): Uint8Array {
  const lines = unframed(annotation.replaceAll(lineMarker, '\n').trim())
    .split('\n')
    .map(line => line.trim())
    // ASCII armor may have headers such as "Version: 1"; base64 has no colon.
    .filter(line => line !== '' && !line.includes(':'));
  const checksum = lines.at(-1)?.startsWith('=') ? lines.pop() : undefined;
  const message = fromBase64(lines.join(''));
  if (message === undefined || message.length === 0) throw unreadable('it is not ASCII armor');
  if (checksum !== undefined && checksum !== `=${toBase64(crc24(message))}`) throw unreadable('its checksum is wrong');
  return message;
}

function unframed(text: string): string {
  if (!text.startsWith(begin)) return text;
  if (!text.endsWith(end)) throw unreadable('its END line is missing');
  return text.slice(begin.length, -end.length);
}

/** Checksum of ASCII armor (RFC 9580, section 6.1). */
function crc24(bytes: Uint8Array): Uint8Array {
  let crc = 0xb704ce;
  for (const octet of bytes) {
    crc ^= octet << 16;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc << 1) ^ ((crc & 0x800000) === 0 ? 0 : 0x1864cfb);
  }
  return Uint8Array.of((crc >> 16) & 0xff, (crc >> 8) & 0xff, crc & 0xff);
}

function keyBytes(key: SealKey, verb: string): Uint8Array {
  if (key !== undefined) return Buffer.from(key);
  throw new AppError('USERNAME_KEY_MISSING', `The user name cannot be ${verb} without the private key`, {
    remedy: 'Create the Secret cloud-private-key with the key private-key.pem.',
  });
}

function textOf(content: Uint8Array): string {
  const text = fromUtf8(content);
  if (text === undefined) throw unreadable('its content is not UTF-8 text');
  return text;
}

function unreadable(why: string): AppError {
  return new AppError('USERNAME_UNREADABLE', `The username annotation cannot be read: ${why}`, {
    remedy: 'Remove the annotation; the node is then configured again and gets a new one.',
  });
}
