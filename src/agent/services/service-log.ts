import { AppError, isAppError } from '#base/errors.ts';
import { shortLine } from '#base/printable.ts';
import { withoutSecrets } from '#base/without-secrets.ts';
import { dir } from '#contract/paths.ts';
import type { HostFiles } from '../ports.ts';

export type LogFiles = Pick<HostFiles, 'stat' | 'readChunks'>;

/** Prints what Windows reports about services. */
export const serviceManagerEvents =
  "Get-WinEvent -FilterHashtable @{LogName='System'; ProviderName='Service Control Manager'} -MaxEvents 20";

const maxReadBytes = 8192;
const [maxLines, maxCharacters] = [5, 300];

/** Adds the end of its log to the error of a service that does not run. */
export async function withLastLines(error: unknown, command: string, files: LogFiles): Promise<unknown> {
  const path = logPathOf(command);
  if (!isAppError(error, 'SERVICE_NOT_SETTLED') || path === undefined) return error;
  const lines = await lastLines(path, files);
  const end = lines === '' ? `its log ${path} is empty` : `the end of its log ${path}: ${lines}`;
  const remedy =
    lines === ''
      ? `Run \`${serviceManagerEvents}\` on the host to see why Windows cannot run it.`
      : `Fix what the log reports; run \`Get-Content ${path} -Tail 50\` on the host to see more of it.`;
  return new AppError(error.code, `${error.message}; ${end}`, { remedy, cause: error });
}

/** The file that the command writes its log to; only below the log folder, so that no other file can be read. */
export function logPathOf(command: string): string | undefined {
  const [, path = ''] = /(?:^|\s)--?log[-_.]?file[= ](\S+)/.exec(command) ?? [];
  const isLog = path.toLowerCase().startsWith(`${dir.log.toLowerCase()}\\`) && !path.includes('..');
  return isLog ? path : undefined;
}

/** Redacted, on one line; empty when there is no log or it cannot be read. */
async function lastLines(path: string, files: LogFiles): Promise<string> {
  try {
    const { bytes = 0 } = (await files.stat(path)) ?? {};
    if (bytes === 0) return '';
    const from = Math.max(0, bytes - maxReadBytes);
    return endOf(await textFrom(path, from, files), from > 0);
  } catch {
    return '';
  }
}

async function textFrom(path: string, from: number, files: LogFiles): Promise<string> {
  const chunks: Uint8Array[] = [];
  let total = 0;
  for await (const chunk of files.readChunks(path, from)) {
    chunks.push(chunk);
    total += chunk.length;
    // The service may write meanwhile.
    if (total >= maxReadBytes) break;
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** A first line that may be cut is left out: half a token would not be recognized. */
export function endOf(text: string, isCut: boolean): string {
  const lines = text
    .split(/\r?\n/)
    .slice(isCut ? 1 : 0)
    .map(line => line.trim())
    .filter(line => line !== '');
  const end = lines
    .slice(-maxLines)
    .map(line => shortLine(withoutSecrets(line)))
    .join(' | ');
  return end.length > maxCharacters ? `...${end.slice(3 - maxCharacters)}` : end;
}
