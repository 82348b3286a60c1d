import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { AppError } from '#base/errors.ts';
import { JsonLines } from './json-lines.ts';

function parse(chunks: readonly (string | Buffer)[], maxLineBytes = 1000): unknown[] {
  const lines = new JsonLines('WATCH /x', maxLineBytes);
  return chunks.flatMap(chunk => [...lines.push(Buffer.from(chunk))]);
}

const cases: [string, string[], unknown[]][] = [
  ['one line', ['{"a":1}\n'], [{ a: 1 }]],
  ['several lines in one chunk', ['1\n2\n3\n'], [1, 2, 3]],
  ['a line in several chunks', ['{"a"', ':', '1}', '\n'], [{ a: 1 }]],
  ['a chunk that ends one line and begins the next', ['1', '2\n3', '4\n'], [12, 34]],
  ['empty lines, which keep a connection awake', ['\n\n1\n\n', '\n2\n'], [1, 2]],
  ['carriage returns', ['1\r\n2\r\n'], [1, 2]],
  ['nothing', [''], []],
  ['a line that has not ended', ['{"a":1}'], []],
  ['a newline within a text, which JSON escapes', ['"a\\nb"\n'], ['a\nb']],
];
for (const [name, chunks, want] of cases) test(`reads ${name}`, () => expect(parse(chunks)).toEqual(want));

test('reads a character that the network cut in two', () => {
  const bytes = Buffer.from('"Grüße €𝄞"\n');
  for (let cut = 1; cut < bytes.length; cut += 1)
    expect(parse([bytes.subarray(0, cut), bytes.subarray(cut)])).toEqual(['Grüße €𝄞']);
});

test('isPartial is true within a line', () => {
  const lines = new JsonLines('WATCH /x', 100);
  expect(lines.isPartial).toBe(false);
  expect([...lines.push(Buffer.from('1\n2'))]).toEqual([1]);
  expect(lines.isPartial).toBe(true);
  expect([...lines.push(Buffer.from('\n'))]).toEqual([2]);
  expect(lines.isPartial).toBe(false);
});

test('takes a line of just the longest length, in one chunk or many', () => {
  const line = JSON.stringify('x'.repeat(8));
  expect(parse([`${line}\n`], 10)).toEqual(['x'.repeat(8)]);
  expect(parse([...line.split(''), '\n'], 10)).toEqual(['x'.repeat(8)]);
});

const bad: [string, string[], string][] = [
  ['a line that is too long', [`"${'x'.repeat(9)}"\n`], 'a line is longer than 10 bytes'],
  ['a line that is too long and has no end', ['x'.repeat(6), 'x'.repeat(5)], 'a line is longer than 10 bytes'],
  ['a line that is not JSON', ['<html>\n'], 'a line is not JSON: "<html>"'],
];
for (const [name, chunks, message] of bad) {
  test(`rejects ${name}`, () => {
    expect(() => parse(chunks, 10)).toThrow(
      expect.objectContaining({
        code: 'API_ANSWER_INVALID',
        message: `WATCH /x: ${message}`,
        remedy: expect.any(String),
      }),
    );
  });
}

test('does not hold what comes after a line it handed over longer than asked', () => {
  const lines = new JsonLines('WATCH /x', 100);
  const reader = lines.push(Buffer.from('1\n2\n'));
  expect(reader.next().value).toBe(1);
  expect([...reader]).toEqual([2]);
});

test('gives the same values however the text is cut', () => {
  fc.assert(
    fc.property(fc.array(fc.json(), { maxLength: 6 }), fc.array(fc.nat(), { maxLength: 8 }), (texts, cuts) => {
      const bytes = Buffer.from(texts.map(text => `${text}\n`).join(''));
      const places = cuts.map(cut => cut % (bytes.length + 1)).sort((one, other) => one - other);
      const chunks = [...places, bytes.length].map((end, at) => bytes.subarray(places[at - 1] ?? 0, end));
      expect(parse(chunks, 1_000_000)).toEqual(texts.map(text => JSON.parse(text)));
    }),
    { numRuns: 500 },
  );
});

test('throws only AppErrors', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 5 }), chunks => {
      try {
        parse(
          chunks.map(chunk => Buffer.from(chunk)),
          60,
        );
      } catch (error) {
        expect(error).toBeInstanceOf(AppError);
      }
    }),
    { numRuns: 2000 },
  );
});
