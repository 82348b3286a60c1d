import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { attempt } from '#base/errors.ts';
import { type HostKey, hostKeyAlgorithms, parseHostKey, printHostKey, trustHostKey } from './host-key.ts';
import { fingerprint } from './keys/public-key.ts';
import { writeWire } from '#base/ssh-wire.ts';

/** Keys and what ssh-keygen of OpenSSH 9.2 shows for them. */
const vectors: [type: string, base64: string, fingerprint: string][] = [
  [
    'ssh-ed25519',
    'AAAAC3NzaC1lZDI1NTE5AAAAICJJNmTPKrrJqIFpRRfnzAJvMyoCds+EZWMJmQZuGDRw',
    'SHA256:Clp0+09u4nTstdnnAYxcF6jqylH19vA9BYdIgmdeTmA',
  ],
  [
    'ecdsa-sha2-nistp256',
    'AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBBPHdK3zHnMoFw4VTmF6Jipw/j1ptj5huXRomizsp3wPQbiQMoVAK1xeVNiFxap7/mLGO5vqjwItL0eVtfgcRq0=',
    'SHA256:EstMApGPvj76KOVf+p1TBrgqLUWw+cSTiOqTF3w8sqA',
  ],
  [
    'ecdsa-sha2-nistp384',
    'AAAAE2VjZHNhLXNoYTItbmlzdHAzODQAAAAIbmlzdHAzODQAAABhBFkMnx+QZfrfS6Ba5/uZw2MMpi8WrFtc8PJf1reLYxKGLn/M+5gNmXcEFqjixFh+MdrDBm9fUi3ksntSD52i7wc6Zm72pKeI3w2opByk6+vPC8HW67TAneHBcoCMrudVAQ==',
    'SHA256:FhuMwt1x1F1o5I5mbe86UT4qHezvNz5HJwbaAglQIsA',
  ],
  [
    'ecdsa-sha2-nistp521',
    'AAAAE2VjZHNhLXNoYTItbmlzdHA1MjEAAAAIbmlzdHA1MjEAAACFBAAdghvYalnlDG7D4Ec22ILLg/uXQkE8hvrLs59JX+tIjAKCzh4sv7uouQ3z4HHEzeUCiJ5c6U0U/eU2qaz28EoOGwEbAzjipeYdlLm8/Ss0Rl/tm7JfgT6jVMZMjn9r+vlvRpiJaLWYNcPP2kvHG0SnrkHw9RYR0dO9FAm1N+GjdONbfg==',
    'SHA256:liQTcZJEnccEKxuNis0Z9MJ67ctqForZYPGbdJla4/g',
  ],
  [
    'ssh-rsa',
    'AAAAB3NzaC1yc2EAAAADAQABAAAAgQCqdepb92nWC6I4KL3Nld3SmfXNMu+171RtqpF9qb2XBJzVsuVXntEqgjkxtHITuodt8B8Sdt67zxdON48rXk+IRbPq0FtrvFtqqmDTzUuM05Wd9Z29ANI43Dd75GUQLk9kDhAZp3BcUxLIgg/AY2wTHvpz6EtaxsfJZ5dyjia1lw==',
    'SHA256:56+1/MW949ftVmia/PuWdOVr2JBRJHth72YyN1fMEU8',
  ],
];
const keys = vectors.map(([, base64]) => parseHostKey(base64));
const [ed25519, ecdsa, , , rsa] = keys as [HostKey, HostKey, HostKey, HostKey, HostKey];
const otherEd25519: HostKey = { type: 'ssh-ed25519', blob: writeWire('ssh-ed25519', new Uint8Array(32)) };

for (const [type, base64, want] of vectors) {
  test(`reads and writes a stored key of type ${type}`, () => {
    expect(parseHostKey(base64).type).toBe(type);
    expect(printHostKey(parseHostKey(base64))).toBe(base64);
  });
  test(`tolerates blanks around a stored key of type ${type}`, () => {
    expect(printHostKey(parseHostKey(` ${base64}\n`))).toBe(base64);
  });
  test(`shows ${type} as ssh-keygen does`, () => expect(fingerprint(parseHostKey(base64))).toBe(want));
  test(`rejects ${type} cut off`, () => {
    const result = attempt(() => parseHostKey(base64.replaceAll('=', '').slice(0, -8)));
    expect(result).toMatchObject({ ok: false, error: { code: 'HOST_KEY_UNREADABLE' } });
  });
}

test('still reads a DSA key that was pinned long ago', () => {
  const blob = writeWire('ssh-dss', 2n ** 1023n, 2n ** 159n, 5n, 7n);
  expect(parseHostKey(blob.toBase64()).type).toBe('ssh-dss');
});

