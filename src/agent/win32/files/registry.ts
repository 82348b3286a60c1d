import { registryCalls } from './registry-calls.ts';
import { bind, type Koffi, type NativeFunction } from '../native.ts';
import { encodeText, numberOf, type RegistryValue, registryType, textOf } from './registry-values.ts';
import { win32, windowsError } from '../win32-errors.ts';

/** Keys and values of HKEY_LOCAL_MACHINE. A key is given by its path below that, and is held open for no longer than a call. */
export interface Registry {
  hasKey(key: string): boolean;
  /** Undefined when there is no such value, or when it is no text. */
  text(key: string, name: string): string | undefined;
  /** Undefined when there is no such value, or when it is no 32-bit number. */
  number(key: string, name: string): number | undefined;
  /** All values of a key that are texts. */
  texts(key: string): Record<string, string>;
  setText(key: string, name: string, text: string): void;
  /** Absent is fine. */
  removeValue(key: string, name: string): void;
  /**
   * When a key that lives until the next boot was made, in units of 100 ns; whoever asks first makes it. To make a key and
   * to date it are one step for Windows, so processes that ask at the same moment get the same answer.
   */
  volatileKeyTime(key: string): bigint;
}

type Calls = Record<keyof typeof registryCalls, NativeFunction>;

/** HKEY_LOCAL_MACHINE, sign-extended as the headers of Windows have it. */
const localMachine = 0xff_ff_ff_ff_80_00_00_02n;
const access = { query: 0x1, set: 0x2, read: 0x2_00_19 } as const;
const volatileOption = 1;
/** No name of a value is longer, in characters. */
const longestName = 16_383;
const noMoreItems = 259;

export function openRegistry(koffi: Koffi): Registry {
  const calls = bind(koffi, registryCalls);
  return {
    hasKey: key => withKey(calls, key, access.query, () => true) ?? false,
    text: (key, name) => convert(readValue(calls, key, name), textOf),
    number: (key, name) => convert(readValue(calls, key, name), numberOf),
    texts: key => withKey(calls, key, access.query, handle => listTexts(calls, handle, key)) ?? {},
    setText(key, name, text) {
      const data = encodeText(text);
      const done = withKey(calls, key, access.set, handle => {
        const result = Number(calls.RegSetValueExW(handle, name, 0, registryType.text, data, data.length));
        if (result !== 0) throw windowsError('RegSetValueExW', described(key, name), result);
        return true;
      });
      if (done === undefined) throw windowsError('RegOpenKeyExW', described(key), win32.fileNotFound);
    },
    removeValue(key, name) {
      withKey(calls, key, access.set, handle => {
        const result = Number(calls.RegDeleteValueW(handle, name));
        if (!isAbsent(result) && result !== 0) throw windowsError('RegDeleteValueW', described(key, name), result);
      });
    },
    volatileKeyTime: key => createdAt(calls, key),
  };
}

/** Undefined when there is no such key. */
function withKey<T>(calls: Calls, key: string, wanted: number, use: (handle: unknown) => T): T | undefined {
  const handle = [null];
  const result = Number(calls.RegOpenKeyExW(localMachine, key, 0, wanted, handle));
  if (isAbsent(result)) return undefined;
  if (result !== 0) throw windowsError('RegOpenKeyExW', described(key), result);
  try {
    return use(handle[0]);
  } finally {
    calls.RegCloseKey(handle[0]);
  }
}

function readValue(calls: Calls, key: string, name: string): RegistryValue | undefined {
  return withKey(calls, key, access.query, handle => {
    for (let size = 512; ; ) {
      const [type, bytes, data] = [[0], [size], Buffer.alloc(size)];
      const result = Number(calls.RegQueryValueExW(handle, name, null, type, data, bytes));
      if (isAbsent(result)) return undefined;
      if (result === 0) return { type: type[0] ?? 0, data: data.subarray(0, bytes[0]) };
      if (result !== win32.moreData) throw windowsError('RegQueryValueExW', described(key, name), result);
      size = grown(size, bytes[0]);
    }
  });
}

function listTexts(calls: Calls, handle: unknown, key: string): Record<string, string> {
  const texts: [string, string][] = [];
  let size = 65_536;
  for (let index = 0; ; ) {
    const [name, nameLength] = [Buffer.alloc(2 * (longestName + 1)), [longestName + 1]];
    const [type, bytes, data] = [[0], [size], Buffer.alloc(size)];
    const result = Number(calls.RegEnumValueW(handle, index, name, nameLength, null, type, data, bytes));
    if (result === noMoreItems) return Object.fromEntries(texts);
    if (result === win32.moreData) {
      size = grown(size, bytes[0]);
      continue;
    }
    if (result !== 0) throw windowsError('RegEnumValueW', described(key), result);
    const text = textOf({ type: type[0] ?? 0, data: data.subarray(0, bytes[0]) });
    if (text !== undefined) texts.push([name.toString('utf16le', 0, 2 * (nameLength[0] ?? 0)), text]);
    index += 1;
  }
}

function createdAt(calls: Calls, key: string): bigint {
  const handle = [null];
  const created = calls.RegCreateKeyExW(localMachine, key, 0, null, volatileOption, access.read, null, handle, [0]);
  if (created !== 0) throw windowsError('RegCreateKeyExW', described(key), Number(created));
  try {
    const time = Buffer.alloc(8);
    const nothing = Array.from({ length: 10 }, () => null);
    const result = Number(calls.RegQueryInfoKeyW(handle[0], ...nothing, time));
    if (result !== 0) throw windowsError('RegQueryInfoKeyW', described(key), result);
    return time.readBigUInt64LE();
  } finally {
    calls.RegCloseKey(handle[0]);
  }
}

/** The value may grow again before it is read, so there is room for more than was asked for; always more than before. */
function grown(size: number, wanted = 0): number {
  return Math.max(wanted, size) * 2;
}

function convert<T>(value: RegistryValue | undefined, read: (value: RegistryValue) => T | undefined): T | undefined {
  return value && read(value);
}

function isAbsent(result: number): boolean {
  return result === win32.fileNotFound || result === win32.pathNotFound;
}

function described(key: string, name?: string): string {
  return name === undefined ? `HKLM\\${key}` : `value ${name} of HKLM\\${key}`;
}
