import { type DerElement, derTag } from '#base/der.ts';
import { bitString, element, integer, oid, sequence } from '#base/der-write.ts';
import { isSigned } from '#base/signature.ts';
import { expectBits, expectOid, expectTag, malformedRequest, partsOf, readParts } from './csr-der.ts';

/** A parsed public key of a kind that kubelets, agents and the API server support. */
export type RequestKey =
  | { kind: 'ec'; curve: string; point: Uint8Array }
  | { kind: 'rsa'; modulus: Uint8Array; exponent: Uint8Array }
  | { kind: 'ed25519'; octets: Uint8Array };

export type RequestSignature = { algorithm: string } & (
  | { kind: 'ec'; r: Uint8Array; s: Uint8Array }
  | { kind: 'rsa' | 'ed25519'; octets: Uint8Array }
);

/** The parameters of RSA; other kinds have none. */
const derNull = element(0x05);

const keyOids = { ec: '1.2.840.10045.2.1', rsa: '1.2.840.113549.1.1.1', ed25519: '1.3.101.112' } as const;

/** Named curves, and the length of an uncompressed point. */
const curves: Readonly<Record<string, number>> = { '1.2.840.10045.3.1.7': 65, '1.3.132.0.34': 97 };
const rsaBits = { least: 2048, most: 8192 };
const ed25519Octets = 32;

/** Key type and digest of each signature algorithm. */
const algorithms: Readonly<
  Record<string, { kind: RequestKey['kind']; digest: 'sha256' | 'sha384' | 'sha512' | undefined }>
> = {
  '1.2.840.113549.1.1.11': { kind: 'rsa', digest: 'sha256' },
  '1.2.840.113549.1.1.12': { kind: 'rsa', digest: 'sha384' },
  '1.2.840.113549.1.1.13': { kind: 'rsa', digest: 'sha512' },
  '1.2.840.10045.4.3.2': { kind: 'ec', digest: 'sha256' },
  '1.2.840.10045.4.3.3': { kind: 'ec', digest: 'sha384' },
  '1.2.840.10045.4.3.4': { kind: 'ec', digest: 'sha512' },
  '1.3.101.112': { kind: 'ed25519', digest: undefined },
};

/** Reads the SubjectPublicKeyInfo. */
export function readKey(info: DerElement | undefined, label: string): RequestKey {
  const [algorithm, key] = partsOf(info, 'public key', label);
  const [type, parameters] = partsOf(algorithm, 'public key', label);
  const kind = expectOid(type, 'public key', label);
  const octets = expectBits(key, 'public key', label);
  if (kind === keyOids.ec) return readPoint(expectOid(parameters, 'curve', label), octets, label);
  if (kind === keyOids.rsa) return readModulus(octets, label);
  if (kind === keyOids.ed25519 && octets.length === ed25519Octets) return { kind: 'ed25519', octets };
  throw malformedRequest(label, `its key type ${kind} is not ECDSA, RSA or Ed25519`);
}

function readPoint(curve: string, point: Uint8Array, label: string): RequestKey {
  const length = curves[curve];
  if (length === undefined) throw malformedRequest(label, `its curve ${curve} is not P-256 or P-384`);
  if (point.length === length && point[0] === 4) return { kind: 'ec', curve, point };
  throw malformedRequest(label, 'its key is not an uncompressed point of its curve');
}

function readModulus(octets: Uint8Array, label: string): RequestKey {
  const [list] = readParts(octets, 'public key', label);
  const [first, second] = partsOf(list, 'public key', label);
  const modulus = withoutZero(expectTag(first, derTag.integer, 'modulus', label).content);
  const exponent = withoutZero(expectTag(second, derTag.integer, 'exponent', label).content);
  const bits = modulus.length * 8 + 24 - Math.clz32(modulus[0] ?? 0xff);
  if (bits < rsaBits.least || bits > rsaBits.most) {
    throw malformedRequest(label, `its RSA key has ${bits} bits, not ${rsaBits.least} to ${rsaBits.most}`);
  }
  const value = exponent.reduce((sum, octet) => sum * 256 + octet, 0);
  if (value >= 3 && value < 2 ** 31 && value % 2 === 1) return { kind: 'rsa', modulus, exponent };
  throw malformedRequest(label, 'the exponent of its RSA key is not supported');
}

/** A positive number may have one leading zero; any other form differs when it is written again. */
function withoutZero(content: Uint8Array): Uint8Array {
  return content[0] === 0 ? content.subarray(1) : content;
}

export function readSignature(
  [algorithm, value]: readonly (DerElement | undefined)[],
  label: string,
): RequestSignature {
  const [type] = partsOf(algorithm, 'signature algorithm', label);
  const oidText = expectOid(type, 'signature algorithm', label);
  const kind = algorithms[oidText]?.kind;
  if (kind === undefined) {
    throw malformedRequest(label, `its signature algorithm ${oidText} is not ECDSA, RSA or Ed25519 with SHA-2`);
  }
  const octets = expectBits(value, 'signature', label);
  if (kind !== 'ec') return { algorithm: oidText, kind, octets };
  const [list] = readParts(octets, 'signature', label);
  const [r, s] = partsOf(list, 'signature', label);
  const number = (part: DerElement | undefined) =>
    withoutZero(expectTag(part, derTag.integer, 'signature', label).content);
  return { algorithm: oidText, kind, r: number(r), s: number(s) };
}

export function isSignedByKey(
  key: RequestKey,
  signature: RequestSignature,
  { content, publicKey }: { content: Uint8Array; publicKey: Uint8Array },
): boolean {
  const algorithm = algorithms[signature.algorithm];
  if (algorithm === undefined || algorithm.kind !== key.kind) return false;
  return isSigned({ content, publicKey, digest: algorithm.digest, signature: signatureOctets(signature) });
}

export function writeKey(key: RequestKey): Uint8Array {
  const type = oid(keyOids[key.kind]);
  if (key.kind === 'ec') return sequence(sequence(type, oid(key.curve)), bitString(key.point));
  if (key.kind === 'ed25519') return sequence(sequence(type), bitString(key.octets));
  const numbers = sequence(integer(key.modulus), integer(key.exponent));
  return sequence(sequence(type, derNull), bitString(numbers));
}

/** The two parts after the request info. */
export function writeSignature(signature: RequestSignature): Uint8Array[] {
  const type = oid(signature.algorithm);
  const algorithm = signature.kind === 'rsa' ? sequence(type, derNull) : sequence(type);
  return [algorithm, bitString(signatureOctets(signature))];
}

export function signatureOctets(signature: RequestSignature): Uint8Array {
  return signature.kind === 'ec' ? sequence(integer(signature.r), integer(signature.s)) : signature.octets;
}
