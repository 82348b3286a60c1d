import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { file } from '#contract/paths.ts';
import { programName, programsOf, wordsOf } from './command-line.ts';
import { lifetimeMs, readStamp, stampBytes, type Stamped, stampOf } from './stamp.ts';

const lines: [string, string[]][] = [
  ['', []],
  ['   ', []],
  ['a', ['a']],
  ['a b  c', ['a', 'b', 'c']],
  ['"a b" c', ['a b', 'c']],
  ['a="b c"', ['a=b c']],
  ['a ""', ['a', '']],
  ['"never closed', ['never closed']],
  ['C:\\k\\x.exe --config=C:\\k\\y', ['C:\\k\\x.exe', '--config=C:\\k\\y']],
  ['tab\there', ['tab', 'here']],
];
for (const [line, want] of lines) {
  test(`cuts ${JSON.stringify(line)} into ${want.length} words`, () => expect(wordsOf(line)).toEqual(want));
}

const word = fc.stringMatching(/^[\w:\\.=-]{1,12}$/);
const quotable = fc.string().filter(text => !text.includes('"'));
const quoted = (text: string) => `"${text}"`;
const properties: [string, fc.Arbitrary<string>, (text: string) => string][] = [
  ['words without blanks and quotes come back as they were', word, text => text],
  ['quoted words survive', quotable, quoted],
];
for (const [name, each, print] of properties) {
  test(name, () => {
    fc.assert(
      fc.property(fc.array(each), words => {
        expect(wordsOf(words.map(print).join(' '))).toEqual(words);
      }),
    );
  });
}

const names: [string, string][] = [
  [file.kubelet, 'kubelet.exe'],
  ['C:/k/Kubelet.EXE', 'kubelet.exe'],
  ['hostname', 'hostname.exe'],
  ['C:\\k\\containerd', 'containerd.exe'],
  ['x.cmd', 'x.cmd'],
  ['', '.exe'],
];
for (const [path, want] of names) {
  test(`${JSON.stringify(path)} is the program ${want}`, () => expect(programName(path)).toBe(want));
}

const commands: [string, string, [string, string[]][]][] = [
  ['one program', `${file.containerd} --run-service`, [[file.containerd, ['--run-service']]]],
  [
    'a program behind the one that writes its log',
    `${file.logRunner} -log-file=C:\\l -log-file-size=1M ${file.kubelet} --v=2`,
    [
      [file.logRunner, ['-log-file=C:\\l', '-log-file-size=1M']],
      [file.kubelet, ['--v=2']],
    ],
  ],
  [
    'the one that writes logs without a program',
    `${file.logRunner} -log-file=C:\\l`,
    [
      [file.logRunner, ['-log-file=C:\\l']],
      ['', []],
    ],
  ],
  ['nothing', '', [['', []]]],
];
for (const [name, command, want] of commands) {
  test(`finds ${name} in a command`, () => {
    expect(programsOf(command).map(({ path, words }) => [path, words])).toEqual(want);
  });
}

const stamps: Stamped[] = [
  { name: 'kubelet.exe', version: '11.0.0-abc' },
  { name: 'kubelet.exe', version: '11.0.0-abc', defect: 'broken' },
  { name: 'kubelet.exe', version: '11.0.0-abc', defect: 'breaks-after-180s' },
  { name: 'kubelet.exe', version: '11.0.0-abc', reports: 'v1.38.0' },
  { name: 'kubelet.exe', version: '11.0.0-abc', reports: 'v1.38.0', defect: 'broken' },
];
for (const stamped of stamps) {
  const { name, version, defect } = stamped;
  test(`a stamp contains ${Object.keys(stamped).join(' and ')} ${defect ?? ''}`, () => {
    const head = Buffer.concat([Buffer.from(stampOf(name, version, stamped)), Buffer.alloc(1000, 0xff)]);
    expect(readStamp(head)).toEqual(stamped);
  });
}

test.each([
  ['broken', 0],
  ['breaks-after-180s', 180_000],
] as const)('a program that is %s works for %i ms', (defect, ms) => expect(lifetimeMs(defect)).toBe(ms));

const noStamps: [string, Uint8Array][] = [
  ['nothing', new Uint8Array()],
  ['a real program', Buffer.from('MZ\u0090\u0000')],
  ['a stamp without its end', Buffer.from('MZ wmco-sandbox a 1')],
  ['a stamp that comes late', Buffer.from(` ${stampOf('a', '1')}`)],
  ['a stamp with an unknown defect', Buffer.from('MZ wmco-sandbox a 1 odd\n')],
  ['a stamp that is too long', Buffer.from(stampOf('a', 'x'.repeat(stampBytes)))],
];
for (const [name, bytes] of noStamps) {
  test(`${name} has no version`, () => expect(readStamp(bytes)).toBeUndefined());
}
