/** The path form of SFTP servers on Windows: `C:\k\x` is `/C:/k/x`. Other paths are not changed. */
export function sftpPath(path: string): string {
  return /^[A-Za-z]:[\\/]/.test(path) ? `/${path.replaceAll('\\', '/')}` : path;
}

/**
 * The folders above a path in SFTP form, outermost first, without the drive: `/C:/k/a/x` gives `/C:/k` and `/C:/k/a`.
 */
export function foldersAbove(path: string): string[] {
  const parts = path.split('/').filter(part => part !== '');
  const folders = parts.slice(0, -1).map((_, index) => `/${parts.slice(0, index + 1).join('/')}`);
  return folders.filter(folder => !/^\/[A-Za-z]:$/.test(folder));
}
