import { encodeText } from '../memory.ts';
import { bind, fillBuffer, type Koffi, type NativeFunction } from '../native.ts';
import { win32, windowsError } from '../win32-errors.ts';
import { registryCalls } from './calls.ts';
import { encodeList, listOf, numberOf, type RegistryValue, registryType, textOf } from './registry-values.ts';

/** Keys and values below HKEY_LOCAL_MACHINE. A key is opened for each call. */
export interface Registry {
  hasKey(key: string): boolean;
  /** Undefined when the value does not exist or is not text. */
  text(key: string, name: string): string | undefined;
  /** Undefined when the value does not exist or is not a 32-bit number. */
  number(key: string, name: string): number | undefined;
  /** All text values of a key. */
  texts(key: string): Record<string, string>;
  /** Undefined when the value does not exist; throws when it is not a list of texts. */
  list(key: string, name: string): string[] | undefined;
  setText(key: string, name: string, text: string): void;
  /** The key must exist. */
  setList(key: string, name: string, texts: readonly string[]): void;
  /** Does nothing if it is missing. */
  removeValue(key: string, name: string): void;
  /**
   * Creation time, in units of 100 ns, of a key that exists until the next boot; created if missing. Windows creates and
   * dates a key in one step, so that concurrent processes get the same time.
   */
  volatileKeyTime(key: string): bigint;
  /** Writes the key to disk, with everything in the same file of the registry; Windows does so late by itself. */
  flush(key: string): void;
}

type Calls = Record<keyof typeof registryCalls, NativeFunction>;

/** HKEY_LOCAL_MACHINE, sign-extended as the headers of Windows have it. */
const localMachine = 0xff_ff_ff_ff_80_00_00_02n;
const access = { query: 0x1, set: 0x2, read: 0x2_00_19 } as const;
const volatileOption = 1;
/** Longest name of a value, in characters. */
const longestName = 16_383;
const noMoreItems = 259;
const unsupportedType = 1630;

export function openRegistry(koffi: Koffi): Registry {
  const calls = bind(koffi, registryCalls);
  return {
    hasKey: key => withKey(calls, key, access.query, () => true) ?? false,
    text: (key, name) => readValue(calls, key, name, textOf),
    number: (key, name) => readValue(calls, key, name, numberOf),
    texts: key => withKey(calls, key, access.query, handle => listTexts(calls, handle, key)) ?? {},
    list: (key, name) => readValue(calls, key, name, value => listOf(value) ?? notAList(key, name)),
    setText: (key, name, text) => setValue(calls, key, name, { type: registryType.text, data: encodeText(text) }),
    setList: (key, name, texts) => setValue(calls, key, name, { type: registryType.list, data: encodeList(texts) }),
    removeValue(key, name) {
      withKey(calls, key, access.set, handle => {
        const result = Number(calls.RegDeleteValueW(handle, name));
        if (!isAbsent(result) && result !== 0) throw windowsError('RegDeleteValueW', described(key, name), result);
      });
    },
    volatileKeyTime: key => createVolatileKey(calls, key),
    flush(key) {
      withKey(calls, key, access.query, handle => {
        const result = Number(calls.RegFlushKey(handle));
        if (result !== 0) throw windowsError('RegFlushKey', described(key), result);
      });
    },
  };
}

/** Undefined when the key does not exist. */
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

function readValue<T>(
  calls: Calls,
  key: string,
  name: string,
  read: (value: RegistryValue) => T | undefined,
): T | undefined {
  return withKey(calls, key, access.query, handle => {
    const type = [0];
    const { result, bytes, length } = fillBuffer(512, win32.moreData, (data, size) =>
      calls.RegQueryValueExW(handle, name, null, type, data, size),
    );
    if (isAbsent(result)) return undefined;
    if (result !== 0) throw windowsError('RegQueryValueExW', described(key, name), result);
    return read({ type: type[0] ?? 0, data: bytes.subarray(0, length) });
  });
}

function setValue(calls: Calls, key: string, name: string, { type, data }: RegistryValue): void {
  const done = withKey(calls, key, access.set, handle => {
    const result = Number(calls.RegSetValueExW(handle, name, 0, type, data, data.length));
    if (result !== 0) throw windowsError('RegSetValueExW', described(key, name), result);
    return true;
  });
  if (done === undefined) throw windowsError('RegOpenKeyExW', described(key), win32.fileNotFound);
}

function notAList(key: string, name: string): never {
  throw windowsError('RegQueryValueExW', described(key, name), unsupportedType);
}

function listTexts(calls: Calls, handle: unknown, key: string): Record<string, string> {
  const texts: [string, string][] = [];
  for (let index = 0; ; index += 1) {
    const name = Buffer.alloc(2 * (longestName + 1));
    const [nameLength, type] = [[0], [0]];
    const { result, bytes, length } = fillBuffer(65_536, win32.moreData, (data, size) => {
      nameLength[0] = longestName + 1;
      return calls.RegEnumValueW(handle, index, name, nameLength, null, type, data, size);
    });
    if (result === noMoreItems) return Object.fromEntries(texts);
    if (result !== 0) throw windowsError('RegEnumValueW', described(key), result);
    const text = textOf({ type: type[0] ?? 0, data: bytes.subarray(0, length) });
    if (text !== undefined) texts.push([name.toString('utf16le', 0, 2 * (nameLength[0] ?? 0)), text]);
  }
}

function createVolatileKey(calls: Calls, key: string): bigint {
  const handle = [null];
  const created = calls.RegCreateKeyExW(localMachine, key, 0, null, volatileOption, access.read, null, handle, [0]);
  if (created !== 0) throw windowsError('RegCreateKeyExW', described(key), Number(created));
  try {
    const time = Buffer.alloc(8);
    const unused = Array.from({ length: 10 }, () => null);
    const result = Number(calls.RegQueryInfoKeyW(handle[0], ...unused, time));
    if (result !== 0) throw windowsError('RegQueryInfoKeyW', described(key), result);
    return time.readBigUInt64LE();
  } finally {
    calls.RegCloseKey(handle[0]);
  }
}

function isAbsent(result: number): boolean {
  return result === win32.fileNotFound || result === win32.pathNotFound;
}

function described(key: string, name?: string): string {
  return name === undefined ? `HKLM\\${key}` : `value ${name} of HKLM\\${key}`;
}
