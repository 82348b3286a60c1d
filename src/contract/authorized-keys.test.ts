import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { toBase64 } from '#base/bytes.ts';
import { writeWire } from '#base/ssh-wire.ts';
import { admits, linesOf, readKeyLine, readKeyWord } from './authorized-keys.ts';

const blob = Uint8Array.from(writeWire('ssh-ed25519', new Uint8Array(32).fill(1)));
const other = writeWire('ssh-ed25519', new Uint8Array(32).fill(2));
const line = `ssh-ed25519 ${toBase64(blob)}`;
const word = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url');

const keyLines: [name: string, text: string, options: string[]][] = [
  ['a key', line, []],
  ['a comment behind it', `${line} somebody@here`, []],
  ['a comment of several words', `${line}\tthe key  of "somebody`, []],
  ['the line end of Linux', `${line}\n`, []],
  ['the line end of Windows', `${line}\r\n`, []],
  ['blanks before it', ` \t ${line}`, []],
  ['several blanks between', line.replace(' ', ' \t '), []],
  ['an option', `no-pty ${line}`, ['no-pty']],
  ['several options', `no-pty,restrict  ${line} x`, ['no-pty', 'restrict']],
  ['an option with blank and comma', `command="a, b",no-pty ${line}`, ['command="a, b"', 'no-pty']],
  ['an option with quotes', `command="say \\"a b\\"" ${line}`, ['command="say \\"a b\\""']],
];
for (const [name, text, options] of keyLines) {
  test(`reads a line with ${name}`, () => {
    expect(readKeyLine(text)).toEqual({ key: { type: 'ssh-ed25519', blob }, options });
  });
}

const noKeyLines: [name: string, text: string][] = [
  ['nothing', ''],
  ['blanks', ' \t\r\n'],
  ['a comment', `# ${line}`],
  ['a comment behind blanks', `  #${line}`],
  ['a type alone', 'ssh-ed25519'],
  ['a broken key', line.slice(0, -1)],
  ['a key of another type than its name', line.replace('ssh-ed25519', 'ssh-rsa')],
  ['a key of DSA', `ssh-dss ${toBase64(writeWire('ssh-dss', 1n, 1n, 1n, 1n))}`],
  ['an unknown type', `ssh-x ${toBase64(writeWire('ssh-x', 'abc'))}`],
  ['a byte order mark', `\u00ef\u00bb\u00bf${line}`],
  ['two bytes per letter', line.replaceAll(/(?<=.)/g, '\0')],
  ['quotes that do not end', `command="a ${line}`],
  ['two words before the key', `a b ${line}`],
];
for (const [name, text] of noKeyLines) {
  test(`finds no key in a line with ${name}`, () => expect(readKeyLine(text)).toBeUndefined());
}

const files: [name: string, lines: string[], admitted: boolean][] = [
  ['without it', [`ssh-ed25519 ${toBase64(other)}`], false],
  ['with it', [`ssh-ed25519 ${toBase64(other)}`, line], true],
  ['with it and harmless options', [`Restrict,no-PTY,permitopen="a:1" ${line}`], true],
  ['with its command replaced', [`command="x" ${line}`], false],
  ['with other addresses only', [`from="10.0.0.0/8" ${line}`], false],
  ['with a time limit', [`expiry-time="20300101" ${line}`], false],
  ['with an unknown option', [`no-ptyx ${line}`], false],
  ['as a certificate authority', [`cert-authority ${line}`], false],
  ['without limits only in a later line', [`command="x" ${line}`, line], false],
  ['without limits in an earlier line', [line, `command="x" ${line}`], true],
];
for (const [name, lines, admitted] of files) {
  test(`a file ${name} ${admitted ? 'lets the key in' : 'does not let the key in'}`, () => {
    expect(admits(lines.map(readKeyLine), blob)).toBe(admitted);
  });
}

test('the lines of any text are the text again, and each has at most one line end', () => {
  const text = fc.string({ unit: fc.constantFrom('a', ' ', '\r', '\n', '\0', '\u00e4') });
  fc.assert(
    fc.property(text, content => {
      const lines = linesOf(content);
      expect(lines.join('')).toBe(content);
      for (const each of lines) expect(each).toMatch(/^[^\n]*\n$|^[^\n]+$/);
    }),
  );
});

test('reads any line without failing', () => {
  const piece = fc.constantFrom('ssh-ed25519', ' ', '"', '\\', ',', '#', toBase64(blob), 'x', '\t', '\0');
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), pieces => {
      const found = readKeyLine(pieces.join(''));
      expect([undefined, 'ssh-ed25519']).toContain(found?.key.type);
    }),
  );
});

const point = (bytes: number) => Uint8Array.from([4, ...new Uint8Array(bytes - 1)]);
const rsa = (bytes: number) => writeWire('ssh-rsa', 65_537n, 2n ** BigInt(bytes * 8 - 1));
const goodWords: [string, Uint8Array][] = [
  ['Ed25519', blob],
  ['ECDSA P-256', writeWire('ecdsa-sha2-nistp256', 'nistp256', point(65))],
  ['ECDSA P-384', writeWire('ecdsa-sha2-nistp384', 'nistp384', point(97))],
  ['ECDSA P-521', writeWire('ecdsa-sha2-nistp521', 'nistp521', point(133))],
  ['RSA of 4096 bits', rsa(512)],
];
for (const [name, bytes] of goodWords) {
  test(`reads the word of a key of ${name}, with or without padding`, () => {
    expect(readKeyWord(word(bytes))?.blob).toEqual(Uint8Array.from(bytes));
    expect(readKeyWord(Buffer.from(bytes).toBase64({ alphabet: 'base64url' }))?.blob).toEqual(Uint8Array.from(bytes));
  });
}

const withStrayBit = (text: string) => text.slice(0, -1) + String.fromCharCode(1 + text.charCodeAt(text.length - 1));
const badWords: [string, string][] = [
  ['nothing', ''],
  ['padding alone', '=='],
  ['a line of a file', line],
  ['the alphabet of files', toBase64(Uint8Array.from([...blob.subarray(0, -2), 0xff, 0xff]))],
  ['a length that no bytes have', word(blob).slice(0, -3)],
  ['one letter too many', `${word(blob)}AA`],
  ['stray bits at its end', withStrayBit(word(writeWire('ssh-rsa', 3n, 257n)))],
  ['DSA', word(writeWire('ssh-dss', 1n, 1n, 1n, 1n))],
  ['a security key', word(writeWire('sk-ssh-ed25519@openssh.com', new Uint8Array(32), 'ssh:'))],
  ['a curve that is not that of its type', word(writeWire('ecdsa-sha2-nistp256', 'nistp384', point(97)))],
  ['RSA of 8192 bits, which is too long for a command', word(rsa(1024))],
];
for (const [name, text] of badWords) {
  test(`rejects a word with ${name}`, () => expect(readKeyWord(text)).toBeUndefined());
}
