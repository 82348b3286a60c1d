import { expect, test } from 'vitest';
import { bitString, integer } from '#base/der-write.ts';
import { printPem } from '#base/pem.ts';
import { der, oid, sequence } from '../../test/kit/csr.ts';
import {
  type Algorithm,
  identifierOf,
  infoWith,
  type KeyKind,
  publicKeyOf,
  signatureOf,
  signWith,
} from '../../test/kit/hostile/signed-keys.ts';
import { parseCertificateRequest } from './csr-request.ts';

const parse = (bytes: Uint8Array) => parseCertificateRequest(printPem('CERTIFICATE REQUEST', bytes), 'CSR csr-1');
const refused = (message: RegExp) =>
  expect.objectContaining({
    code: 'CSR_MALFORMED',
    message: expect.stringMatching(message),
    remedy: expect.stringMatching(/\S/),
  });
const by = (key: KeyKind, algorithm: Algorithm) => () => parse(signWith(infoWith({}, key), key, algorithm));

const good: [KeyKind, Algorithm][] = [
  ['P-256', 'ecdsa-sha256'],
  ['P-256', 'ecdsa-sha384'],
  ['P-256', 'ecdsa-sha512'],
  ['P-384', 'ecdsa-sha256'],
  ['P-384', 'ecdsa-sha384'],
  ['P-384', 'ecdsa-sha512'],
  ['RSA 2048', 'rsa-sha256'],
  ['RSA 2048', 'rsa-sha384'],
  ['RSA 2048', 'rsa-sha512'],
  ['Ed25519', 'ed25519'],
];
test.each(good)('accepts a key %s that signs with %s', (key, algorithm) => {
  const request = by(key, algorithm)();
  expect(Buffer.from(request.subjectPublicKeyInfo).equals(publicKeyOf(key))).toBe(true);
});

const weak: [KeyKind, Algorithm, RegExp][] = [
  ['P-521', 'ecdsa-sha512', /not P-256 or P-384/],
  ['RSA 1024', 'rsa-sha256', /RSA key has 1024 bits/],
  ['RSA 2048', 'rsa-sha1', /signature algorithm 1\.2\.840\.113549\.1\.1\.5 is not ECDSA/],
  ['P-256', 'ecdsa-sha1', /signature algorithm 1\.2\.840\.10045\.4\.1 is not ECDSA/],
];
test.each(weak)('rejects a key %s that signs with %s', (key, algorithm, message) => {
  expect(by(key, algorithm)).toThrow(refused(message));
});

const point = publicKeyOf('P-256').subarray(-65);
const [ec, p256, rsa] = [oid('1.2.840.10045.2.1'), oid('1.2.840.10045.3.1.7'), oid('1.2.840.113549.1.1.1')];
const modulus = Uint8Array.from({ length: 256 }, () => 0xff);
const rsaKey = (list: Uint8Array, ...parameters: Uint8Array[]) =>
  sequence(sequence(rsa, ...parameters), bitString(list));
