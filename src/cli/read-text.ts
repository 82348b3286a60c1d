import { readFile, stat } from 'node:fs/promises';
import { AppError } from '#base/errors.ts';
import { reasonOf } from './system-error.ts';

const maxMegabytes = 256;

/** The text of a file in UTF-8, or in UTF-16 as PowerShell writes what is redirected into a file. */
export async function readText(path: string): Promise<string> {
  try {
    if ((await stat(path)).size > maxMegabytes * 2 ** 20) throw tooMuch(path, `more than ${maxMegabytes} MiB`);
    const bytes = await readFile(path);
    return new TextDecoder(encodingOf(bytes)).decode(bytes);
  } catch (error) {
    throw error instanceof AppError ? error : unreadable(path, error);
  }
}

/** By the byte order mark; without one it is UTF-8. */
function encodingOf([first, second]: Uint8Array): string {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8';
}

export function unreadable(name: string, error: unknown): AppError {
  return new AppError('INPUT_UNREADABLE', `${name || '""'}: cannot be read (${reasonOf(error)})`, {
    remedy: 'Give the path of a file that exists and that you may read.',
    cause: error,
  });
}

export function tooMuch(name: string, what: string): AppError {
  return new AppError('INPUT_UNREADABLE', `${name}: has ${what}`, {
    remedy: 'Dump only the kinds of objects that the command reads; --help names them.',
  });
}
