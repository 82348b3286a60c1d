import { readFile } from 'node:fs/promises';
import type { Clock } from '#base/clock.ts';
import { AppError, shown } from '#base/errors.ts';

/** A text that may change while the program runs. */
export interface TextSource {
  /** The text of the moment. */
  read(): Promise<string>;
  /** Looks again now, however short ago it did. */
  reread(): Promise<string>;
}

/** A text that stays as it is. */
export function fixedText(text: string): TextSource {
  return { read: () => Promise.resolve(text), reread: () => Promise.resolve(text) };
}

const maxFileBytes = 1_048_576;

/** A file that somebody else rewrites. */
export function fileText(path: string, what: string, maxAgeMs: number, clock: Clock): TextSource {
  return changingText(() => readWhole(path, what), maxAgeMs, clock);
}

/**
 * A text that somebody else rewrites. It is looked at again when what we know of it is older than the time given; when that
 * fails, the last text stays in use, since files vanish for a moment while they are replaced.
 */
export function changingText(look: () => Promise<string>, maxAgeMs: number, clock: Clock): TextSource {
  let known: { text: string; readAtMs: number } | undefined;
  let reading: Promise<string> | undefined;

  async function load(): Promise<string> {
    try {
      known = { text: await look(), readAtMs: clock.monotonicMs() };
    } catch (error) {
      if (known === undefined) throw error;
      known = { ...known, readAtMs: clock.monotonicMs() };
    } finally {
      reading = undefined;
    }
    return known.text;
  }

  const reread = () => (reading ??= load());
  return {
    reread,
    read: () =>
      known !== undefined && clock.monotonicMs() - known.readAtMs < maxAgeMs ? Promise.resolve(known.text) : reread(),
  };
}

async function readWhole(path: string, what: string): Promise<string> {
  let bytes: Buffer;
  try {
    bytes = await readFile(path);
  } catch (error) {
    throw unreadable(`${what}: ${shown(path)} cannot be read`, error);
  }
  return usableText(bytes.length > maxFileBytes ? '' : bytes.toString(), path, what);
}

/** The text of a file, if it holds anything and not too much. */
export function usableText(text: string, path: string, what: string): string {
  if (text.length > maxFileBytes || text === '') throw unreadable(`${what}: ${shown(path)} is empty or too long`);
  if (text.trim() === '') throw unreadable(`${what}: ${shown(path)} is blank`);
  return text;
}

/** For what a credential needs and does not have; the message never holds a value. */
export function unreadable(message: string, cause?: unknown): AppError {
  return new AppError('CREDENTIAL_UNREADABLE', message, {
    remedy: 'Check the path, the permissions and the content of the file, or write the kubeconfig anew.',
    cause,
  });
}
