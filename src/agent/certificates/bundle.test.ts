import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { printPem } from '#base/pem.ts';
import { sha256 } from '#base/sha256.ts';
import { errorOf } from '../../../test/kit/outcome.ts';
import { parseBundle, printBundle, readImported } from './bundle.ts';

/** The frame of a certificate with one byte inside. */
const der = (byte: number) => Uint8Array.of(0x30, 9, 0x30, 3, 0x02, 1, byte, 0x30, 0, 0x03, 0);
const pem = (byte: number) => printPem('CERTIFICATE', der(byte));
const hashes = (text: string) => parseBundle(text).map(certificate => certificate.sha256);
const [a, b] = [sha256(der(1)), sha256(der(2))];

const accepted: [name: string, text: string, want: string[]][] = [
  ['an empty file', '', []],
  ['only comments', '# nothing\n\n', []],
  ['one certificate', pem(1), [a]],
  ['two certificates', pem(1) + pem(2), [a, b]],
  ['comments and blank lines between', `# host:5000\n${pem(1)}\n\n# other\n${pem(2)}\n`, [a, b]],
  ['carriage returns', pem(1).replaceAll('\n', '\r\n'), [a]],
  ['no line break at the end', pem(1).trimEnd(), [a]],
  ['blanks around lines', `  ${pem(1).replaceAll('\n', '  \n  ')}`, [a]],
  ['text of 100 000 characters before a certificate', `${'x'.repeat(100_000)}\n${pem(1)}`, [a]],
  ['the same certificate twice', pem(1) + pem(1), [a, a]],
  ['a description as openssl prints it', `subject=CN = x\nissuer=CN = x\n${pem(1)}`, [a]],
];
for (const [name, text, want] of accepted) test(`reads ${name}`, () => expect(hashes(text)).toEqual(want));

const cut = pem(1).trimEnd().split('\n').slice(0, -1).join('\n');
const refused: [name: string, text: string, hint: string][] = [
  ['a certificate without an end', `${pem(2)}${cut}`, 'line 4'],
  ['a certificate cut off in the middle', pem(1).slice(0, 35), 'line 1'],
  ['a beginning within a certificate', `${cut}\n${pem(2)}`, 'line 1 has no END line'],
  [
    'a certificate that is not base64',
    '-----BEGIN CERTIFICATE-----\n!!!!\n-----END CERTIFICATE-----',
    'line 1 is not base64',
  ],
  ['an empty certificate', '# x\n-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----', 'line 2'],
  [
    'base64 that is no certificate',
    printPem('CERTIFICATE', Uint8Array.of(1, 2, 3)),
    'block 1 is not an X.509 certificate',
  ],
  ['a certificate with something behind it', printPem('CERTIFICATE', Uint8Array.of(...der(1), 5, 0)), 'block 1 is not'],
  [
    'a certificate without a signature',
    printPem('CERTIFICATE', Uint8Array.of(0x30, 4, 0x30, 0, 0x30, 0)),
    'block 1 is not',
  ],
  ['a private key', `${pem(1)}${printPem('PRIVATE KEY', Uint8Array.of(1))}`, 'block 2 is a PRIVATE KEY'],
];
for (const [name, text, hint] of refused) {
  test(`rejects a bundle with ${name} as a whole`, () => {
    const error = errorOf(() => parseBundle(text, 'CA bundle C:\\k\\ca-bundle.crt'));
    expect(error).toMatchObject({ code: 'CERTIFICATE_BUNDLE_MALFORMED', remedy: expect.stringContaining('Fix') });
    expect(error?.message).toContain(hint);
    expect(error?.message).toContain('CA bundle C:\\k\\ca-bundle.crt');
  });
}

test('reports all damaged blocks at once', () => {
  const text = `-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n${cut}`;
  expect(errorOf(() => parseBundle(text))?.message).toMatch(/line 1 .*; .*line 4 /);
});

test('gives the DER form along with its hash', () => {
  expect(parseBundle(pem(1))).toEqual([{ der: der(1), sha256: a }]);
});

test('prints what it can read again', () => {
  const certificates = parseBundle(pem(1) + pem(2));
  expect(parseBundle(printBundle(certificates))).toEqual(certificates);
  expect(printBundle([])).toBe('');
});

test('reads the intact blocks of a record', () => {
  expect(readImported(`${pem(1)}# x\n${printPem('X', der(2))}${cut}`).map(certificate => certificate.sha256)).toEqual([
    a,
  ]);
  expect(readImported('')).toEqual([]);
});

const whole = [1, 2, 3].map(pem).join('');
const ends = [1, 2, 3].map(count => whole.split(/(?<=-----END CERTIFICATE-----)/, count).join('').length);

test('accepts a truncated bundle only when it ends between two certificates', () => {
  for (let length = 1; length < whole.length; length += 1) {
    const between = ends.includes(length) || ends.includes(length - 1);
    expect([length, errorOf(() => parseBundle(whole.slice(0, length))) === undefined]).toEqual([length, between]);
  }
});

test('never skips a certificate because something was cut out', () => {
  fc.assert(
    fc.property(fc.nat(whole.length - 1), fc.integer({ min: 1, max: 40 }), (at, length) => {
      const damaged = whole.slice(0, at) + whole.slice(at + length);
      let count: number | undefined;
      const error = errorOf(() => (count = parseBundle(damaged).length));
      if (error === undefined) expect(damaged.match(/^-----BEGIN CERTIFICATE-----$/gm)).toHaveLength(count ?? -1);
    }),
    { numRuns: 2000 },
  );
});

test('throws only AppErrors for any text', () => {
  const piece = fc.oneof(
    fc.string(),
    fc.constantFrom('-----BEGIN CERTIFICATE-----', '-----END CERTIFICATE-----', pem(1), '\n', 'QUJD'),
  );
  fc.assert(
    fc.property(
      fc.array(piece).map(parts => parts.join('')),
      text => {
        const error = errorOf(() => parseBundle(text));
        if (error !== undefined) expect(error.code).toBe('CERTIFICATE_BUNDLE_MALFORMED');
      },
    ),
    { numRuns: 2000 },
  );
});
