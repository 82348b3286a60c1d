import { readFile } from 'node:fs/promises';
import type { Clock } from '#base/clock.ts';
import { AppError, shown } from '#base/errors.ts';

export interface TextSource {
  read(): Promise<string>;
  /** Reads again, even if the cached text is new. */
  reread(): Promise<string>;
}

export function fixedText(text: string): TextSource {
  return { read: () => Promise.resolve(text), reread: () => Promise.resolve(text) };
}

const maxFileBytes = 1_048_576;

export function fileText(path: string, what: string, maxAgeMs: number, clock: Clock): TextSource {
  return changingText(() => readWhole(path, what), maxAgeMs, clock);
}

/**
 * Caches a text that another program replaces, and reads it again after `maxAgeMs`. If that fails, the last text stays
 * in use, since files vanish for a moment while they are replaced.
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

/** Rejects an empty text and one that is too long. */
export function usableText(text: string, path: string, what: string): string {
  if (text.length > maxFileBytes || text === '') throw unreadable(`${what}: ${shown(path)} is empty or too long`);
  if (text.trim() === '') throw unreadable(`${what}: ${shown(path)} is blank`);
  return text;
}

/** An error about a missing or unusable credential; messages must not quote values. */
export function unreadable(message: string, cause?: unknown): AppError {
  return new AppError('CREDENTIAL_UNREADABLE', message, {
    remedy: 'Check path, permissions and content of the file, or create the kubeconfig again.',
    cause,
  });
}
