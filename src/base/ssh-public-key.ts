import { toBase64 } from './bytes.ts';
import { curves } from './ssh-curves.ts';
import { readWire, type WireReader } from './ssh-wire.ts';

export interface PublicKey {
  /** SSH name of the key type, such as `ssh-ed25519`. */
  type: string;
  /** The key in SSH wire format, which begins with the type. */
  blob: Uint8Array;
}

/** Reads a key in wire format. Known types are checked in full, others only for a type name. */
export function readPublicKey(blob: Uint8Array): PublicKey | undefined {
  return readWire(blob, reader => {
    const type = reader.text();
    reader.require(/^[a-z0-9][a-z0-9@.-]{0,63}$/.test(type));
    (structures.get(type) ?? skipContent)(reader);
    return { type, blob };
  });
}

/** `<type> <base64>`, as in known_hosts, authorized_keys and `spec.hostKey`. */
export function printPublicKey(key: PublicKey): string {
  return `${key.type} ${toBase64(key.blob)}`;
}

/** Key types of OpenSSH, without certificates and security keys. */
export function isKnownType(type: string): boolean {
  return structures.has(type);
}

const structures: ReadonlyMap<string, (reader: WireReader) => void> = new Map([
  ['ssh-rsa', (reader: WireReader) => skipNumbers(reader, 2)],
  ['ssh-dss', (reader: WireReader) => skipNumbers(reader, 4)],
  ['ssh-ed25519', (reader: WireReader) => reader.require(reader.string().length === 32)],
  ...curves.map(
    ({ ssh, size }) => [`ecdsa-sha2-${ssh}`, (reader: WireReader) => checkPoint(reader, ssh, size)] as const,
  ),
]);

function skipContent(reader: WireReader): void {
  reader.rest();
}

function skipNumbers(reader: WireReader, count: number): void {
  for (let index = 0; index < count; index += 1) reader.mpint();
}

function checkPoint(reader: WireReader, curve: string, size: number): void {
  reader.require(reader.text() === curve);
  const point = reader.string();
  reader.require(point.length === 1 + 2 * size && point[0] === 4);
}
