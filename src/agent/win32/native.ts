import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AppError, messageOf } from '#base/errors.ts';
import { sha256 } from '#base/sha256.ts';
import { windowsError } from './win32-errors.ts';

/** The native functions of koffi that the agent uses; its JavaScript wrapper is not needed. */
export interface Koffi {
  load(library: string): Library;
  proto(definition: string): unknown;
  pointer(type: unknown): unknown;
  /** Gives an address that Windows can call from any thread; the function runs on the JavaScript thread. */
  register(callback: (...args: never[]) => unknown, type: unknown): bigint;
  unregister(callback: bigint): void;
  decode: {
    /** Reads a value of the type at an address, at an offset in bytes; with a length an array of them, as a copy. */
    (address: unknown, offset: number, type: string, length?: number): unknown;
    /** UTF-16 text, ended by NUL or of the given length. */
    string16(address: unknown, length?: number): string;
  };
  /** The target of a pointer, or the address of the bytes of a Buffer. */
  address(value: unknown): bigint;
}

interface Library {
  func(prototype: string): NativeFunction;
  /** The address of an exported function. */
  symbol(name: string): bigint;
}

export interface NativeFunction {
  (...args: unknown[]): unknown;
  /** Runs on a pool thread; the last argument is called with an error or null, and the result. */
  async(...args: unknown[]): void;
}

/** How a binding was tested: on Wine, on Wine with a double of the library, or by reading the documentation only. */
export type Proof = 'wine' | 'double' | 'reading';

/** A Win32 function as data: the source of docs/windows-api.md. */
export interface Call {
  dll: string;
  /** In koffi's notation, with `str16` for UTF-16 text. */
  prototype: string;
  why: string;
  proof: Proof;
}

export type CallTable = Readonly<Record<string, Call>>;

type LibraryCall = Pick<Call, 'prototype' | 'why'> & { proof?: Proof };

/** Calls of one library; tested on Wine unless stated otherwise. */
export function inLibrary<const T extends Record<string, LibraryCall>>(dll: string, calls: T): Record<keyof T, Call> {
  const rows = Object.entries(calls).map(([name, call]) => [name, { dll, proof: 'wine', ...call }]);
  return Object.fromEntries(rows) as Record<keyof T, Call>;
}

export const libraryCalls = inLibrary('kernel32.dll', {
  GetLastError: {
    prototype: 'uint32_t __stdcall GetLastError()',
    why: 'The error number of the last call',
  },
  GetSystemDirectoryW: {
    prototype: 'uint32_t __stdcall GetSystemDirectoryW(void *text, uint32_t length)',
    why: 'Libraries are loaded from this directory only, never from the working directory',
  },
});

/** Loads the libraries that the calls name and gives a function for each. */
export function bind<T extends CallTable>(koffi: Koffi, calls: T): Record<keyof T, NativeFunction> {
  const load = openSystemLibraries(koffi);
  const bound = Object.entries(calls).map(([name, { dll, prototype }]) => [name, load(dll).func(prototype)]);
  return Object.fromEntries(bound) as Record<keyof T, NativeFunction>;
}

/** Bound calls that report failures by GetLastError. */
export interface Bound<Name extends string> {
  koffi: Koffi;
  call: Readonly<Record<Name, NativeFunction>>;
  /**
   * koffi keeps the number from one call to the next, so that Node cannot change it in between. A call that succeeds may
   * leave it unchanged.
   */
  lastError: () => number;
  /** The error of the call that has just failed. */
  failure: (call: Name, object: string) => AppError;
  /** Makes the call and throws its error when the result is 0 or null. */
  check: (call: Name, object: string, ...args: unknown[]) => unknown;
}

export function bindChecked<T extends CallTable>(koffi: Koffi, calls: T): Bound<keyof T & string> {
  const call = bind(koffi, calls);
  const { GetLastError } = bind(koffi, { GetLastError: libraryCalls.GetLastError });
  const lastError = () => Number(GetLastError());
  const failure = (name: string, object: string) => windowsError(name, object, lastError());
  return {
    koffi,
    call,
    lastError,
    failure,
    check(name, object, ...args) {
      const result = call[name](...args);
      if (!result) throw failure(name, object);
      return result;
    },
  };
}

/** Runs a call that may block on a pool thread, so that the agent stays responsive. */
export function callOnThread(call: NativeFunction, ...args: unknown[]): Promise<unknown> {
  return new Promise((resolve, reject) => {
    call.async(...args, (error: Error | null, result: unknown) => {
      if (error === null) resolve(result);
      else reject(error);
    });
  });
}

