import { toBase64 } from '../../../src/base/bytes.ts';
import { printPem } from '../../../src/base/pem.ts';
import { makeCsrDer } from '../csr.ts';
import type { AskedKind } from './asked-kinds.ts';
import { behindTheSignature, inAnAttribute, type Smuggled } from './smuggled.ts';

const type = 'CERTIFICATE REQUEST';
const [begin, end] = [`-----BEGIN ${type}-----\n`, `-----END ${type}-----\n`];

/** One way to write a request down; `evil` where the server reads the evil one of two. */
export interface HostileText {
  name: string;
  text: string;
  isEvil?: boolean;
}

/** Texts around one or two requests that readers of PEM could take in different ways. */
export function hostileTexts(kind: AskedKind): HostileText[] {
  const [good, evil] = [makeCsrDer(kind.good), makeCsrDer(kind.evil)];
  return [
    { name: 'as it should be', text: printPem(type, good) },
    { name: 'no line break at the end', text: printPem(type, good).trimEnd() },
    ...twoBlocks(printPem(type, good), printPem(type, evil)),
    ...smuggledTexts('behind the signature', behindTheSignature(kind)),
    ...smuggledTexts('in an attribute', inAnAttribute(kind)),
    ...otherLines(printPem(type, good)),
    ...otherBase64(good),
    ...aroundIt(printPem(type, good)),
  ];
}

function smuggledTexts(where: string, { evil, offset }: Smuggled): HostileText[] {
  const [before, hidden] = [lines(evil.subarray(0, offset)), lines(evil.subarray(offset))];
  const decoy = `x${begin}${hidden.trimEnd()}${end}`;
  const blank = `${begin}a: b\n${before}\n${hidden}${end}`;
  return [
    { name: `a good request ${where} and a decoy behind`, text: `${blank}${decoy}`, isEvil: true },
    { name: `a good request ${where} and a decoy before`, text: `${decoy}${blank}`, isEvil: true },
    { name: `a good request ${where} behind a header`, text: blank, isEvil: true },
    { name: `a good request ${where} behind a blank line`, text: `${begin}${before}\n${hidden}${end}`, isEvil: true },
    { name: `a good request ${where}`, text: printPem(type, evil), isEvil: true },
  ];
}

function lines(bytes: Uint8Array): string {
  return `${(toBase64(bytes).match(/.{1,64}/g) ?? []).join('\n')}\n`;
}

function twoBlocks(good: string, evil: string): HostileText[] {
  const nameless = good.replace('BEGIN', 'BEGIN PRIVATE');
  return [
    { name: 'the evil one first', text: evil + good, isEvil: true },
    { name: 'the good one first', text: good + evil },
    { name: 'the evil one behind a decoy', text: `x${good}${evil}`.replace(`\n${end}`, end), isEvil: true },
    { name: 'the evil one behind an indented one', text: ` ${good}${evil}`, isEvil: true },
    { name: 'the evil one behind a broken one', text: good.replace('MI', '!!') + evil, isEvil: true },
    { name: 'the evil one behind one with another end', text: good.replace('END C', 'END X') + evil, isEvil: true },
    { name: 'the evil one behind one without end', text: good.replace(end, '') + evil, isEvil: true },
    { name: 'the evil one behind one of another type', text: nameless + evil, isEvil: true },
    { name: 'the evil one behind one with text after its end', text: `${good.trimEnd()}x\n${evil}`, isEvil: true },
    {
      name: 'the evil one as the value of a header',
      text: good.replace(begin, `${begin}a: ${evil}\n\n`),
      isEvil: true,
    },
    { name: 'the evil one behind a NUL', text: `${good}\0${evil}` },
    { name: 'the evil one behind a carriage return', text: `${good.trimEnd()}\r${evil}` },
  ];
}

