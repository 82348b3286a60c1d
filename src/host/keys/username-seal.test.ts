import { generateKeyPairSync } from 'node:crypto';
import * as fc from 'fast-check';
import * as openpgp from 'openpgp';
import { expect, test } from 'vitest';
import { toBase64 } from '#base/bytes.ts';
import { type AppError, attempt } from '#base/errors.ts';
import { encryptWithPassphrase } from './openpgp.ts';
import { openUsername, type SealKey, sealUsername } from './username-seal.ts';

const mark = '<wmcoMarker>';
const begin = '-----BEGIN ENCRYPTED DATA-----';
const end = '-----END ENCRYPTED DATA-----';
const pem = generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' });
const otherPem = generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' });

const refusal = (annotation: string, key: SealKey): AppError => {
  const result = attempt(() => openUsername(annotation, key));
  if (result.ok) throw new Error(`opened: ${result.value}`);
  return result.error;
};

const administrator =
  'wx4EBwMINXwe61iHK2VgUjq0eF2q4XkpV8Yy/EZ3xjbS5gEANOPwoKeAPTLMwW7n<wmcoMarker>DyYnb6wxHI5yiUv6GKNpW+m5GivVe/DQZjHKZMd8MH8ZxDrbEwbugqvU43eLqcIE<wmcoMarker>VTTgiAA=<wmcoMarker>=Ty1/';
const core =
  'wx4EBwMIvLcj9w22ttlgjFzyzfXvDZlnhGZo141cGh7S5QF17pK9Jzxy40WrVAst<wmcoMarker>/ZLxGI67vzk+R1sUNyaDFLx85JE1yA/Jwe9nl2Nj/h+8WvziDTQTReEnaODwAA==<wmcoMarker>=N1mO';
const old = `${begin}\n\nwx4EBwMIlAObGrnAL9ZgqOOfzyNQlblAN0gDZqqKOrTS5gEMZ0Qy6BBFFT0TkpdA\nD2E0TBxW/Grb7aqUNr7lUPJLMueiE96MAOwhd+Iz78C4ax8UpaItV/Q5N8mmPMNL\nLrHgXwA=\n=33At\n${end}`;
const lines = core.split(mark);

const readable: [name: string, annotation: string, key: string, want: string][] = [
  ['the current form', administrator, 'test-passphrase', 'Administrator'],
  ['the current form of another user', core, 'Super secr3t!', 'core'],
  ['the old form with frame', old, 'secret key', 'Administrator'],
  ['the old form with markers for line ends', old.replaceAll('\n', mark), 'secret key', 'Administrator'],
  ['the old form with a line end behind', `${old}\n`, 'secret key', 'Administrator'],
  ['the current form with real line ends', core.replaceAll(mark, '\n'), 'Super secr3t!', 'core'],
  ['the current form with Windows line ends', core.replaceAll(mark, '\r\n'), 'Super secr3t!', 'core'],
  ['the current form with blank lines around', `\n${core}${mark}`, 'Super secr3t!', 'core'],
  ['the current form within a frame', [begin, '', ...lines, end].join(mark), 'Super secr3t!', 'core'],
  ['a frame with headers', [begin, 'Version: 1', 'Comment: x', '', ...lines, end].join('\n'), 'Super secr3t!', 'core'],
  ['a frame without the blank line', [begin, ...lines, end].join('\n'), 'Super secr3t!', 'core'],
  [
    'lines of other lengths',
    core.replaceAll(mark, '').replace('==', `==${mark}`).replace('/Z', `/Z${mark}`),
    'Super secr3t!',
    'core',
  ],
  ['a text without checksum', lines.slice(0, -1).join(mark), 'Super secr3t!', 'core'],
];
for (const [name, annotation, key, want] of readable) {
  test(`opens ${name}`, () => expect(openUsername(annotation, key)).toBe(want));
  test(`opens ${name} with the key as bytes`, () => {
    expect(openUsername(annotation, new TextEncoder().encode(key))).toBe(want);
  });
  test(`does not open ${name} with another key`, () => {
    expect(refusal(annotation, `${key} `).code).toBe('USERNAME_WRONG_KEY');
  });
}

const plaintexts = [
  '',
  'a',
  'core',
  'Administrator',
  'DOMAIN\\user',
  'üser name with spaces and 日本',
  '\u{feff}x',
  'x'.repeat(999),
];
const keys: [name: string, key: string | Uint8Array][] = [
  ['an empty key', ''],
  ['an empty key of bytes', new Uint8Array()],
  ['a short key', 'Super secr3t!'],
  ['a PEM', pem],
  ['a PEM as bytes', new TextEncoder().encode(pem)],
  ['bytes that are no text', Uint8Array.of(0xff, 0, 0xfe)],
];
for (const [name, key] of keys)
  test.each(plaintexts)(`gives back what it sealed with ${name}: %.20s`, plaintext => {
    expect(openUsername(sealUsername(plaintext, key), key)).toBe(plaintext);
  });

