import { readFile, stat } from 'node:fs/promises';
import { AppError } from '#base/errors.ts';
import { systemErrorReason } from './system-error.ts';

const maxMegabytes = 256;

/** Reads a file in UTF-8, or in UTF-16, which PowerShell writes when output is redirected. */
export async function readText(path: string): Promise<string> {
  try {
    if ((await stat(path)).size > maxMegabytes * 2 ** 20) throw tooLargeError(path, `more than ${maxMegabytes} MiB`);
    const bytes = await readFile(path);
    return new TextDecoder(encodingOf(bytes)).decode(bytes);
  } catch (error) {
    throw error instanceof AppError ? error : unreadableError(path, error);
  }
}

/** From the byte order mark; UTF-8 without one. */
function encodingOf([first, second]: Uint8Array): string {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8';
}

export function unreadableError(name: string, error: unknown): AppError {
  return new AppError('INPUT_UNREADABLE', `${name || '""'}: cannot be read (${systemErrorReason(error)})`, {
    remedy: 'Use the path of an existing file that you can read.',
    cause: error,
  });
}

export function tooLargeError(name: string, what: string): AppError {
  return new AppError('INPUT_UNREADABLE', `${name}: has ${what}`, {
    remedy: 'Include only the kinds of objects that the command reads; --help lists them.',
  });
}
