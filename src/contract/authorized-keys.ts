import { fromBase64, sameBytes } from '#base/bytes.ts';
import { type PublicKey, readPublicKey } from '#base/ssh-public-key.ts';
import { trimEndOf } from '#base/trim-end.ts';

/** A line of an authorized_keys file that has a key, as sshd reads it. */
export interface KeyLine {
  key: PublicKey;
  /** Such as `no-pty` or `from="10.0.0.0/8"`. */
  options: readonly string[];
}

/** Reads the word of a command that names a key: its wire format as base64url, with or without padding. */
export function readKeyWord(word: string): PublicKey | undefined {
  if (word.length > maxWord || !/^[A-Za-z0-9_-]+={0,2}$/.test(word)) return undefined;
  const bare = trimEndOf(word, '=');
  if (bare.length % 4 === 1) return undefined;
  const blob = Uint8Array.fromBase64(bare, { alphabet: 'base64url' });
  // Stray bits in the last character would give one key two words.
  if (blob.toBase64({ alphabet: 'base64url', omitPadding: true }) !== bare) return undefined;
  const key = readPublicKey(blob);
  return key !== undefined && ownTypes.has(key.type) ? key : undefined;
}

/** The lines of a file, each with its line end; joined they are the file again. */
export function linesOf(text: string): string[] {
  const parts = text.split('\n');
  const last = parts.pop() ?? '';
  return [...parts.map(part => `${part}\n`), ...(last === '' ? [] : [last])];
}

/** Undefined for a comment, an empty line, and everything else that sshd passes over. */
export function readKeyLine(line: string): KeyLine | undefined {
  const text = line.replace(/^[ \t]+/, '').replace(/\r?\n$/, '');
  if (text.startsWith('#')) return undefined;
  const plain = keyAt(text);
  if (plain !== undefined) return { key: plain, options: [] };
  const [options, end] = readOptions(text);
  const key = keyAt(text.slice(end).replace(/^[ \t]+/, ''));
  return key && { key, options };
}

/** Whether a key opens an unlimited session. sshd takes the first line that has it. */
export function admits(lines: Iterable<KeyLine | undefined>, blob: Uint8Array): boolean {
  for (const line of lines) if (line !== undefined && sameBytes(line.key.blob, blob)) return !isLimited(line);
  return false;
}

/** Longer words are not allowed in a command. */
const maxWord = 1024;

/** Of keys that the operator may have. */
const ownTypes: ReadonlySet<string> = new Set([
  'ssh-ed25519',
  'ecdsa-sha2-nistp256',
  'ecdsa-sha2-nistp384',
  'ecdsa-sha2-nistp521',
  'ssh-rsa',
]);

/** Key types with which sshd lets users in. Others, such as DSA, count as lines without a key. */
const loginTypes: ReadonlySet<string> = new Set([
  ...ownTypes,
  'sk-ssh-ed25519@openssh.com',
  'sk-ecdsa-sha2-nistp256@openssh.com',
]);

/** Options that neither refuse the login nor replace the command. sshd passes over lines with unknown ones. */
const harmless =
  /^(restrict|(no-)?(agent-forwarding|port-forwarding|pty|user-rc|x11-forwarding)|permit(open|listen)=.*)$/i;

function isLimited({ options }: KeyLine): boolean {
  return !options.every(option => harmless.test(option));
}

function keyAt(text: string): PublicKey | undefined {
  const [, type = '', base64 = ''] = /^([^ \t]+)[ \t]+([^ \t]+)/.exec(text) ?? [];
  const blob = loginTypes.has(type) ? fromBase64(base64) : undefined;
  const key = blob && readPublicKey(blob);
  return key?.type === type ? key : undefined;
}

/** The options and the index behind them: commas and blanks within quotes are part of an option. */
function readOptions(text: string): [options: string[], end: number] {
  const options: string[] = [];
  let [start, isQuoted] = [0, false];
  for (let at = 0; at <= text.length; at += 1) {
    const letter = text[at] ?? ' ';
    if (letter === '\\' && text[at + 1] === '"') at += 1;
    else if (letter === '"') isQuoted = !isQuoted;
    else if (!isQuoted && (letter === ',' || letter === ' ' || letter === '\t')) {
      options.push(text.slice(start, at));
      if (letter !== ',') return [options, at];
      start = at + 1;
    }
  }
  return [options, text.length];
}
