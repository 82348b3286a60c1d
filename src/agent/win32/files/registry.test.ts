import { expect, test } from 'vitest';
import { FakeKoffi } from '../../../../test/kit/fake-koffi.ts';
import { openRegistry, type Registry } from './registry.ts';

interface Value {
  type: number;
  data: Buffer;
}

const noMoreItems = 259;
const moreData = 234;

/** A registry in memory behind the functions of Windows, with the numbers that Windows answers. */
class FakeRegistry {
  readonly keys = new Map<string, Map<string, Value>>();
  readonly created = new Map<string, bigint>();
  /** Handles that are open; must be none when a call is over. */
  readonly open = new Map<bigint, string>();
  /** Result of every call of the name, instead of doing it. */
  readonly flushed: string[] = [];
  failing: Record<string, number> = {};
  /** What was asked for when a key was opened. */
  readonly accesses: number[] = [];
  #handles = 0n;
  time = 0x01dd_74d9_9e5f_e076n;

  readonly koffi = new FakeKoffi({
    RegOpenKeyExW: (...args: unknown[]) => {
      const [path, key] = [args[1] as string, args[4] as unknown[]];
      expect(args[0]).toBe(0xffff_ffff_8000_0002n);
      this.accesses.push(args[3] as number);
      return this.#failing('RegOpenKeyExW') ?? (this.keys.has(path) ? this.#hand(path, key) : 2);
    },
    RegCreateKeyExW: (...args: unknown[]) => {
      const [path, options, key] = [args[1] as string, args[4], args[7] as unknown[]];
      expect(options).toBe(1);
      const failure = this.#failing('RegCreateKeyExW');
      if (failure !== undefined) return failure;
      if (!this.created.has(path)) this.created.set(path, this.time);
      return this.#hand(path, key);
    },
    RegQueryInfoKeyW: (...args: unknown[]) => {
      expect(args).toHaveLength(12);
      const failure = this.#failing('RegQueryInfoKeyW');
      if (failure !== undefined) return failure;
      (args[11] as Buffer).writeBigUInt64LE(this.created.get(this.#path(args[0])) ?? 0n);
      return 0;
    },
    RegQueryValueExW: (...args: unknown[]) => {
      const [key, name, type, data, bytes] = [args[0], args[1] as string, args[3], args[4], args[5]];
      const value = this.keys.get(this.#path(key))?.get(name);
      return this.#failing('RegQueryValueExW') ?? (value ? copy(value, type, data as Buffer, bytes) : 2);
    },
    RegEnumValueW: (...args: unknown[]) => {
      const [name, nameLength] = [args[2] as Buffer, args[3] as number[]];
      const entry = [...(this.keys.get(this.#path(args[0])) ?? [])][args[1] as number];
      const failure = this.#failing('RegEnumValueW');
      if (failure !== undefined) return failure;
      if (entry === undefined) return noMoreItems;
      const result = copy(entry[1], args[5], args[6] as Buffer, args[7]);
      if (result !== 0) return result;
      expect(name.length).toBe(2 * (nameLength[0] ?? 0));
      name.write(`${entry[0]}\0`, 'utf16le');
      nameLength[0] = entry[0].length;
      return 0;
    },
    RegFlushKey: (key: unknown) => {
      this.flushed.push(this.#path(key));
      return this.#failing('RegFlushKey') ?? 0;
    },
    RegSetValueExW: (...args: unknown[]) => {
      const [name, type, data, bytes] = [args[1] as string, args[3] as number, args[4] as Buffer, args[5]];
      expect(bytes).toBe(data.length);
      const failure = this.#failing('RegSetValueExW');
      if (failure === undefined) this.keys.get(this.#path(args[0]))?.set(name, { type, data });
      return failure ?? 0;
    },
    RegDeleteValueW: (key: bigint, name: string) =>
      this.#failing('RegDeleteValueW') ?? (this.keys.get(this.#path(key))?.delete(name) === true ? 0 : 2),
    RegCloseKey: (key: bigint) => (this.open.delete(key) ? 0 : 6),
  });

  readonly registry: Registry = openRegistry(this.koffi);

  set(key: string, values: Record<string, string | number | Value>): void {
    const entries = Object.entries(values).map(([name, value]): [string, Value] => [name, valueOf(value)]);
    this.keys.set(key, new Map(entries));
  }

  #failing(name: string): number | undefined {
    return this.failing[name];
  }

  #hand(path: string, key: unknown[]): number {
    this.#handles += 4n;
    this.open.set(this.#handles, path);
    key[0] = this.#handles;
    return 0;
  }

  #path(handle: unknown): string {
    const path = this.open.get(handle as bigint);
    if (path === undefined) throw new Error('a closed key was used');
    return path;
  }
}

function valueOf(value: string | number | Value): Value {
  if (typeof value === 'string') return { type: 1, data: Buffer.from(`${value}\0`, 'utf16le') };
  if (typeof value === 'object') return value;
  const data = Buffer.alloc(4);
  data.writeUInt32LE(value);
  return { type: 4, data };
}

function copy(value: Value, type: unknown, data: Buffer, bytes: unknown): number {
  const room = (bytes as number[])[0] ?? 0;
  expect(data.length).toBe(room);
  (type as number[])[0] = value.type;
  (bytes as number[])[0] = value.data.length;
  if (value.data.length > room) return moreData;
  value.data.copy(data);
  return 0;
}

const key = String.raw`SOFTWARE\Some\Key`;

test('reports whether a key exists', () => {
  const fake = new FakeRegistry();
  fake.set(key, {});
  expect(fake.registry.hasKey(key)).toBe(true);
  expect(fake.registry.hasKey(String.raw`SOFTWARE\Other`)).toBe(false);
  expect(fake.open.size).toBe(0);
});

test('reads texts and numbers, and gives undefined for other types', () => {
  const fake = new FakeRegistry();
  fake.set(key, { product: 'Windows Server 2022', ubr: 2700, list: { type: 7, data: Buffer.alloc(4) } });
  const { registry } = fake;
  expect(registry.text(key, 'product')).toBe('Windows Server 2022');
  expect(registry.number(key, 'ubr')).toBe(2700);
  expect(registry.text(key, 'ubr')).toBeUndefined();
  expect(registry.number(key, 'product')).toBeUndefined();
  expect(registry.text(key, 'list')).toBeUndefined();
  expect(registry.text(key, 'missing')).toBeUndefined();
  expect(registry.number(key, 'missing')).toBeUndefined();
  expect(registry.text('missing', 'product')).toBeUndefined();
  expect(fake.open.size).toBe(0);
});

test('reads and writes lists, however long', () => {
  const fake = new FakeRegistry();
  fake.set(key, { text: 'x' });
  const { registry } = fake;
  const texts = ['A=1', `NO_PROXY=${'p'.repeat(40_000)}`, 'Größe=漢'];
  registry.setList(key, 'list', texts);
  expect([registry.list(key, 'list'), registry.list(key, 'missing')]).toEqual([texts, undefined]);
  expect(() => registry.list(key, 'text')).toThrow('value text of HKLM');
  expect(() => registry.setList('missing', 'list', texts)).toThrow('HKLM');
  expect(fake.open.size).toBe(0);
});

test.each([0, 255, 256, 257, 5000, 40_000])('reads a text of %d characters', length => {
  const fake = new FakeRegistry();
  fake.set(key, { long: 'x'.repeat(length) });
  expect(fake.registry.text(key, 'long')).toHaveLength(length);
});

test('lists texts only, however long', () => {
  const fake = new FakeRegistry();
  const long = 'p'.repeat(40_000);
  fake.set(key, {
    Path: { type: 2, data: Buffer.from('%SystemRoot%\0', 'utf16le') },
    number: 7,
    HTTP_PROXY: 'http://user:password@proxy',
    long,
    binary: { type: 3, data: Buffer.alloc(100_000) },
    'with space': '',
  });
  expect(fake.registry.texts(key)).toEqual({
    Path: '%SystemRoot%',
    HTTP_PROXY: 'http://user:password@proxy',
    long,
    'with space': '',
  });
  expect(fake.open.size).toBe(0);
});

test('lists a value with the longest name there may be', () => {
  const fake = new FakeRegistry();
  const name = 'n'.repeat(16_383);
  fake.set(key, { [name]: 'x' });
  expect(fake.registry.texts(key)).toEqual({ [name]: 'x' });
});

test('lists no values of a missing or empty key', () => {
  const fake = new FakeRegistry();
  fake.set(key, {});
  expect(fake.registry.texts(key)).toEqual({});
  expect(fake.registry.texts('missing')).toEqual({});
});

test('lists a value with the name of an object property', () => {
  const fake = new FakeRegistry();
  fake.keys.set(key, new Map([['__proto__', valueOf('x')]]));
  expect(Object.entries(fake.registry.texts(key))).toEqual([['__proto__', 'x']]);
});

test('writes a plain text with its NUL', () => {
  const fake = new FakeRegistry();
  fake.set(key, { NAME: { type: 2, data: Buffer.alloc(2) } });
  fake.registry.setText(key, 'NAME', 'ä b');
  expect(fake.keys.get(key)?.get('NAME')).toEqual({ type: 1, data: Buffer.from('ä b\0', 'utf16le') });
  expect(fake.open.size).toBe(0);
});

test('removes a value; ignores a missing value or key', () => {
  const fake = new FakeRegistry();
  fake.set(key, { A: 'x', B: 'y' });
  fake.registry.removeValue(key, 'A');
  fake.registry.removeValue(key, 'A');
  fake.registry.removeValue('missing', 'A');
  expect([...(fake.keys.get(key)?.keys() ?? [])]).toEqual(['B']);
  expect(fake.open.size).toBe(0);
});

test('requests no more rights than a call needs', () => {
  const fake = new FakeRegistry();
  fake.set(key, { A: 'x' });
  fake.registry.text(key, 'A');
  fake.registry.texts(key);
  fake.registry.hasKey(key);
  fake.registry.setText(key, 'A', 'y');
  fake.registry.removeValue(key, 'A');
  expect(fake.accesses).toEqual([1, 1, 1, 2, 2]);
});

test('gives the same creation time of a volatile key each time', () => {
  const fake = new FakeRegistry();
  const first = fake.registry.volatileKeyTime(key);
  fake.time += 1n;
  expect(fake.registry.volatileKeyTime(key)).toBe(first);
  expect(first).toBe(0x01dd_74d9_9e5f_e076n);
  expect(fake.open.size).toBe(0);
});

const failures: [string, string, number, (registry: Registry) => unknown, string][] = [
  ['a key', 'RegOpenKeyExW', 5, registry => registry.hasKey(key), 'WINDOWS_ACCESS_DENIED'],
  ['a key to read', 'RegOpenKeyExW', 1314, registry => registry.text(key, 'A'), 'WINDOWS_ACCESS_DENIED'],
  ['a value', 'RegQueryValueExW', 1018, registry => registry.number(key, 'A'), 'WINDOWS_CALL_FAILED'],
  ['a list', 'RegEnumValueW', 87, registry => registry.texts(key), 'WINDOWS_CALL_FAILED'],
  ['a write', 'RegSetValueExW', 5, registry => registry.setText(key, 'A', 'secret'), 'WINDOWS_ACCESS_DENIED'],
  ['a removal', 'RegDeleteValueW', 5, registry => registry.removeValue(key, 'A'), 'WINDOWS_ACCESS_DENIED'],
  ['the making of a key', 'RegCreateKeyExW', 5, registry => registry.volatileKeyTime(key), 'WINDOWS_ACCESS_DENIED'],
  ['a flush', 'RegFlushKey', 87, registry => registry.flush(key), 'WINDOWS_CALL_FAILED'],
  ['the time of a key', 'RegQueryInfoKeyW', 87, registry => registry.volatileKeyTime(key), 'WINDOWS_CALL_FAILED'],
];
for (const [what, call, number, act, code] of failures) {
  test(`reports that Windows rejected ${what}, and leaves no key open`, () => {
    const fake = new FakeRegistry();
    fake.set(key, { A: 'x' });
    fake.failing = { [call]: number };
    const message = expect.stringMatching(new RegExp(`${call} .*HKLM.SOFTWARE.Some.Key.*${number}`)) as string;
    expect(() => act(fake.registry)).toThrow(expect.objectContaining({ code, message }));
    expect(fake.open.size).toBe(0);
  });
}

test('names the value in an error, never what was to be written', () => {
  const fake = new FakeRegistry();
  fake.set(key, {});
  fake.failing = { RegSetValueExW: 5 };
  expect(() => fake.registry.setText(key, 'HTTP_PROXY', 'http://user:password@proxy')).toThrow(
    expect.objectContaining({ message: expect.not.stringContaining('password') as string }),
  );
});

test('does not write into a missing key', () => {
  const fake = new FakeRegistry();
  expect(() => fake.registry.setText(key, 'A', 'x')).toThrow(expect.objectContaining({ code: 'WINDOWS_CALL_FAILED' }));
});