const unreadable: [name: string, text: string][] = [
  ['an empty text', ''],
  ['a word', 'unknown'],
  ['base64 of a word', 'dW5rbm93bg=='],
  ['a line of known_hosts', `ssh-ed25519 ${vectors[0]![1]}`],
  ['a key without padding', vectors[1]![1].replaceAll('=', '')],
  ['a key in base64 for addresses', vectors[0]![1].replaceAll('+', '-')],
  ['an unknown type', writeWire('ssh-ed448', new Uint8Array(57)).toBase64()],
  ['a certificate', writeWire('ssh-ed25519-cert-v01@openssh.com', new Uint8Array(57)).toBase64()],
  ['a security key', writeWire('sk-ssh-ed25519@openssh.com', new Uint8Array(32), 'ssh:').toBase64()],
  ['a key of the wrong length', writeWire('ssh-ed25519', new Uint8Array(33)).toBase64()],
  ['a type alone', writeWire('ssh-rsa').toBase64()],
  ['a text beyond all measure', 'A'.repeat(20_000)],
];
for (const [name, text] of unreadable) {
  test(`cannot read ${name} and says where it stands`, () => {
    const result = attempt(() => parseHostKey(text, 'Node win-1: annotation x'));
    expect(result).toMatchObject({
      ok: false,
      error: { code: 'HOST_KEY_UNREADABLE', message: expect.stringMatching(/^Node win-1: annotation x: "/) },
    });
    expect(result.ok || result.error.remedy).toMatch(/Remove the stored key/);
    expect(result.ok || result.error.message.length).toBeLessThan(300);
  });
}

test('names the value when no place is given', () => {
  expect(attempt(() => parseHostKey('unknown'))).toMatchObject({
    ok: false,
    error: { message: expect.stringMatching(/^SSH host key: "unknown" is not/) },
  });
});

const algorithms: [name: string, pinned: HostKey | undefined, want: string[] | undefined][] = [
  ['leaves the choice open on first contact', undefined, undefined],
  ['asks a host with an RSA key for SHA-2 signatures only', rsa, ['rsa-sha2-512', 'rsa-sha2-256']],
  ['asks a host with an Ed25519 key for Ed25519', ed25519, ['ssh-ed25519']],
  ['asks a host with an ECDSA key for its curve', ecdsa, ['ecdsa-sha2-nistp256']],
];
for (const [name, pinned, want] of algorithms) test(name, () => expect(hostKeyAlgorithms(pinned)).toEqual(want));

test('accepts any key on first contact and calls it new', () => {
  expect(trustHostKey(undefined, ed25519, '10.0.0.5')).toEqual({ accepted: true, key: ed25519, isNew: true });
});

test('accepts the pinned key, which is not new', () => {
  const sameAgain = parseHostKey(printHostKey(ed25519));
  expect(trustHostKey(ed25519, sameAgain, '10.0.0.5')).toEqual({ accepted: true, key: ed25519, isNew: false });
});

const refused: [name: string, pinned: HostKey, offered: HostKey][] = [
  ['another key of the same type', ed25519, otherEd25519],
  ['a key of another type', rsa, ed25519],
  ['a key that only begins alike', rsa, { type: rsa.type, blob: rsa.blob.subarray(0, -1) }],
  ['a key that only goes on', rsa, { type: rsa.type, blob: Buffer.concat([rsa.blob, Buffer.of(0)]) }],
];
for (const [name, pinned, offered] of refused) {
  test(`rejects ${name} and shows both fingerprints`, () => {
    const trust = trustHostKey(pinned, offered, 'win-1.example.com');
    if (trust.accepted) throw new Error('accepted');
    expect(trust.error.code).toBe('HOST_KEY_CHANGED');
    expect(trust.error.message).toContain('win-1.example.com');
    for (const key of [pinned, offered]) expect(trust.error.message).toContain(`${key.type} ${fingerprint(key)}`);
    expect(trust.error.remedy).toContain('reinstalled');
  });
}

test('keeps to the first key for the rest of a session', () => {
  const first = trustHostKey(undefined, ed25519, 'h');
  const pinned = first.accepted ? first.key : undefined;
  expect(trustHostKey(pinned, ed25519, 'h')).toMatchObject({ accepted: true, isNew: false });
  expect(trustHostKey(pinned, rsa, 'h')).toMatchObject({ accepted: false });
});

test('accepts exactly the keys equal to the first of any session', () => {
  const key = fc.constantFrom(...keys, otherEd25519);
  fc.assert(
    fc.property(
      fc.option(key, { nil: undefined }),
      fc.array(key, { minLength: 1, maxLength: 10 }),
      (pinned, offers) => {
        let trusted = pinned;
        const expected = pinned ?? offers[0];
        offers.forEach((offered, index) => {
          const trust = trustHostKey(trusted, offered, 'h');
          expect(trust.accepted).toBe(offered === expected);
          if (!trust.accepted) return;
          expect(trust.isNew).toBe(pinned === undefined && index === 0);
          trusted = trust.key;
        });
      },
    ),
  );
});

test('handles any stored text with a key or an AppError', () => {
  const changed = fc
    .tuple(fc.constantFrom(...vectors), fc.nat(), fc.string({ maxLength: 4 }))
    .map(([vector, at, put]) => {
      const index = at % vector[1].length;
      return vector[1].slice(0, index) + put + vector[1].slice(index + put.length);
    });
  fc.assert(
    fc.property(fc.oneof(changed, fc.string(), fc.base64String()), text => {
      const result = attempt(() => parseHostKey(text));
      if (!result.ok) expect(result.error.code).toBe('HOST_KEY_UNREADABLE');
      else expect(fingerprint(result.value)).toMatch(/^SHA256:[A-Za-z0-9+/]{43}$/);
    }),
    { numRuns: 2000 },
  );
});
