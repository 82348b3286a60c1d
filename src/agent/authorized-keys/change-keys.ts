import { Readable } from 'node:stream';
import { fromLatin1, sameBytes } from '#base/bytes.ts';
import { AppError } from '#base/errors.ts';
import { runOnHost } from '#base/powershell.ts';
import { parentOf } from '#contract/host-path.ts';
import { authorizedKeysFile as path, dir } from '#contract/paths.ts';
import { judge, whyWritable } from '../access/plan.ts';
import type { HostFiles } from '../ports.ts';
import { decodeKeys } from './encoding.ts';
import { type KeyChange, planChange } from './plan.ts';

export interface ChangedKeys {
  added: boolean;
  /** Number of lines. */
  removed: number;
  file: string;
  /** The encoding that the file had, if sshd could not read it. */
  converted?: string;
}

type KeyFiles = Pick<HostFiles, 'inspect' | 'stat' | 'readChunks' | 'writeChunks'>;

const maxBytes = 1 << 20;
const maxLines = 10_000;

/** Adds and removes keys of administrators. The file is the old one or the new one, whenever this is interrupted. */
export async function changeKeys(change: KeyChange, files: KeyFiles): Promise<ChangedKeys> {
  await checkFolders(files);
  const { bytes, isProtected } = await readFile(files);
  const decoded = decodeKeys(bytes);
  if (decoded === undefined) throw unusable('begins as UTF-16, but is not', rewrite);
  const { text, added, removed } = planChange(decoded.text, change);
  const wanted = fromLatin1(text);
  checkSize(wanted.length, text);
  // A new file has the right owner and permissions from its beginning.
  const isSame = sameBytes(wanted, bytes) && isProtected;
  if (!isSame) await files.writeChunks(path, Readable.from([wanted]), 'secret');
  return { added, removed, file: path, ...(decoded.was !== undefined && { converted: decoded.was }) };
}

/** Whoever can write to the folder could have put a file there that sshd ignores, until we make it valid. */
async function checkFolders(files: KeyFiles): Promise<void> {
  for (const folder of [parentOf(dir.ssh), dir.ssh]) {
    const entry = await files.inspect(folder);
    if (entry === undefined)
      throw new AppError('AUTHORIZED_KEYS_UNUSABLE', `${folder} does not exist: sshd of Windows has never run here`, {
        remedy: 'Add the key by hand where the SSH server of this host looks for keys.',
      });
    const why = folder === dir.ssh ? whyWritable(entry) : entry.is === 'link' ? 'is a link' : undefined;
    if (why !== undefined)
      throw new AppError('AUTHORIZED_KEYS_UNUSABLE', `${folder} ${why}`, {
        remedy: `Allow only administrators to write there: check with icacls.exe ${folder}, and remove what others have put there.`,
      });
  }
}

async function readFile(files: KeyFiles): Promise<{ bytes: Uint8Array; isProtected: boolean }> {
  const entry = await files.inspect(path);
  if (entry === undefined) return { bytes: new Uint8Array(), isProtected: true };
  if (entry.is !== 'file') throw unusable(`is a ${entry.is}, not a file`, rewrite);
  const why = whyWritable(entry);
  if (why !== undefined) throw unusable(`${why}, so that sshd ignores it`, `Check its lines. ${protect}`);
  checkSize((await files.stat(path))?.bytes ?? 0);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of files.readChunks(path)) {
    size += chunk.length;
    checkSize(size);
    chunks.push(chunk);
  }
  return { bytes: Uint8Array.from(Buffer.concat(chunks)), isProtected: judge(entry, 'secret').do === 'keep' };
}

function checkSize(bytes: number, text = ''): void {
  if (bytes > maxBytes) throw unusable(`is larger than ${maxBytes} bytes`, shorten);
  if (text.split('\n').length > maxLines) throw unusable(`has more than ${maxLines} lines`, shorten);
}

const protect = runOnHost(
  `icacls.exe ${path} /setowner '*S-1-5-32-544'`,
  `icacls.exe ${path} /reset`,
  `icacls.exe ${path} /inheritance:r /grant:r '*S-1-5-32-544:F' '*S-1-5-18:F'`,
);
const rewrite = 'Put a file with the wanted keys in its place, one per line, as ASCII.';
const shorten = 'Remove lines that are not needed from it.';

/** Lines of the file are never shown: they are of other users, too. */
function unusable(problem: string, remedy: string): AppError {
  return new AppError('AUTHORIZED_KEYS_UNUSABLE', `${path} ${problem}`, { remedy });
}
