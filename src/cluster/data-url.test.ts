import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { fromUtf8, toBase64 } from '#base/bytes.ts';
import { decodeDataUrl } from './data-url.ts';

const textOf = (url: string) => {
  const bytes = decodeDataUrl(url);
  return bytes === undefined ? undefined : fromUtf8(bytes);
};

const good: [name: string, url: string, text: string][] = [
  ['plain text', 'data:,hello', 'hello'],
  ['nothing', 'data:,', ''],
  ['percent-encoding', 'data:,%7B%22a%22%3A1%7D', '{"a":1}'],
  ['percent-encoding in small letters', 'data:,%7b%7d', '{}'],
  ['UTF-8 in percent-encoding', 'data:,%C3%BC', 'ü'],
  ['UTF-8 as it is', 'data:,ü€', 'ü€'],
  ['a comma in the text', 'data:,a,b', 'a,b'],
  ['a plus sign, which is no blank', 'data:,a+b', 'a+b'],
  ['line breaks', 'data:,a%0Ab\nc', 'a\nb\nc'],
  ['base64', 'data:;base64,aGVsbG8=', 'hello'],
  ['empty base64', 'data:;base64,', ''],
  ['base64 of which padding and plus are encoded', 'data:;base64,aGVsbG8%3D', 'hello'],
  ['base64 with line breaks', 'data:;base64,aGVs\nbG8=', 'hello'],
  ['a media type', 'data:text/plain,hello', 'hello'],
  ['a media type with base64', 'data:text/plain;base64,aGVsbG8=', 'hello'],
  ['a charset', 'data:text/plain;charset=utf-8,hello', 'hello'],
  ['a charset with base64', 'data:text/plain;charset=utf-8;base64,aGVsbG8=', 'hello'],
  ['several parameters', 'data:application/json;a=1;b=2;base64,e30=', '{}'],
  ['capitals in scheme and marker', 'DATA:;BASE64,aGVsbG8=', 'hello'],
  ['blanks around the marker', 'data:text/plain; base64 ,aGVsbG8=', 'hello'],
  ['a parameter that only looks like the marker', 'data:;xbase64,aGVsbG8=', 'aGVsbG8='],
  ['the marker at the wrong place', 'data:;base64;charset=utf-8,aGVsbG8=', 'aGVsbG8='],
];
for (const [name, url, text] of good) test(`decodes ${name}`, () => expect(textOf(url)).toBe(text));

const bad: [name: string, url: string][] = [
  ['an empty text', ''],
  ['a text without a comma', 'data:hello'],
  ['the scheme alone', 'data:'],
  ['another scheme', 'https://example.com/a,b'],
  ['a scheme that only begins alike', 'database:,x'],
  ['a leading blank', ' data:,x'],
  ['half an escape', 'data:,a%2'],
  ['a percent sign at the end', 'data:,a%'],
  ['an escape that is no hex', 'data:,%zz'],
  ['an escape with a sign', 'data:,%+1'],
  ['an escape of other digits', 'data:,%１２'],
  ['base64 without padding', 'data:;base64,aGVsbG8'],
  ['base64 with strange letters', 'data:;base64,aGVs*G8='],
  ['base64 of the URL alphabet', 'data:;base64,-_-_'],
  ['base64 with bytes that are no text', 'data:;base64,%FF%FF%FF%FF'],
  ['base64 with a broken escape', 'data:;base64,aGVs%'],
];
for (const [name, url] of bad) test(`refuses ${name}`, () => expect(decodeDataUrl(url)).toBeUndefined());

test('gives back any bytes from base64', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), bytes => {
      expect(decodeDataUrl(`data:application/octet-stream;base64,${toBase64(bytes)}`)).toEqual(bytes);
    }),
    { numRuns: 500 },
  );
});

test('gives back any bytes from percent-encoding', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), bytes => {
      const encoded = [...bytes].map(byte => `%${byte.toString(16).padStart(2, '0')}`).join('');
      expect(decodeDataUrl(`data:,${encoded}`)).toEqual(bytes);
    }),
    { numRuns: 500 },
  );
});

test('gives back what encodeURIComponent wrote', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), text => {
      expect(textOf(`data:text/plain;charset=utf-8,${encodeURIComponent(text)}`)).toBe(text);
    }),
    { numRuns: 500 },
  );
});

test('never throws, whatever the text', () => {
  const pieces = fc.constantFrom('data:', ';base64', ',', '%', '%4', '%41', 'QQ==', '=', 'ü', '\ud800', ';', 'x');
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(pieces).map(parts => parts.join('')),
      ),
      url => {
        decodeDataUrl(url);
      },
    ),
    { numRuns: 2000 },
  );
});
