import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AppError, messageOf } from '#base/errors.ts';
import { libraryCalls } from './library-calls.ts';
import { windowsError } from './win32-errors.ts';

/** The native functions of koffi that we use; its JavaScript wrapper is not needed. */
export interface Koffi {
  load(library: string): Library;
  proto(definition: string): unknown;
  pointer(type: unknown): unknown;
  /** Gives the address at which Windows can call the function; from any thread, it runs on the one of JavaScript. */
  register(callback: (...args: never[]) => unknown, type: unknown): bigint;
  unregister(callback: bigint): void;
  decode: {
    /** Reads a value of the type at an address, at an offset in bytes; with a length an array of them, as a copy. */
    (address: unknown, offset: number, type: string, length?: number): unknown;
    /** Text in UTF-16 that ends with NUL, or has the length given. */
    string16(address: unknown, length?: number): string;
  };
  /** Where a pointer points to, or where the bytes of a Buffer are. */
  address(value: unknown): bigint;
}

interface Library {
  func(prototype: string): NativeFunction;
  /** The address of an exported function. */
  symbol(name: string): bigint;
}

export interface NativeFunction {
  (...args: unknown[]): unknown;
  /** Runs on a thread of the pool; the last argument is called with an error or null, and the result. */
  async(...args: unknown[]): void;
}

/** How a binding is known to work: on Wine, on Wine with a double of ours behind it, or by reading only. */
export type Proof = 'wine' | 'double' | 'reading';

/** A Win32 function as data: docs/windows-api.md is made of these. */
export interface Call {
  dll: string;
  /** In koffi's notation, with `str16` for UTF-16 text. */
  prototype: string;
  why: string;
  proof: Proof;
}

export type CallTable = Readonly<Record<string, Call>>;

/** Loads the libraries that the calls name and gives a function for each. */
export function bind<T extends CallTable>(koffi: Koffi, calls: T): Record<keyof T, NativeFunction> {
  const load = openSystemLibraries(koffi);
  const bound = Object.entries(calls).map(([name, { dll, prototype }]) => [name, load(dll).func(prototype)]);
  return Object.fromEntries(bound) as Record<keyof T, NativeFunction>;
}

/**
 * Gives a function that tells why the last call failed. koffi keeps the number from one call to the next, so that nothing
 * Node does in between can change it; a call that succeeds may leave it as it is.
 */
export function openLastError(koffi: Koffi): () => number {
  const { GetLastError } = bind(koffi, { GetLastError: libraryCalls.GetLastError });
  return () => Number(GetLastError());
}

/** A structure whose pointers depend on where in memory it lies; what they point to is part of it. */
export interface Encoded {
  bytes: Buffer;
  /** Where in the bytes there is a pointer, and the offset to which it has to point. */
  pointers: readonly (readonly [at: number, to: number])[];
}

/** The bytes with their pointers set. They move nowhere, but whoever hands them to Windows has to keep them. */
export function placed(koffi: Koffi, { bytes, pointers }: Encoded): Buffer {
  const address = koffi.address(bytes);
  for (const [at, to] of pointers) bytes.writeBigUInt64LE(address + BigInt(to), at);
  return bytes;
}

/** The address of an exported function, to be handed to Windows itself. */
export function addressOf(koffi: Koffi, dll: string, name: string): bigint {
  return openSystemLibraries(koffi)(dll).symbol(name);
}

/** Puts the addon into the directory, where only administrators may write, and loads it. */
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

/** Writes the addon under a name made of its content, unless it is there already, and gives its path. */
export function placeAddon(bytes: Uint8Array, directory: string): string {
  const stem = `koffi-${createHash('sha256').update(bytes).digest('hex')}`;
  const path = join(directory, `${stem}.node`);
  const isInPlace = () => holds(path, bytes);
  try {
    if (!isInPlace()) replaceFile(path, bytes, join(directory, `${stem}.${process.pid}.tmp`), isInPlace);
    removeRemains(directory, stem);
    return path;
  } catch (error) {
    throw unusable(`${path} cannot be written`, error);
  }
}

/** By its full path, since koffi would also take a library from the directory in which the command happens to run. */
function openSystemLibraries(koffi: Koffi): (dll: string) => Library {
  const call = libraryCalls.GetSystemDirectoryW;
  const text = Buffer.alloc(2 * 260);
  const length = Number(koffi.load(call.dll).func(call.prototype)(text, text.length / 2));
  if (length === 0 || length > text.length / 2) throw windowsError('GetSystemDirectoryW', 'the host', length);
  const directory = text.toString('utf16le', 0, 2 * length);
  return dll => koffi.load(`${directory}\\${dll}`);
}

function replaceFile(path: string, bytes: Uint8Array, temporary: string, isInPlace: () => boolean): void {
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(temporary, bytes);
  try {
    renameSync(temporary, path);
  } catch (error) {
    // Windows refuses to replace what a process has loaded: one that started at the same moment may have been quicker.
    if (!isInPlace()) throw error;
  }
}

function holds(path: string, bytes: Uint8Array): boolean {
  try {
    return readFileSync(path).equals(bytes);
  } catch {
    return false;
  }
}

/** What processes left that were ended while they wrote; whoever is still writing finds the file in place. */
function removeRemains(directory: string, stem: string): void {
  const remains = readdirSync(directory).filter(name => name.startsWith(`${stem}.`) && name.endsWith('.tmp'));
  for (const name of remains) {
    try {
      rmSync(join(directory, name), { force: true });
    } catch {
      // Still open in the process that writes it, which removes it itself.
    }
  }
}

function unusable(what: string, cause: unknown): AppError {
  const reason = messageOf(cause);
  return new AppError('WINDOWS_NATIVE_UNUSABLE', `${what}: ${reason}`, {
    remedy:
      'Run it as LocalSystem or as an administrator, and let no policy or virus scanner keep it from that directory.',
    cause,
  });
}