function otherLines(good: string): HostileText[] {
  const between = (text: string) => good.replace(begin, begin + text);
  const inLine = (text: string) => good.replace(/(\n.{20})/, `$1${text}`);
  return [
    { name: 'a header', text: between('Comment: x\n') },
    { name: 'a header and a blank line', text: between('Comment: x\n\n') },
    { name: 'an encrypted one', text: between('Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n') },
    { name: 'a blank line in front', text: between('\n') },
    { name: 'a blank line inside', text: good.replace(/(\n.{64}\n)/, '$1\n') },
    { name: 'a blank line at the end', text: good.replace(end, `\n${end}`) },
    { name: 'a colon in a line', text: inLine(':') },
    { name: 'a line with a colon', text: good.replace(/(\n.{64}\n)/, '$1a: b\n') },
    { name: 'a blank in a line', text: inLine(' ') },
    { name: 'a tab in a line', text: inLine('\t') },
    { name: 'a NUL in a line', text: inLine('\0') },
    { name: 'a form feed in a line', text: inLine('\f') },
    { name: 'a dash in a line', text: inLine('-') },
    { name: 'padding in a line', text: inLine('=') },
    { name: 'an indented line', text: between('  ') },
    { name: 'blanks at the end of lines', text: good.replaceAll('\n', '  \n') },
    { name: 'blanks behind the first line', text: good.replace('-----\n', '----- \t\n') },
    { name: 'blanks behind the last line', text: `${good.trimEnd()} \n` },
    { name: 'carriage returns', text: good.replaceAll('\n', '\r\n') },
    { name: 'one carriage return', text: good.replace('\n', '\r\n') },
    { name: 'carriage returns alone', text: good.replaceAll('\n', '\r') },
    { name: 'line separators', text: good.replaceAll('\n', '\u2028') },
    { name: 'a comment', text: between('# x\n') },
  ];
}

function otherBase64(good: Uint8Array): HostileText[] {
  const wrapped = (length: number) =>
    `${begin}${(toBase64(good).match(new RegExp(`.{1,${length}}`, 'g')) ?? []).join('\n')}\n${end}`;
  const padded = toBase64(Uint8Array.from([...good, ...new Uint8Array((3 - (good.length % 3)) % 3)]));
  return [
    { name: 'lines of 76', text: wrapped(76) },
    { name: 'lines of 60', text: wrapped(60) },
    { name: 'lines of one', text: wrapped(1) },
    { name: 'one line', text: wrapped(100_000) },
    { name: 'no padding', text: printPem(type, good).replace(/=+\n/, '\n') },
    { name: 'padding on a line of its own', text: printPem(type, good).replace(/(=+)\n/, '\n$1\n') },
    { name: 'octets of zero instead of padding', text: `${begin}${padded}\n${end}` },
    { name: 'the alphabet of URLs', text: printPem(type, good).replaceAll('+', '-').replaceAll('/', '_') },
    { name: 'stray bits at the end', text: printPem(type, good).replace(/[AQgw](=+)\n/, 'B$1\n') },
  ];
}

function aroundIt(good: string): HostileText[] {
  return [
    { name: 'text before', text: `Certificate Request:\n    Data:\n${good}` },
    { name: 'text behind', text: `${good}made by hand\n` },
    { name: 'a blank line before', text: `\n${good}` },
    { name: 'a blank line behind', text: `${good}\n` },
    { name: 'a byte order mark', text: `\ufeff${good}` },
    { name: 'a NUL before', text: `\0\n${good}` },
    { name: 'a NUL behind', text: `${good}\0` },
    { name: 'a key behind', text: good + printPem('PRIVATE KEY', new Uint8Array([0x30, 0])) },
    { name: 'a first line without end', text: `-----BEGIN X-----\n${good}` },
    { name: 'the old type name', text: good.replaceAll(type, `NEW ${type}`) },
    { name: 'the type in small letters', text: good.replaceAll(type, type.toLowerCase()) },
    { name: 'six dashes', text: good.replaceAll('-----', '------') },
    { name: 'cut', text: good.slice(0, -40) },
    { name: 'empty', text: '' },
  ];
}
