import { trimEndOf } from '#base/trim-end.ts';

/** A path as Windows has it: `/C:/k/x` is `C:\k\x`. Whatever is not on a drive is taken from the home of the user. */
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

/** The other way round. */
export function sftpPath(path: string): string {
  return `/${path.replaceAll('\\', '/')}`;
}
