import ssh2 from 'ssh2';
import { expect, test } from 'vitest';
import { type HostKey, parseHostKey } from '../host-key.ts';
import { writeWire } from '#base/ssh-wire.ts';
import { hostKeySignatures, offeredAlgorithms } from './algorithms.ts';

const keyOf = (type: string): HostKey => ({ type, blob: writeWire(type) });
const all = Object.values(offeredAlgorithms(undefined)).flat();

test('offers no algorithm based on SHA-1, MD5, DSA, RC4, DES or CBC', () => {
  expect(all.filter(name => /sha1|md5|ssh-dss|arcfour|des|cbc|^ssh-rsa$/.test(name))).toEqual([]);
});

test('offers no algorithm twice', () => {
  const { serverHostKey, kex, cipher, hmac } = offeredAlgorithms(undefined);
  for (const names of [serverHostKey, kex, cipher, hmac]) expect(new Set(names).size).toBe(names.length);
});

test('offers only algorithms of the SSH library', () => {
  const client = new ssh2.Client();
  client.on('error', () => undefined);
  // The library refuses unknown names before it does anything else.
  const offer = () => client.connect({ username: 'x', port: 1, algorithms: offeredAlgorithms(undefined) as never });
  expect(offer).not.toThrow();
  client.destroy();
});

test('prefers ciphers with hardware acceleration', () => {
  expect(offeredAlgorithms(undefined).cipher.slice(0, 2)).toEqual(['aes128-gcm@openssh.com', 'aes256-gcm@openssh.com']);
});

test('never compresses', () => expect(offeredAlgorithms(undefined).compress).toEqual(['none']));

const pinned: [type: string, want: string[]][] = [
  ['ssh-ed25519', ['ssh-ed25519']],
  ['ecdsa-sha2-nistp256', ['ecdsa-sha2-nistp256']],
  ['ecdsa-sha2-nistp384', ['ecdsa-sha2-nistp384']],
  ['ecdsa-sha2-nistp521', ['ecdsa-sha2-nistp521']],
  ['ssh-rsa', ['rsa-sha2-512', 'rsa-sha2-256']],
  ['ssh-dss', []],
];
for (const [type, want] of pinned) {
  test(`asks a host whose key of type ${type} is pinned for ${want.join(', ') || 'nothing'}`, () => {
    expect(hostKeySignatures(keyOf(type))).toEqual(want);
    expect(offeredAlgorithms(keyOf(type)).serverHostKey).toEqual(want);
  });
}

test('offers all host key types while no key is pinned', () => {
  expect(hostKeySignatures(undefined)).toHaveLength(6);
});

test('offers only the type of a pinned key that was stored as base64', () => {
  const key = parseHostKey('AAAAC3NzaC1lZDI1NTE5AAAAICJJNmTPKrrJqIFpRRfnzAJvMyoCds+EZWMJmQZuGDRw');
  expect(hostKeySignatures(key)).toEqual(['ssh-ed25519']);
});
