import { der, makeCsrDer, oid, sequence, set, utf8 } from '../csr.ts';
import type { AskedKind } from './asked-kinds.ts';
import { attribute, type HostileDer, infoParts, oids, signed, text, utf8String, withLongLength } from './der-parts.ts';

const wide = (value: string, octets: number) =>
  Uint8Array.from([...utf8(value)].flatMap(octet => [...new Uint8Array(octets - 1), octet]));
const { commonName, organization } = oids;

export function hostileSubjects(kind: AskedKind): HostileDer[] {
  const [version, , key, list] = infoParts(kind);
  const [[good = ''] = [], [group = ''] = []] = [kind.good.commonNames, kind.good.organizations];
  const bad = kind.evil.commonNames[0];
  const first = set(attribute(organization, text(group)));
  const named = (...parts: Uint8Array[]) => signed(version, sequence(first, ...parts), key, list);
  const called = (tag: number, content: Uint8Array) => named(set(attribute(commonName, der(tag, content))));
  return [
    ...commonNames(good, bad).map(
      ([name, tag, content]): HostileDer => [`a common name in ${name}`, called(tag, content)],
    ),
    ...parts(good, bad).map(([name, more]): HostileDer => [name, named(...more)]),
    ['no subject', signed(version, sequence(), key, list)],
    ['a subject of the thief', makeCsrDer(kind.evil)],
  ];
}

function commonNames(good: string, bad: string): [kind: string, tag: number, content: Uint8Array][] {
  const [printable, t61, bmp] = [0x13, 0x14, 0x1e];
  return [
    ['BMP text', bmp, wide(good, 2)],
    ['BMP text that reads otherwise octet by octet', bmp, utf8(good)],
    ['T61 text', t61, utf8(good)],
    ['T61 text with umlauts', t61, Uint8Array.of(...utf8(good), 0xfc)],
    ['universal text', 0x1c, wide(good, 4)],
    ['IA5 text', 0x16, utf8(good)],
    ['visible text', 0x1a, utf8(good)],
    ['numeric text', 0x12, utf8('1234')],
    ['graphic text', 0x19, utf8(good)],
    ['octets', 0x04, utf8(good)],
    ['text in pieces', 0x2c, text(good)],
    ['a number', 0x02, Uint8Array.of(1)],
    ['UTF-8 that is none', utf8String, Uint8Array.of(...utf8(good), 0xff)],
    ['UTF-8 with a NUL', utf8String, utf8(`${good}\0.example.com`)],
    ['UTF-8 with a line break', utf8String, utf8(`${good}\n${bad}`)],
    ['UTF-8 with a mark in front', utf8String, utf8(`\ufeff${good}`)],
    ['UTF-8 of a long form', utf8String, Uint8Array.of(...utf8(good), 0xc0, 0xaf)],
    ['printable text with an asterisk', printable, utf8(`${good}*`)],
    ['printable text with an ampersand', printable, utf8(`${good}&`)],
    ['printable text with an underscore', printable, utf8(`${good}_`)],
    ['printable text with a NUL', printable, utf8(`${good}\0`)],
    ['no text', utf8String, new Uint8Array()],
  ];
}

/** What follows the organization in the subject. */
function parts(good: string, bad: string): [name: string, parts: Uint8Array[]][] {
  const [one, two] = [attribute(commonName, text(good)), attribute(commonName, text(bad))];
  const others = ['2.5.4.11', '2.5.4.5', '0.9.2342.19200300.100.1.1', '1.2.840.113549.1.9.1', '2.5.4.3.1'];
  const group = (value: Uint8Array) => set(attribute(organization, value));
  return [
    ['two common names, the good one first', [set(one), set(two)]],
    ['two common names, the evil one first', [set(two), set(one)]],
    ['two common names in one part', [set(one, two)]],
    ['one common name twice', [set(one), set(one)]],
    ['an organization in the part of the common name', [set(one, attribute(organization, text('admins')))]],
    ['a second organization', [group(text('admins')), set(one)]],
    ['an organization in BMP text', [group(der(0x1e, wide('admins', 2))), set(one)]],
    ['an organization that is a number', [group(der(0x02, [1])), set(one)]],
    ...others.map((type): [string, Uint8Array[]] => [
      `the attribute ${type} in the subject`,
      [set(one), set(attribute(type, text(bad)))],
    ]),
    ['an empty part of the subject', [set(one), set()]],
    ['a part of the subject that is no set', [sequence(one)]],
    ['a third value in an attribute', [set(sequence(oid(commonName), text(good), text(bad)))]],
    ['an attribute without value', [set(sequence(oid(commonName)))]],
    ['a type in a long form', [set(sequence(der(0x06, [0x55, 4, 0x80, 3]), text(good)))]],
    ['a long length of the common name', [set(sequence(oid(commonName), withLongLength(text(good))))]],
  ];
}
