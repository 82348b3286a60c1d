import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { AppError } from '#base/errors.ts';
import {
  type BundleEntry,
  type BundleHeader,
  parseHeader,
  preambleBytes,
  printHeader,
  readPreamble,
} from './bundle.ts';
import { file } from './paths.ts';

const hash = 'ab'.repeat(32);
const kubelet: BundleEntry = {
  path: file.kubelet,
  sha256: hash,
  bytes: 100,
  encoding: 'zstd',
  packedBytes: 40,
  secret: false,
};
const header = (over: Partial<BundleHeader> = {}): BundleHeader => ({
  version: '11.0.0-1234567',
  entries: [kubelet],
  remove: [],
  ...over,
});
const entry = (over: object): BundleHeader => header({ entries: [{ ...kubelet, ...over }] });
const bytes = (value: unknown) => new TextEncoder().encode(typeof value === 'string' ? value : JSON.stringify(value));
const wire = (over: object) => bytes({ format: 1, ...header(), ...over });
const parse = (printed: Uint8Array) => {
  const length = readPreamble(printed.subarray(0, preambleBytes));
  return parseHeader(printed.subarray(preambleBytes, preambleBytes + length));
};
const codeOf = (run: () => unknown) => {
  try {
    return run() === undefined ? 'nothing' : 'a value';
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    expect(error.remedy).not.toBe('');
    return error.code;
  }
};

const kept: [string, BundleHeader][] = [
  ['one file', header()],
  ['no file at all', header({ entries: [] })],
  ['files to remove only', header({ entries: [], remove: ['C:\\k\\containerd\\registries\\quay.io\\hosts.toml'] })],
  ['a secret', entry({ secret: true })],
  ['a file that is not packed', entry({ encoding: 'none', packedBytes: 100 })],
  ['an empty file', entry({ encoding: 'none', bytes: 0, packedBytes: 0 })],
  ['a file of four gigabytes', entry({ bytes: 4 * 1024 ** 3 })],
  ['a path of another alphabet', entry({ path: 'C:\\k\\ключ.txt' })],
];
for (const [name, given] of kept)
  test(`reads again what it printed: ${name}`, () => expect(parse(printHeader(given))).toEqual(given));

test('begins with the magic word and the length of the header', () => {
  const printed = printHeader(header());
  expect(new TextDecoder().decode(printed.subarray(0, 8))).toBe('WMCOFILE');
  expect(readPreamble(printed.subarray(0, preambleBytes))).toBe(printed.length - preambleBytes);
});

test('reads a preamble out of the middle of a buffer', () => {
  const printed = printHeader(header());
  const shifted = new Uint8Array(printed.length + 5);
  shifted.set(printed, 5);
  expect(readPreamble(shifted.subarray(5, 5 + preambleBytes))).toBe(printed.length - preambleBytes);
});

const preambles: [string, Uint8Array][] = [
  ['nothing', new Uint8Array()],
  ['half a preamble', printHeader(header()).subarray(0, 6)],
  ['too much', printHeader(header()).subarray(0, 13)],
  ['a zip file', bytes('PK\u0003\u0004________')],
  ['another magic word', bytes('WMCOFILF\0\0\0\u0001')],
  ['a header of four gigabytes', new Uint8Array([...bytes('WMCOFILE'), 255, 255, 255, 255])],
  ['a header one byte too long', new Uint8Array([...bytes('WMCOFILE'), 0, 64, 0, 1])],
];
for (const [name, given] of preambles) {
  test(`rejects a preamble: ${name}`, () => expect(codeOf(() => readPreamble(given))).toBe('BUNDLE_MALFORMED'));
}

test('takes the longest header', () => {
  expect(readPreamble(new Uint8Array([...bytes('WMCOFILE'), 0, 64, 0, 0]))).toBe(4 * 1024 * 1024);
});