const maxAttempts = 10;

/**
 * Repeats a call that fills a buffer, with a larger buffer each time, until its result is not `tooSmall`. The data may grow
 * between two calls, so the size that Windows requests need not be enough.
 */
export function fillBuffer(
  firstBytes: number,
  tooSmall: number,
  call: (bytes: Buffer, size: number[]) => unknown,
): { result: number; bytes: Buffer; length: number } {
  for (let [attempt, size] = [1, firstBytes]; ; attempt += 1) {
    const [bytes, wanted] = [Buffer.alloc(size), [size]];
    const [result, length] = [Number(call(bytes, wanted)), wanted[0] ?? 0];
    if (result !== tooSmall || attempt === maxAttempts) return { result, bytes, length };
    size = Math.max(size, length) * 2;
  }
}

/** A structure with pointers into itself; what they point to is part of it. */
export interface Encoded {
  bytes: Buffer;
  /** Offset of each pointer, and the offset it has to point to. */
  pointers: readonly (readonly [at: number, to: number])[];
}

/** Sets the pointers. The caller keeps the bytes referenced for as long as Windows uses them. */
export function placed(koffi: Koffi, { bytes, pointers }: Encoded): Buffer {
  const address = koffi.address(bytes);
  for (const [at, to] of pointers) bytes.writeBigUInt64LE(address + BigInt(to), at);
  return bytes;
}

/** The address of an exported function, to pass to Windows. */
export function addressOf(koffi: Koffi, dll: string, name: string): bigint {
  return openSystemLibraries(koffi)(dll).symbol(name);
}

/** Writes the addon into the directory, which only administrators can write to, and loads it. */
export function loadKoffi(bytes: Uint8Array, directory: string): Koffi {
  const path = placeAddon(bytes, directory);
  const module: { exports: unknown } = { exports: {} };
  try {
    process.dlopen(module, path);
  } catch (error) {
    throw unusable(`${path} cannot be loaded`, error);
  }
  return module.exports as Koffi;
}

/** Writes the addon under a name that contains its hash, unless it exists, and gives its path. */
export function placeAddon(bytes: Uint8Array, directory: string): string {
  const stem = `koffi-${sha256(bytes)}`;
  const path = join(directory, `${stem}.node`);
  const isPlaced = () => holds(path, bytes);
  try {
    if (!isPlaced()) replaceFile(path, bytes, join(directory, `${stem}.${process.pid}.tmp`), isPlaced);
    removeLeftovers(directory, stem);
    return path;
  } catch (error) {
    throw unusable(`${path} cannot be written`, error);
  }
}

/** By full path, because koffi would also load a library from the working directory. */
function openSystemLibraries(koffi: Koffi): (dll: string) => Library {
  const call = libraryCalls.GetSystemDirectoryW;
  const text = Buffer.alloc(2 * 260);
  const length = Number(koffi.load(call.dll).func(call.prototype)(text, text.length / 2));
  if (length === 0 || length > text.length / 2) throw windowsError('GetSystemDirectoryW', 'the host', length);
  const directory = text.toString('utf16le', 0, 2 * length);
  return dll => koffi.load(`${directory}\\${dll}`);
}

function replaceFile(path: string, bytes: Uint8Array, temporary: string, isPlaced: () => boolean): void {
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(temporary, bytes);
  try {
    renameSync(temporary, path);
  } catch (error) {
    // Windows does not replace a loaded library; another agent process may have placed the same one meanwhile.
    if (!isPlaced()) throw error;
  }
}

function holds(path: string, bytes: Uint8Array): boolean {
  try {
    return readFileSync(path).equals(bytes);
  } catch {
    return false;
  }
}

/** Removes the temporary files of processes that were ended while they wrote. */
function removeLeftovers(directory: string, stem: string): void {
  const leftovers = readdirSync(directory).filter(name => name.startsWith(`${stem}.`) && name.endsWith('.tmp'));
  for (const name of leftovers) {
    try {
      rmSync(join(directory, name), { force: true });
    } catch {
      // Another process is still writing it and removes it itself.
    }
  }
}

function unusable(what: string, cause: unknown): AppError {
  const reason = messageOf(cause);
  return new AppError('WINDOWS_NATIVE_UNUSABLE', `${what}: ${reason}`, {
    remedy:
      'Run the agent as LocalSystem or as an administrator, and allow it that directory in policies and virus scanners.',
    cause,
  });
}
