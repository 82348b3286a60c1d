import { der, makeCsrDer, oid, sequence, set } from '../csr.ts';
import type { AskedKind } from './asked-kinds.ts';
import { hostileAttributes, hostileNames } from './attributes.ts';
import {
  contentOf,
  type HostileDer,
  infoParts,
  join,
  oids,
  signed,
  withLongLength,
  withoutLength,
} from './der-parts.ts';
import {
  type Algorithm,
  identifierOf,
  infoWith,
  type KeyKind,
  publicKeyOf,
  signatureOf,
  signWith,
} from './signed-keys.ts';
import { hostileSubjects } from './subjects.ts';

export function hostileStructures(kind: AskedKind): HostileDer[] {
  return [
    ...frames(kind),
    ...hostileSubjects(kind),
    ...hostileAttributes(kind),
    ...hostileNames(kind),
    ...keyKinds.map(([key, by]): HostileDer => [`${key} with ${by}`, signWith(infoWith(kind.good, key), key, by)]),
    ...oddKeys(kind),
    ...signatures(kind),
  ];
}

function frames(kind: AskedKind): HostileDer[] {
  const [version, subject, key, list] = infoParts(kind);
  const info = sequence(version, subject, key, list);
  const whole = signed(version, subject, key, list);
  return [
    ['printable text in the subject', whole],
    ['octets behind the request', join(whole, der(0x05))],
    ['a fourth part', sequence(contentOf(whole), der(0x05))],
    ['a fifth part of the info', signed(version, subject, key, list, der(0x05))],
    ['another request behind the info', signed(version, subject, key, list, makeCsrDer(kind.evil))],
    ['a long length of the request', withLongLength(whole)],
    ['an indefinite length of the request', withoutLength(whole)],
    ['a long length of the info', signWith(withLongLength(info), 'P-256', 'ecdsa-sha256')],
    ['a long length of the subject', signed(version, withLongLength(subject), key, list)],
    ['a long length of the key', signed(version, subject, withLongLength(key), list)],
    ['a long length of the attributes', signed(version, subject, key, withLongLength(list))],
    ['version 2', signed(der(0x02, [1]), subject, key, list)],
    ['a version below zero', signed(der(0x02, [0xff]), subject, key, list)],
    ['a version of two octets', signed(der(0x02, [0, 0]), subject, key, list)],
    ['no attributes', signed(version, subject, key)],
    ['attributes as a set', signed(version, subject, key, set())],
    ['attributes twice', signed(version, subject, key, list, list)],
    ['parts in another order', signed(version, key, subject, list)],
    ['cut', whole.subarray(0, -3)],
  ];
}

const keyKinds: readonly [KeyKind, Algorithm][] = [
  ['P-256', 'ecdsa-sha384'],
  ['P-256', 'ecdsa-sha512'],
  ['P-384', 'ecdsa-sha384'],
  ['P-384', 'ecdsa-sha256'],
  ['P-521', 'ecdsa-sha512'],
  ['RSA 2048', 'rsa-sha256'],
  ['RSA 2048', 'rsa-sha384'],
  ['RSA 2048', 'rsa-sha512'],
  ['RSA 2048', 'rsa-sha1'],
  ['RSA 1024', 'rsa-sha256'],
  ['P-256', 'ecdsa-sha1'],
  ['Ed25519', 'ed25519'],
];

function oddKeys(kind: AskedKind): HostileDer[] {
  const [version, subject, , list] = infoParts(kind);
  const point = publicKeyOf('P-256').subarray(-65);
  const compressed = Uint8Array.of(2 + ((point[64] ?? 0) & 1), ...point.subarray(1, 33));
  const [ec, curve] = [oid(oids.ecPublicKey), oid(oids.p256)];
  const keyOf = (bits: Uint8Array, unused = 0) => sequence(sequence(ec, curve), der(0x03, [unused], bits));
  const odd: [string, Uint8Array][] = [
    ['a compressed point', keyOf(compressed)],
    ['a point beside the curve', keyOf(point.with(64, (point[64] ?? 0) ^ 1))],
    ['unused bits', keyOf(point, 1)],
    ['a third part', sequence(contentOf(keyOf(point)), der(0x05))],
    ['a third part of its algorithm', sequence(sequence(ec, curve, der(0x05)), der(0x03, [0], point))],
    ['no curve', sequence(sequence(ec), der(0x03, [0], point))],
  ];
  return odd.map(([name, key]) => [`a key with ${name}`, signed(version, subject, key, list)]);
}

function signatures(kind: AskedKind): HostileDer[] {
  const [info, evil] = [infoWith(kind.good, 'P-256'), infoWith(kind.evil, 'P-256')];
  const good = signatureOf(info, 'P-256', 'ecdsa-sha256');
  const ecdsa = identifierOf('ecdsa-sha256');
  const bits = der(0x03, [0], good);
  const by = (signature: Uint8Array, unused = 0) => sequence(info, ecdsa, der(0x03, [unused], signature));
  const rsa = infoWith(kind.good, 'RSA 2048');
  const rsaBits = der(0x03, [0], signatureOf(rsa, 'RSA 2048', 'rsa-sha256'));
  return [
    ['the signature of another info', by(signatureOf(evil, 'P-256', 'ecdsa-sha256'))],
    ['the signature of another key', by(signatureOf(info, 'P-384', 'ecdsa-sha256'))],
    ['no signature', by(new Uint8Array())],
    ['a signature of zeros', by(sequence(der(0x02, [0]), der(0x02, [0])))],
    ['a signature with octets behind', by(join(good, Uint8Array.of(0)))],
    ['a signature with a third number', by(sequence(contentOf(good), der(0x02, [1])))],
    ['a signature with a zero in front', by(withZero(good))],
    ['a signature with unused bits', by(good, 1)],
    ['a signature algorithm with NULL', sequence(info, identifierOf('ecdsa-sha256', der(0x05)), bits)],
    [
      'a signature algorithm with parameters',
      sequence(info, identifierOf('ecdsa-sha256', makeCsrDer(kind.evil)), bits),
    ],
    ['another signature algorithm', sequence(info, identifierOf('ecdsa-sha384'), bits)],
    ['the signature algorithm of RSA', sequence(info, identifierOf('rsa-sha256'), bits)],
    ['RSA without NULL', sequence(rsa, sequence(oid('1.2.840.113549.1.1.11')), rsaBits)],
  ];
}

/** The first of the two numbers with one more zero in front than it needs. */
function withZero(signature: Uint8Array): Uint8Array {
  const numbers = contentOf(signature);
  const length = numbers[1] ?? 0;
  return sequence(der(0x02, [0], numbers.subarray(2, 2 + length)), numbers.subarray(2 + length));
}