const refused: [string, Uint8Array, string][] = [
  ['no text', new Uint8Array([0xff, 0xfe]), 'BUNDLE_MALFORMED'],
  ['nothing', bytes(''), 'BUNDLE_MALFORMED'],
  ['half of it', bytes(JSON.stringify({ format: 1, ...header() }).slice(0, 30)), 'BUNDLE_MALFORMED'],
  ['a list', bytes([]), 'BUNDLE_MALFORMED'],
  ['a later format', wire({ format: 2 }), 'BUNDLE_MALFORMED'],
  ['no format', bytes(header()), 'BUNDLE_MALFORMED'],
  ['a format in words', wire({ format: '1' }), 'BUNDLE_MALFORMED'],
  ['no version', wire({ version: undefined }), 'BUNDLE_MALFORMED'],
  ['entries that are a text', wire({ entries: 'all' }), 'BUNDLE_MALFORMED'],
  ['an entry that is a path', wire({ entries: [file.kubelet] }), 'BUNDLE_MALFORMED'],
  ['an unknown encoding', wire(entry({ encoding: 'lzma' })), 'BUNDLE_MALFORMED'],
  ['no encoding', wire(entry({ encoding: undefined })), 'BUNDLE_MALFORMED'],
  ['no path', wire(entry({ path: undefined })), 'BUNDLE_MALFORMED'],
  ['no hash', wire(entry({ sha256: undefined })), 'BUNDLE_MALFORMED'],
  ['a hash that is too short', wire(entry({ sha256: 'ab' })), 'BUNDLE_MALFORMED'],
  ['a hash in capitals', wire(entry({ sha256: hash.toUpperCase() })), 'BUNDLE_MALFORMED'],
  ['a hash that leads elsewhere', wire(entry({ sha256: `..\\..\\${'a'.repeat(57)}x` })), 'BUNDLE_MALFORMED'],
  ['no size', wire(entry({ bytes: undefined })), 'BUNDLE_MALFORMED'],
  ['half a byte', wire(entry({ bytes: 0.5 })), 'BUNDLE_MALFORMED'],
  ['less than nothing', wire(entry({ packedBytes: -1 })), 'BUNDLE_MALFORMED'],
  ['more than four gigabytes', wire(entry({ bytes: 4 * 1024 ** 3 + 1 })), 'BUNDLE_MALFORMED'],
  ['two sizes of what is not packed', wire(entry({ encoding: 'none' })), 'BUNDLE_MALFORMED'],
  ['secrecy in words', wire(entry({ secret: 'yes' })), 'BUNDLE_MALFORMED'],
  ['a path that is not ours', wire(entry({ path: 'C:\\Windows\\x' })), 'BUNDLE_MALFORMED'],
  ['a path with a way up', wire(entry({ path: 'C:\\k\\..\\x' })), 'BUNDLE_MALFORMED'],
  ['a removal that is not ours', wire({ remove: ['C:\\Windows\\x'] }), 'BUNDLE_MALFORMED'],
  ['a removal that is a number', wire({ remove: [1] }), 'BUNDLE_MALFORMED'],
  ['a file that is to come and to go', wire({ remove: [file.kubelet.toLowerCase()] }), 'BUNDLE_MALFORMED'],
];
for (const [name, given, code] of refused) {
  test(`rejects a header: ${name}`, () => expect(codeOf(() => parseHeader(given))).toBe(code));
}

test('parses every header that it prints', () => {
  expect(codeOf(() => printHeader(entry({ path: 'D:\\x' })))).toBe('BUNDLE_MALFORMED');
  expect(codeOf(() => printHeader(entry({ sha256: '' })))).toBe('BUNDLE_MALFORMED');
  expect(codeOf(() => printHeader(header({ version: 'v'.repeat(5_000_000) })))).toBe('BUNDLE_MALFORMED');
});

test('names the file and the value in question', () => {
  expect(() => parseHeader(wire(entry({ sha256: 'xyz' })))).toThrow(/C:\\k\\kubelet\.exe is "xyz"/);
  expect(() => parseHeader(wire(entry({ path: 'C:\\x' })))).toThrow(/"C:\\\\x" is not below C:\\k, C:\\Temp/);
});

test('an entry is secret only if the header says so', () => {
  const { secret: _, ...plain } = kubelet;
  expect(parseHeader(wire({ entries: [plain] })).entries[0]?.secret).toBe(false);
});

test('throws only AppErrors for any bytes', () => {
  const text = fc.oneof(fc.string(), fc.json(), fc.constantFrom('{"format":1}', '{"format":1,"entries":[{}]}'));
  fc.assert(
    fc.property(text, fc.uint8Array({ maxLength: 20 }), (json, raw) => {
      for (const run of [() => parseHeader(bytes(json)), () => parseHeader(raw), () => readPreamble(raw)]) codeOf(run);
    }),
    { numRuns: 2000 },
  );
});

const { path: _path, encoding: _encoding, packedBytes: _packed, ...content } = kubelet;
const next = { agent: 'cd'.repeat(32), files: [{ path: file.kubelet, ...content }] };

test('prints and parses a set that is only kept', () => {
  expect(parse(printHeader(header({ next })))).toEqual(header({ next }));
  expect(parse(printHeader(header({ next, entries: [] })))).toEqual(header({ next, entries: [] }));
});

const badSets: [name: string, over: Partial<BundleHeader>][] = [
  ['a set with a bad hash of its agent', { next: { ...next, agent: 'x' } }],
  ['a set with a bad hash', { next: { ...next, files: [{ path: file.kubelet, ...content, sha256: 'x' }] } }],
  ['a set with a bad size', { next: { ...next, files: [{ path: file.kubelet, ...content, bytes: -1 }] } }],
  ['a set with a path elsewhere', { next: { ...next, files: [{ ...content, path: 'C:\\Windows\\x' }] }, entries: [] }],
  ['a set with a path twice', { next: { ...next, files: [...next.files, ...next.files] } }],
  ['a set with the agent', { next: { ...next, files: [{ ...content, path: file.agent }] }, entries: [] }],
  ['an entry that is not in the set', { next: { ...next, files: [] } }],
  ['an entry with other content than in the set', { next, entries: [{ ...kubelet, sha256: 'ef'.repeat(32) }] }],
  ['a set and files to remove', { next, remove: ['C:\\k\\x'] }],
];
for (const [name, over] of badSets) {
  test(`rejects ${name}`, () => {
    expect(codeOf(() => printHeader(header(over)))).toBe('BUNDLE_MALFORMED');
    expect(codeOf(() => parseHeader(wire(over)))).toBe('BUNDLE_MALFORMED');
  });
}