test('takes a text and its bytes for the same key', () => {
  expect(openUsername(sealUsername('core', 'ключ'), new TextEncoder().encode('ключ'))).toBe('core');
});

test('takes every byte of the key into account', () => {
  expect(refusal(sealUsername('core', pem), pem.trimEnd()).code).toBe('USERNAME_WRONG_KEY');
  expect(refusal(sealUsername('core', pem), pem.replaceAll('\n', '\r\n')).code).toBe('USERNAME_WRONG_KEY');
  expect(refusal(sealUsername('core', pem), `\u{feff}${pem}`).code).toBe('USERNAME_WRONG_KEY');
});

test('SEC-08: writes base64 in lines of 64 columns joined by the marker, and the checksum last', () => {
  const parts = sealUsername('Administrator', pem).split(mark);
  expect(parts.slice(0, -2).every(part => part.length === 64)).toBe(true);
  expect(parts.at(-2)).toMatch(/^[A-Za-z0-9+/]{1,64}={0,2}$/);
  expect(parts.at(-1)).toMatch(/^=[A-Za-z0-9+/]{4}$/);
});

test('begins as all annotations on existing clusters do', () => expect(sealUsername('x', pem)).toMatch(/^wx4EBwMI/));

test('SEC-08: writes neither line ends nor frame, and something else each time', () => {
  const seals = Array.from({ length: 10 }, () => sealUsername('core', pem));
  expect(new Set(seals).size).toBe(10);
  for (const seal of seals) expect(seal).not.toMatch(/[\r\n]|-----/);
});

test('OpenPGP.js reads the armor with its checksum', async () => {
  const body = sealUsername('Administrator', pem).split(mark);
  const armored = ['-----BEGIN PGP MESSAGE-----', '', ...body, '-----END PGP MESSAGE-----', ''].join('\n');
  const message = await openpgp.readMessage({ armoredMessage: armored, config: { checksumRequired: true } as never });
  expect((await openpgp.decrypt({ message, passwords: [pem] })).data).toBe('Administrator');
});

test('opens what OpenPGP.js armors with a checksum', async () => {
  const { symmetric, compression } = openpgp.enums;
  const armored = (await openpgp.encrypt({
    message: await openpgp.createMessage({ text: 'Administrator' }),
    passwords: pem,
    config: {
      aeadProtect: false,
      preferredSymmetricAlgorithm: symmetric.aes128,
      preferredCompressionAlgorithm: compression.uncompressed,
      s2kIterationCountByte: 0x60,
      showComment: true,
    },
  })) as string;
  const annotation = armored.trim().replaceAll('PGP MESSAGE', 'ENCRYPTED DATA').replaceAll('\n', mark);
  expect(openUsername(annotation, pem)).toBe('Administrator');
});

test.each([
  ['encrypted', () => sealUsername('core', undefined)],
  ['decrypted', () => openUsername(core, undefined)],
  ['decrypted', () => openUsername('garbage', undefined)],
])('says that nothing can be %s without key', (verb, run) => {
  expect(attempt(run)).toMatchObject({
    ok: false,
    error: {
      code: 'USERNAME_KEY_MISSING',
      message: expect.stringContaining(verb),
      remedy: expect.stringMatching(/.\.$/),
    },
  });
});

const notText = (() => {
  const message = encryptWithPassphrase(Uint8Array.of(0xff, 0xfe), new TextEncoder().encode('k'));
  return toBase64(message);
})();
const unreadable: [name: string, annotation: string, says: string][] = [
  ['an empty annotation', '', 'not ASCII armor'],
  ['blanks', ' \n ', 'not ASCII armor'],
  ['a marker alone', mark, 'not ASCII armor'],
  ['a user name in the clear', 'Administrator', 'not ASCII armor'],
  ['a word', 'HELLO', 'not ASCII armor'],
  ['base64 of something else', toBase64('Administrator'), 'not an OpenPGP message'],
  ['the checksum alone', '=Ty1/', 'not ASCII armor'],
  ['an empty frame', `${begin}\n\n${end}`, 'not ASCII armor'],
  ['a frame without end', old.slice(0, -5), 'END line'],
  ['a begin line alone', begin, 'END line'],
  ['another kind of frame', old.replaceAll('ENCRYPTED DATA', 'PGP MESSAGE'), 'not ASCII armor'],
  ['a wrong checksum', core.replace('=N1mO', '=N1mP'), 'checksum'],
  ['a short checksum', core.replace('=N1mO', '=N1m'), 'checksum'],
  ['another letter in the text', core.replace('wx4EBwMIvL', 'wx4EBwMIvM'), 'checksum'],
  ['a line left out', [lines[0], lines[2]].join(mark), 'checksum'],
  ['lines in the wrong order', [lines[1], lines[0], lines[2]].join(mark), 'not ASCII armor'],
  ['a text cut off', core.slice(0, 100), 'not'],
  ['letters that are not base64', core.replace('wx4', 'w*4'), 'not ASCII armor'],
  ['an annotation longer than there can be', 'A'.repeat(262_145), '262144'],
];
for (const [name, annotation, says] of unreadable) {
  test(`cannot read ${name}`, () => {
    const error = refusal(annotation, 'Super secr3t!');
    expect(error).toMatchObject({ code: 'USERNAME_UNREADABLE', message: expect.stringContaining(says) });
    expect(error.message).toContain('username annotation');
    expect(error.remedy).toMatch(/.\.$/);
  });
}

