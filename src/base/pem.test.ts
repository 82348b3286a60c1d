import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { type PemScan, printPem, readOnlyPem, scanPem } from './pem.ts';

const der = (...values: number[]) => new Uint8Array(values);
const one = printPem('CERTIFICATE', der(1, 2, 3));
const two = printPem('PRIVATE KEY', der(4, 5));
const blocks = (text: string) => scanPem(text).blocks.map(({ type, der: content }) => [type, ...content]);
const lines = (...list: string[]) => list.join('\n');

const good: [string, string, (string | number)[][]][] = [
  ['nothing', '', []],
  ['text without a block', 'no certificate here\n', []],
  ['one block', one, [['CERTIFICATE', 1, 2, 3]]],
  ['a block without a last line break', one.trimEnd(), [['CERTIFICATE', 1, 2, 3]]],
  [
    'two blocks in their order',
    one + two,
    [
      ['CERTIFICATE', 1, 2, 3],
      ['PRIVATE KEY', 4, 5],
    ],
  ],
  [
    'comments before, between and after',
    `# host:5000\n${one}\n# other\n${two}# end`,
    [
      ['CERTIFICATE', 1, 2, 3],
      ['PRIVATE KEY', 4, 5],
    ],
  ],
  ['line breaks of Windows', one.replaceAll('\n', '\r\n'), [['CERTIFICATE', 1, 2, 3]]],
  ['blanks around the lines, as YAML leaves them', one.replaceAll(/^(?=.)/gm, '  '), [['CERTIFICATE', 1, 2, 3]]],
  ['a byte order mark', `\ufeff${one}`, [['CERTIFICATE', 1, 2, 3]]],
  ['blank lines inside', lines('-----BEGIN X-----', '', 'AQ', '', 'ID', '', '-----END X-----'), [['X', 1, 2, 3]]],
  [
    'header lines, which are not part of the content',
    lines(
      '-----BEGIN RSA PRIVATE KEY-----',
      'Proc-Type: 4,ENCRYPTED',
      'DEK-Info: AES',
      '',
      'AQID',
      '-----END RSA PRIVATE KEY-----',
    ),
    [['RSA PRIVATE KEY', 1, 2, 3]],
  ],
  ['a type with digits', '-----BEGIN X509 CRL-----\nAQID\n-----END X509 CRL-----', [['X509 CRL', 1, 2, 3]]],
];
for (const [name, text, want] of good) {
  test(`reads ${name}`, () => {
    expect(blocks(text)).toEqual(want);
    expect(scanPem(text).broken).toEqual([]);
  });
}

const noEnd = 'has no END line';
const noBase64 = 'is not base64';
const stray = 'is not part of a block';
const broken: [string, string, PemScan['broken']][] = [
  ['a block cut off', lines('x', '-----BEGIN CERTIFICATE-----', 'AQID'), [{ line: 2, why: noEnd }]],
  ['a BEGIN line alone', '-----BEGIN CERTIFICATE-----', [{ line: 1, why: noEnd }]],
  ['an END line alone', `AQID\n-----END CERTIFICATE-----\n`, [{ line: 2, why: stray }]],
  ['a BEGIN line with too few hyphens', lines('----BEGIN X-----', 'AQID'), [{ line: 1, why: stray }]],
  ['a BEGIN line cut short', '-----BEGIN CERTIF', [{ line: 1, why: stray }]],
  ['a BEGIN line in small letters of type', '-----BEGIN certificate-----', [{ line: 1, why: stray }]],
  ['an END line of another type', lines('-----BEGIN A-----', 'AQID', '-----END B-----'), [{ line: 1, why: noEnd }]],
  ['an empty block', lines('-----BEGIN A-----', '-----END A-----'), [{ line: 1, why: noBase64 }]],
  ['a block that is not base64', lines('-----BEGIN A-----', 'A!', '-----END A-----'), [{ line: 1, why: noBase64 }]],
  ['base64 cut short', lines('-----BEGIN A-----', 'AQI', '-----END A-----'), [{ line: 1, why: noBase64 }]],
  [
    'headers without the blank line after them',
    lines('-----BEGIN A-----', 'Proc-Type: 4', 'AQID', '-----END A-----'),
    [{ line: 1, why: noBase64 }],
  ],
  [
    'blocks joined without a line break',
    lines('-----BEGIN A-----', 'AQID', '-----END A----------BEGIN A-----', 'AQID', '-----END A-----'),
    [{ line: 1, why: noBase64 }],
  ],
];
for (const [name, text, want] of broken) {
  test(`reports ${name} with its line`, () => expect(scanPem(text)).toEqual({ blocks: [], broken: want }));
}

test('a broken block hides neither those before nor those after it', () => {
  const scan = scanPem(`${one}-----BEGIN CERTIFICATE-----\nAQ\n${two}`);
  expect(scan.blocks.map(block => block.type)).toEqual(['CERTIFICATE', 'PRIVATE KEY']);
  expect(scan.broken).toEqual([{ line: 4, why: noEnd }]);
});

