const reasons: Readonly<Record<string, string>> = {
  ERR_FS_EISDIR: 'expected a file, found a folder',
  EACCES: 'permission denied',
  EEXIST: 'expected a folder, found a file',
  EISDIR: 'expected a file, found a folder',
  ENOENT: 'no such file or folder',
  ENOSPC: 'no space left on the disk',
  ENOTDIR: 'expected a folder, found a file',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
};

/** The error code of the operating system and what it means. */
export function systemErrorReason(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === undefined) return 'unknown error';
  const meaning = reasons[code];
  return meaning === undefined ? code : `${code}, ${meaning}`;
}
