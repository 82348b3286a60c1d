import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { foldersAbove, sftpPath } from './windows-path.ts';

const paths: [path: string, want: string][] = [
  ['C:\\k\\kubelet.exe', '/C:/k/kubelet.exe'],
  ['C:/k/kubelet.exe', '/C:/k/kubelet.exe'],
  ['c:\\var\\log\\x', '/c:/var/log/x'],
  ['C:\\k\\\\kubelet.exe', '/C:/k//kubelet.exe'],
  ['D:\\', '/D:/'],
  ['/C:/k/kubelet.exe', '/C:/k/kubelet.exe'],
  ['/tmp/x', '/tmp/x'],
  ['/tmp/with\\backslash', '/tmp/with\\backslash'],
  ['relative\\x', 'relative\\x'],
  ['C:x', 'C:x'],
  ['', ''],
];
test.each(paths)('%s is %s for SFTP', (path, want) => expect(sftpPath(path)).toBe(want));

test('does not change a path in SFTP form', () => {
  fc.assert(
    fc.property(fc.string(), path => {
      expect(sftpPath(sftpPath(path))).toBe(sftpPath(path));
    }),
    { numRuns: 2000 },
  );
});

const folders: [path: string, want: string[]][] = [
  ['/C:/k/a/b/x', ['/C:/k', '/C:/k/a', '/C:/k/a/b']],
  ['/C:/x', []],
  ['/tmp/a/x', ['/tmp', '/tmp/a']],
  ['/x', []],
  ['/C:/k//x', ['/C:/k']],
  ['', []],
];
test.each(folders)('above %s are %s', (path, want) => expect(foldersAbove(path)).toEqual(want));