const numbers = (exponent: readonly number[], of: Uint8Array = modulus) => sequence(integer(of), integer(exponent));
const unexpected = /unexpected parts, or is not in canonical DER/;
const keys: [string, Uint8Array, RegExp][] = [
  ['that is no sequence', der(0x04, point), /public key has tag 4/],
  ['of an unknown kind', sequence(sequence(oid('1.2.840.10040.4.1')), bitString([1])), /not ECDSA, RSA or Ed25519/],
  ['without a curve', sequence(sequence(ec), bitString(point)), /curve has no element/],
  ['with a curve of its own', sequence(sequence(ec, sequence()), bitString(point)), /curve has tag 48/],
  ['with a compressed point', sequence(sequence(ec, p256), bitString([2, ...point.subarray(1, 33)])), /uncompressed/],
  ['with a cut point', sequence(sequence(ec, p256), bitString(point.subarray(0, 64))), /uncompressed/],
  [
    'beside its curve',
    sequence(sequence(ec, p256), bitString(point.with(64, (point[64] ?? 0) ^ 1))),
    /not match its key/,
  ],
  ['with unused bits', sequence(sequence(ec, p256), der(0x03, [1], point)), /has unused bits/],
  ['with a third part', sequence(sequence(ec, p256), bitString(point), der(0x05)), unexpected],
  ['with two curves', sequence(sequence(ec, p256, p256), bitString(point)), unexpected],
  ['of RSA without NULL', rsaKey(numbers([1, 0, 1])), unexpected],
  ['of RSA below zero', rsaKey(sequence(der(0x02, modulus), integer([1, 0, 1])), der(0x05)), unexpected],
  ['of RSA with a third number', rsaKey(sequence(integer(modulus), integer([3]), integer([3])), der(0x05)), unexpected],
  ['of RSA with an even exponent', rsaKey(numbers([4]), der(0x05)), /exponent/],
  ['of RSA with the exponent 1', rsaKey(numbers([1]), der(0x05)), /exponent/],
  ['of RSA with a huge exponent', rsaKey(numbers([1, 0, 0, 0, 1]), der(0x05)), /exponent/],
  ['of RSA with 8200 bits', rsaKey(numbers([3], new Uint8Array(1025).fill(0xff)), der(0x05)), /RSA key has 8200 bits/],
  ['of RSA with no bits', rsaKey(numbers([3], new Uint8Array()), der(0x05)), /RSA key has 0 bits/],
  [
    'of Ed25519 with NULL',
    sequence(sequence(oid('1.3.101.112'), der(0x05)), bitString(new Uint8Array(32))),
    unexpected,
  ],
  ['of Ed25519 with 31 octets', sequence(sequence(oid('1.3.101.112')), bitString(new Uint8Array(31))), /not ECDSA/],
];
test.each(keys)('rejects a key %s', (_, key, message) => {
  const info = sequence(der(0x02, [0]), sequence(), key, der(0xa0));
  expect(() => parse(signWith(info, 'P-256', 'ecdsa-sha256'))).toThrow(refused(message));
});

const info = infoWith({}, 'P-256');
const signature = signatureOf(info, 'P-256', 'ecdsa-sha256');
const ecdsa = identifierOf('ecdsa-sha256');
const [zero, one] = [der(0x02, [0]), der(0x02, [1])];
const signatures: [string, Uint8Array, Uint8Array, RegExp][] = [
  ['that is no bits', ecdsa, ecdsa, /signature has tag 48/],
  ['with unused bits', ecdsa, der(0x03, [3], signature), /unused bits/],
  ['that is empty', ecdsa, bitString([]), /signature is empty/],
  ['that is no DER', ecdsa, bitString([1, 2]), /signature is not complete DER/],
  ['of zeros', ecdsa, bitString(sequence(zero, zero)), /does not match its key/],
  ['of ones', ecdsa, bitString(sequence(one, one)), /does not match its key/],
  ['with octets behind', ecdsa, bitString([...signature, 5, 0]), unexpected],
  ['with a third number', ecdsa, bitString(sequence(one, one, one)), unexpected],
  ['with a number below zero', ecdsa, bitString(sequence(der(0x02, [0x80]), one)), unexpected],
  ['with a number in a long form', ecdsa, bitString(sequence(der(0x02, [0, 1]), one)), unexpected],
  ['of another digest', identifierOf('ecdsa-sha384'), bitString(signature), /does not match its key/],
  ['of another kind of key', identifierOf('rsa-sha256'), bitString(signature), /does not match its key/],
  ['of another key', ecdsa, bitString(signatureOf(info, 'P-384', 'ecdsa-sha256')), /does not match its key/],
  ['of another info', ecdsa, bitString(signatureOf(ecdsa, 'P-256', 'ecdsa-sha256')), /does not match its key/],
  ['whose algorithm has NULL', identifierOf('ecdsa-sha256', der(0x05)), bitString(signature), unexpected],
  ['whose algorithm is no sequence', der(0x05), bitString(signature), /signature algorithm has tag 5/],
  ['whose algorithm has no type', sequence(), bitString(signature), /signature algorithm has no element instead/],
];
test.each(signatures)('rejects a signature %s', (_, algorithm, bits, message) => {
  expect(() => parse(sequence(info, algorithm, bits))).toThrow(refused(message));
});

test('rejects RSA without NULL in the signature algorithm', () => {
  const rsaInfo = infoWith({}, 'RSA 2048');
  const bits = bitString(signatureOf(rsaInfo, 'RSA 2048', 'rsa-sha256'));
  expect(() => parse(sequence(rsaInfo, sequence(oid('1.2.840.113549.1.1.11')), bits))).toThrow(refused(unexpected));
});