test('a type of more than 64 characters is not believed', () => {
  expect(scanPem(`-----BEGIN ${'A'.repeat(64)}-----\nAQID\n-----END ${'A'.repeat(64)}-----`).blocks).toHaveLength(1);
  expect(scanPem(`-----BEGIN ${'A'.repeat(65)}-----\nAQID\n-----END ${'A'.repeat(65)}-----`).blocks).toHaveLength(0);
});

test('prints lines of at most 64 characters', () => {
  const text = printPem('CERTIFICATE', new Uint8Array(100));
  expect(text.split('\n').map(line => line.length)).toEqual([27, 64, 64, 8, 25, 0]);
});

test('reads what it printed, among any other text', () => {
  const noise = fc.string().filter(text => !/-----(BEGIN|END)/.test(text));
  const content = fc.uint8Array({ minLength: 1, maxLength: 200 });
  fc.assert(
    fc.property(fc.array(fc.tuple(noise, content), { maxLength: 4 }), parts => {
      const text = parts.map(([before, bytes]) => `${before}\n${printPem('X Y', bytes)}`).join('');
      expect(blocks(text)).toEqual(parts.map(([, bytes]) => ['X Y', ...bytes]));
    }),
    { numRuns: 500 },
  );
});

test('a text cut anywhere gives whole blocks only, when one is lost', () => {
  const text = one + two + one;
  for (let length = 0; length <= text.length; length += 1) {
    const { blocks: whole, broken: lost } = scanPem(text.slice(0, length));
    const begun = text.slice(0, length).split('-----BEGIN').length - 1;
    expect(whole.length + lost.length).toBe(begun);
  }
});

test('never throws', () => {
  const pieces = fc.constantFrom('-----BEGIN A-----', '-----END A-----', '-----END B-----', 'AQID', '\n', ':', '', '=');
  fc.assert(
    fc.property(fc.array(fc.oneof(pieces, fc.string()), { maxLength: 30 }), list => {
      expect(() => scanPem(list.join('\n'))).not.toThrow();
    }),
    { numRuns: 2000 },
  );
});

const long = printPem('CERTIFICATE', new Uint8Array(100));
const only = (text: string) => readOnlyPem('CERTIFICATE', text);

test('reads a text that is one block and no more, with or without the last line break', () => {
  expect(only(one)).toEqual({ ok: true, der: der(1, 2, 3) });
  expect(only(one.trimEnd())).toEqual({ ok: true, der: der(1, 2, 3) });
  expect(only(long)).toEqual({ ok: true, der: new Uint8Array(100) });
});

const more: [string, string, RegExp][] = [
  ['nothing', '', /does not begin/],
  ['another type', two, /does not begin with the line -----BEGIN CERTIFICATE-----/],
  ['text before', `a\n${one}`, /does not begin/],
  ['a blank line before', `\n${one}`, /does not begin/],
  ['a byte order mark', `\ufeff${one}`, /does not begin/],
  ['an indented first line', ` ${one}`, /does not begin/],
  ['blanks behind the first line', one.replace('-----\n', '----- \n'), /does not begin/],
  ['carriage returns', one.replaceAll('\n', '\r\n'), /does not begin/],
  ['text behind', `${one}a\n`, /does not end/],
  ['a blank line behind', `${one}\n`, /does not end/],
  ['a NUL behind', `${one}\0`, /does not end/],
  ['no end', one.slice(0, -10), /does not end/],
  ['a block without content', '-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n', /is not base64/],
  ['a block with one blank line', '-----BEGIN CERTIFICATE-----\n\n-----END CERTIFICATE-----\n', /is not base64/],
  ['two blocks', one + one, /is not base64/],
  ['a decoy behind', `${one}x${one}`, /is not base64/],
  ['a header', one.replace('-----\n', '-----\na: b\n'), /is not base64/],
  ['a header with a blank line', one.replace('-----\n', '-----\na: b\n\n'), /is not base64/],
  ['a blank in a line', one.replace('AQ', 'A Q'), /is not base64/],
  ['a tab in a line', one.replace('AQ', 'A\tQ'), /is not base64/],
  ['a blank line in front', one.replace('-----\n', '-----\n\n'), /lines of 64/],
  ['a carriage return in a line', one.replace('AQ', 'A\rQ'), /lines of 64/],
  ['one long line', long.replaceAll(/(A)\n(A)/g, '$1$2'), /lines of 64/],
  ['short lines', one.replace('AQ', 'A\nQ'), /lines of 64/],
  ['stray bits at the end', printPem('CERTIFICATE', der(1)).replace('AQ==', 'AR=='), /lines of 64/],
];
for (const [name, text, why] of more) {
  test(`rejects as the only block: ${name}`, () =>
    expect(only(text)).toEqual({ ok: false, why: expect.stringMatching(why) }));
}

test('readOnlyPem accepts only what printPem writes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 200 }), fc.nat(), fc.string(), (content, at, piece) => {
      const text = printPem('CERTIFICATE', content);
      expect(only(text)).toEqual({ ok: true, der: content });
      const start = at % (text.length + 1);
      const changed = text.slice(0, start) + piece + text.slice(start);
      const read = only(changed);
      if (read.ok) expect(printPem('CERTIFICATE', read.der)).toBe(changed);
    }),
  );
});
