import { sameBytes } from '#base/bytes.ts';
import { AppError } from '#base/errors.ts';
import { type PublicKey, printPublicKey } from '#base/ssh-public-key.ts';
import { admits, linesOf, readKeyLine } from '#contract/authorized-keys.ts';
import { authorizedKeysFile } from '#contract/paths.ts';

export interface KeyChange {
  add?: PublicKey | undefined;
  remove?: PublicKey | undefined;
}

export interface PlannedText {
  text: string;
  added: boolean;
  /** Number of lines. */
  removed: number;
}

/** The text after the change; all lines without the removed key stay as they are. */
export function planChange(text: string, { add, remove }: KeyChange): PlannedText {
  const lines = linesOf(text);
  const kept = remove === undefined ? lines : lines.filter(line => !hasKey(line, remove));
  const removed = lines.length - kept.length;
  const added = add !== undefined && !admits(kept.map(readKeyLine), add.blob);
  if (removed > 0 && !added && !kept.some(line => readKeyLine(line) !== undefined)) throw lastKey();
  // At the beginning: sshd takes the first line of a key, and a last line without line end stays as it is.
  const first = added ? [`${printPublicKey(add)}${lineEndOf(lines)}`] : [];
  return { text: [...first, ...kept].join(''), added, removed };
}

function hasKey(line: string, { blob }: PublicKey): boolean {
  const found = readKeyLine(line);
  return found !== undefined && sameBytes(found.key.blob, blob);
}

/** As the other lines have it. */
function lineEndOf([first = '']: readonly string[]): string {
  return first.endsWith('\r\n') ? '\r\n' : '\n';
}

function lastKey(): AppError {
  const problem = `${authorizedKeysFile} has no other key: without this one no login would be possible`;
  return new AppError('AUTHORIZED_KEY_LAST', problem, {
    remedy: 'Add the line of another key to this file first, by hand or with --add in the same command.',
  });
}
