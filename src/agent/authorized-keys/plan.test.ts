import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { toBase64, toLatin1 } from '#base/bytes.ts';
import { writeWire } from '#base/ssh-wire.ts';
import { admits, linesOf, readKeyLine } from '#contract/authorized-keys.ts';
import { type KeyChange, planChange } from './plan.ts';

const keyOf = (number: number) => ({
  type: 'ssh-ed25519',
  blob: Uint8Array.from(writeWire('ssh-ed25519', new Uint8Array(32).fill(number))),
});
const textOf = ({ type, blob }: ReturnType<typeof keyOf>) => `${type} ${toBase64(blob)}`;
const [oldKey, newKey, alice] = [keyOf(1), keyOf(2), keyOf(3)];
const [o, n, a] = [oldKey, newKey, alice].map(textOf) as [string, string, string];
const [add, remove] = [newKey, oldKey];

const changes: [name: string, before: string, change: KeyChange, after: string, added: boolean, removed: number][] = [
  ['adds to nothing', '', { add }, `${n}\n`, true, 0],
  ['adds to a file', `${a} alice\n`, { add }, `${n}\n${a} alice\n`, true, 0],
  ['adds with the line end of Windows', `# ours\r\n${a}\r\n`, { add }, `${n}\r\n# ours\r\n${a}\r\n`, true, 0],
  ['leaves a last line without line end', a, { add }, `${n}\n${a}`, true, 0],
  ['knows a key that is there', `${a}\n${n} new\n`, { add }, `${a}\n${n} new\n`, false, 0],
  ['knows a key with harmless options', `no-pty ${n}\n`, { add }, `no-pty ${n}\n`, false, 0],
  ['adds a key that is there with limits', `from="1.2.3.4" ${n}\n`, { add }, `${n}\nfrom="1.2.3.4" ${n}\n`, true, 0],
  ['adds before a line with limits', `command="x" ${n}\n${n}\n`, { add }, `${n}\ncommand="x" ${n}\n${n}\n`, true, 0],
  ['adds a key that is there in a comment', `#${n}\n`, { add }, `${n}\n#${n}\n`, true, 0],
  ['removes a key', `${o}\n${a}\n`, { remove }, `${a}\n`, false, 1],
  ['removes every line of it', `${o} x\n${a}\nno-pty ${o}\r\n${o}`, { remove }, `${a}\n`, false, 3],
  ['removes nothing that is not there', `${a}\r\n\r\n# x`, { remove }, `${a}\r\n\r\n# x`, false, 0],
  ['removes nothing from nothing', '', { remove }, '', false, 0],
  ['removes nothing from a file without keys', '# x\n', { remove }, '# x\n', false, 0],
  ['leaves a comment with the key', `#${o}\n${o}\n${a}\n`, { remove }, `#${o}\n${a}\n`, false, 1],
  ['exchanges the last key', `${o}\n`, { add, remove }, `${n}\n`, true, 1],
  ['removes the key beside the new one', `${o}\n${n}\n`, { add, remove }, `${n}\n`, false, 1],
  ['has nothing left to exchange', `${n}\n`, { add, remove }, `${n}\n`, false, 0],
  [
    'removes a key beside one with limits',
    `${o}\nfrom="1.2.3.4" ${a}\n`,
    { remove },
    `from="1.2.3.4" ${a}\n`,
    false,
    1,
  ],
];
for (const [name, before, change, text, added, removed] of changes) {
  test(name, () => expect(planChange(before, change)).toEqual({ text, added, removed }));
}

const last: [name: string, before: string][] = [
  ['the only line', `${o}\n`],
  ['all lines', `${o}\n${o} again\n`],
  ['the only key beside a comment and a broken line', `# ${a}\n${o}\n${a.slice(0, -1)}\n`],
  ['the only key beside one of DSA', `${o}\nssh-dss ${toBase64(writeWire('ssh-dss', 1n, 1n, 1n, 1n))}\n`],
];
for (const [name, before] of last) {
  test(`refuses to remove a key that is ${name}`, () => {
    expect(() => planChange(before, { remove })).toThrow(expect.objectContaining({ code: 'AUTHORIZED_KEY_LAST' }));
  });
}

const anyBytes = fc.uint8Array({ maxLength: 60 }).map(toLatin1);
const anyLine = fc.oneof(
  anyBytes,
  fc.constantFrom('', '\r', '# x', `${a} alice`, `no-pty ${a}\r`, `${a}\0`, `from="x" ${n}`, `${n} new`, `  ${o} old`),
);
const anyText = fc.tuple(fc.array(anyLine, { maxLength: 8 }), fc.constantFrom('', '\n')).map(parts => {
  const [lines, end] = parts;
  return lines.join('\n') + end;
});
const has = (text: string, { blob }: ReturnType<typeof keyOf>) =>
  linesOf(text).some(line => readKeyLine(line)?.key.blob.toHex() === blob.toHex());

test('in any file, a key that is added opens a session, and adding it again changes nothing', () => {
  fc.assert(
    fc.property(anyText, before => {
      const { text } = planChange(before, { add });
      expect(admits(linesOf(text).map(readKeyLine), newKey.blob)).toBe(true);
      expect(planChange(text, { add })).toEqual({ text, added: false, removed: 0 });
      expect(text.endsWith(before)).toBe(true);
    }),
  );
});

test('in any file, adding and removing a key leaves all other lines, byte for byte', () => {
  fc.assert(
    fc.property(anyText, before => {
      fc.pre(!has(before, newKey));
      const { text } = planChange(`${a}\n${before}`, { add });
      expect(planChange(text, { remove: newKey })).toEqual({ text: `${a}\n${before}`, added: false, removed: 1 });
    }),
  );
});

test('in any file, an exchange removes the lines of the old key and no others', () => {
  fc.assert(
    fc.property(anyText, before => {
      const { text, removed } = planChange(before, { add, remove });
      const others = linesOf(before).filter(line => !has(line, oldKey));
      expect(has(text, oldKey)).toBe(false);
      expect(linesOf(text).slice(-others.length || Infinity)).toEqual(others);
      expect(removed).toBe(linesOf(before).length - others.length);
    }),
  );
});
