import type { Stats } from 'ssh2';
import { type FileAct, fileFailure, sftpStatus } from './operation-failures.ts';
import type { SftpSession } from './sftp-session.ts';
import { sftpPath } from './windows-path.ts';

/** In bytes; undefined when the path does not exist or is not a file. */
export async function sizeOfFile(session: SftpSession, act: FileAct): Promise<number | undefined> {
  try {
    const found = await session.request<Stats>((sftp, done) => sftp.stat(sftpPath(act.path), done));
    return found.isFile() ? found.size : undefined;
  } catch (error) {
    if ((error as { code?: unknown }).code === sftpStatus.noSuchFile) return undefined;
    throw fileFailure(act, error);
  }
}
