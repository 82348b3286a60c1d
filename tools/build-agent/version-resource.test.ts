import { expect, test } from 'vitest';
import { type About, replaceVersionResource, versionResource } from './version-resource.ts';

const about: About = {
  description: 'Some agent',
  product: 'Some product',
  fileName: 'agent.exe',
  version: '11.2.3-1a2b3c4-dirty',
};

interface Block {
  key: string;
  text: string;
  bytes: Buffer;
  children: Block[];
}

/** Reads the structure like Windows: aligned to four bytes, lengths first. */
function read(data: Buffer, start = 0): Block {
  const [length, valueLength, type] = [0, 2, 4].map(offset => data.readUInt16LE(start + offset)) as [
    number,
    number,
    number,
  ];
  let end = start + 6;
  while (data.readUInt16LE(end) !== 0) end += 2;
  const key = data.toString('utf16le', start + 6, end);
  const align = (at: number) => start + Math.ceil((at - start) / 4) * 4;
  const valueStart = align(end + 2);
  const bytes = data.subarray(valueStart, valueStart + valueLength * (type === 1 ? 2 : 1));
  const children: Block[] = [];
  for (let at = align(valueStart + bytes.length); at < start + length; at = align(at + data.readUInt16LE(at)))
    children.push(read(data, at));
  return { key, text: type === 1 ? bytes.toString('utf16le').replace(/\0$/, '') : '', bytes, children };
}

const textsOf = (data: Buffer) =>
  Object.fromEntries((read(data).children[0]?.children[0]?.children ?? []).map(({ key, text }) => [key, text]));

test('contains what Explorer shows', () => {
  expect(textsOf(versionResource(about, 744))).toEqual({
    FileDescription: 'Some agent',
    ProductName: 'Some product',
    ProductVersion: '11.2.3-1a2b3c4-dirty',
    FileVersion: '11.2.3.0',
    OriginalFilename: 'agent.exe',
  });
});

test('has the parts that Windows needs', () => {
  const { key, children } = read(versionResource(about, 744));
  expect([key, children.map(child => child.key)]).toEqual(['VS_VERSION_INFO', ['StringFileInfo', 'VarFileInfo']]);
  expect(children[0]?.children[0]?.key).toBe('040904b0');
  expect(children[1]?.children[0]?.key).toBe('Translation');
  expect(children[1]?.children[0]?.bytes.toString('hex')).toBe('0904b004');
});

const versions: [string, number[]][] = [
  ['11.2.3-1a2b3c4', [11, 2, 3, 0]],
  ['0.0.1', [0, 0, 1, 0]],
  ['9999.1.2', [9999, 1, 2, 0]],
  ['dev', [0, 0, 0, 0]],
  ['', [0, 0, 0, 0]],
];
for (const [version, numbers] of versions) {
  test(`the numbers of version ${JSON.stringify(version)} are ${numbers.join('.')}`, () => {
    const info = read(versionResource({ ...about, version }, 744)).bytes;
    const at = (offset: number) => [info.readUInt16LE(offset + 2), info.readUInt16LE(offset)];
    expect(info.length).toBe(52);
    expect(info.readUInt32LE(0)).toBe(0xfeef04bd);
    expect([...at(8), ...at(12)]).toEqual(numbers);
    expect([...at(16), ...at(20)]).toEqual(numbers);
  });
}

test('omits texts that do not fit, the least important first', () => {
  const whole = versionResource(about, 744).length;
  expect(Object.keys(textsOf(versionResource(about, whole - 1)))).not.toContain('OriginalFilename');
  const least = versionResource(about, 300);
  expect(least.length).toBeLessThanOrEqual(300);
  expect(textsOf(least)).toMatchObject({ FileDescription: 'Some agent' });
});

test('fails when the description does not fit', () => {
  expect(() => versionResource({ ...about, description: 'x'.repeat(400) }, 744)).toThrow(/no room for/);
});

test('keeps names outside of ASCII', () => {
  expect(textsOf(versionResource({ ...about, description: 'Agent – ü 日' }, 744))['FileDescription']).toBe(
    'Agent – ü 日',
  );
});

/** A resource of another program between other bytes. */
function programWith(...resources: Buffer[]): Buffer {
  return Buffer.concat([Buffer.alloc(8, 1), ...resources.flatMap(item => [item, Buffer.alloc(8, 1)])]);
}

test('overwrites every resource in place and changes no other byte', () => {
  const old = versionResource({ ...about, description: 'Node.js JavaScript Runtime, a long one' }, 744);
  const exe = programWith(old, old);
  replaceVersionResource(exe, about);
  expect(exe.length).toBe(24 + 2 * old.length);
  for (const start of [8, 16 + old.length]) {
    expect(textsOf(exe.subarray(start, start + old.length))).toMatchObject({ FileDescription: 'Some agent' });
    expect(exe.subarray(start - 8, start)).toEqual(Buffer.alloc(8, 1));
  }
  expect(exe.includes(Buffer.from('JavaScript', 'utf16le'))).toBe(false);
});

test('fails for a program without a version resource', () => {
  expect(() => replaceVersionResource(Buffer.alloc(100), about)).toThrow(/no version resource/);
});