test('cannot read a user name that is not UTF-8', () => {
  expect(refusal(notText, 'k')).toMatchObject({
    code: 'USERNAME_UNREADABLE',
    message: expect.stringContaining('not UTF-8 text'),
  });
});

test('opens the longest annotation there can be in time', () => {
  const name = 'x'.repeat(160_000);
  expect(openUsername(sealUsername(name, pem), pem)).toBe(name);
});

test('shows neither key nor user name when the key is wrong', () => {
  const error = refusal(sealUsername('Administrator', pem), otherPem);
  const text = `${error.message} ${error.remedy} ${JSON.stringify(error)} ${error.stack}`;
  expect(error.code).toBe('USERNAME_WRONG_KEY');
  expect(text).not.toContain('Administrator');
  for (const line of [...pem.split('\n'), ...otherPem.split('\n')].filter(
    part => part.length > 20 && !part.includes('-'),
  ))
    expect(text).not.toContain(line);
});

test('does not quote a user name in plain text', () => {
  expect(refusal('very-secret-user', pem).message).not.toContain('very-secret-user');
});

test('gives back any text under any key', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), fc.string({ maxLength: 200 }), (name, key) => {
      expect(openUsername(sealUsername(name, key), key)).toBe(name);
    }),
    { numRuns: 300 },
  );
});

test('does not open any annotation with another key', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 40 }), fc.string({ maxLength: 40 }), (key, other) => {
      fc.pre(key !== other);
      expect(refusal(sealUsername('core', key), other).code).toMatch(/^USERNAME_(WRONG_KEY|UNREADABLE)$/);
    }),
    { numRuns: 300 },
  );
});

const codes = ['USERNAME_UNREADABLE', 'USERNAME_WRONG_KEY'];

/** Opens and asserts what must hold for every input: a text or one of our errors, and little time of this thread. */
function openInTime(annotation: string, key: string): string | undefined {
  const before = process.threadCpuUsage();
  const result = attempt(() => openUsername(annotation, key));
  const { user, system } = process.threadCpuUsage(before);
  expect((user + system) / 1000).toBeLessThan(50);
  if (!result.ok) expect(codes).toContain(result.error.code);
  return result.ok ? result.value : undefined;
}

const samples: [annotation: string, key: string, name: string][] = [
  [administrator, 'test-passphrase', 'Administrator'],
  [core, 'Super secr3t!', 'core'],
  [old, 'secret key', 'Administrator'],
];

test('handles any changed annotation with its name or an error, in time', () => {
  const change = fc.record({
    sample: fc.constantFrom(...samples),
    at: fc.nat(),
    drop: fc.nat(70),
    put: fc.oneof(fc.string({ maxLength: 8 }), fc.constantFrom(mark, '\n', '=', begin, end, 'AAAA')),
    repeat: fc.integer({ min: 1, max: 50 }),
  });
  fc.assert(
    fc.property(change, ({ sample: [annotation, key, name], at, drop, put, repeat }) => {
      const index = at % annotation.length;
      const changed = annotation.slice(0, index) + put.repeat(repeat) + annotation.slice(index + drop);
      const opened = openInTime(changed, key);
      if (opened !== undefined) expect(opened).toBe(name);
    }),
    { numRuns: 2000 },
  );
});

test('opens a changed message in a valid armor or fails, in time', () => {
  const messages = samples.map(([annotation, key, name]) => {
    const base64 = annotation.replaceAll(/-----.*?-----|<wmcoMarker>|\n/g, '').replace(/=.{4}$/, '');
    return { bytes: Uint8Array.fromBase64(base64), key, name };
  });
  const edits = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(fc.constantFrom(...messages), edits, fc.nat(120), ({ bytes, key, name }, octets, cut) => {
      const changed = Uint8Array.from(cut < 20 ? bytes.subarray(0, -cut || undefined) : bytes);
      for (const [at, octet] of octets) changed[at % changed.length] = octet;
      const opened = openInTime(toBase64(changed), key);
      if (opened !== undefined) expect(opened).toBe(name);
    }),
    { numRuns: 2000 },
  );
});

test('handles any text with an error, in time', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ maxLength: 300 }), fc.base64String({ maxLength: 300 })), text => {
      expect(openInTime(text, 'key')).toBeUndefined();
    }),
    { numRuns: 2000 },
  );
});
