import { trimEndOf } from '#base/trim-end.ts';

/** Converts `/C:/k/x` to `C:\k\x`. Relative paths start at the home directory. */
export function windowsPath(path: string): string {
  const plain = trimEndOf(path.replaceAll('\\', '/').replace(/^\//, ''), '/');
  const absolute = /^[A-Za-z]:/.test(plain) ? plain : ['C:/Users/Administrator', plain].join('/');
  const parts: string[] = [];
  for (const part of absolute.split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') parts.push(part);
    else if (parts.length > 1) parts.pop();
  }
  return parts.join('\\');
}

export function sftpPath(path: string): string {
  return `/${path.replaceAll('\\', '/')}`;
}
