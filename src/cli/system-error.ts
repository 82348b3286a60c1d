const reasons: Readonly<Record<string, string>> = {
  ERR_FS_EISDIR: 'a folder is where a file is needed',
  EACCES: 'permission denied',
  EEXIST: 'a file is where a folder is needed',
  EISDIR: 'a folder is where a file is needed',
  ENOENT: 'no such file or folder',
  ENOSPC: 'no space is left',
  ENOTDIR: 'a file is where a folder is needed',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
};

/** Why the operating system refused, as its code and in words. */
export function reasonOf(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === undefined) return 'unknown error';
  const words = reasons[code];
  return words === undefined ? code : `${code}, ${words}`;
}
