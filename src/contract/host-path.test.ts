import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkPlaces, pathKey } from './host-path.ts';
import { dir, file, requiredDirectories } from './paths.ts';

const refuse = (what: string) => new Error(what);
const check = (...paths: string[]) => checkPlaces(paths, refuse);

const fine: [string, string][] = [
  ['a program', file.kubelet],
  ['another spelling of the directory', 'c:\\K\\Kubelet.EXE'],
  ['a script', 'C:\\Temp\\hns.psm1'],
  ['a file in a directory that is yet to be made', 'C:\\k\\containerd\\registries\\quay.io\\hosts.toml'],
  ['a registry with a port', 'C:\\k\\containerd\\registries\\mirror.corp_5000_\\hosts.toml'],
  ['a log', file.kubeletLog],
  ['a name without an ending', file.kubeconfig],
  ['a name that begins with a dot', 'C:\\k\\.ready'],
  ['blanks inside a name', 'C:\\k\\a name.txt'],
  ['letters of other languages', 'C:\\k\\schlüssel.txt'],
  ['a name that only begins like a device', 'C:\\k\\console.log'],
  ['a tilde without a number', 'C:\\k\\backup~'],
  ['259 characters', `C:\\k\\${'a'.repeat(254)}`],
];
for (const [name, path] of fine) test(`takes ${name}`, () => expect(check(path)).toBeUndefined());

const refused: [string, string, string][] = [
  ['nothing', '', 'is not below'],
  ['a relative path', 'kubelet.exe', 'is not below'],
  ['the directory itself', 'C:\\k', 'is not below'],
  ['the directory with a backslash', 'C:\\k\\', 'not a plain file name'],
  ['a directory that only begins like ours', 'C:\\kubernetes\\x', 'is not below'],
  ['Windows itself', 'C:\\Windows\\System32\\x.dll', 'is not below'],
  ['the native part of the agent', `${dir.agentNative}\\koffi.node`, 'is not below'],
  ['another drive', 'D:\\k\\x', 'is not below'],
  ['a share', '\\\\server\\k\\x', 'is not below'],
  ['a device path', '\\\\?\\C:\\k\\x', 'is not below'],
  ['forward slashes', 'C:/k/x', 'is not below'],
  ['one forward slash', 'C:\\k\\a/b', 'not a plain file name'],
  ['a way up', 'C:\\k\\..\\Windows\\x', 'not a plain file name'],
  ['a dot for the directory', 'C:\\k\\.\\x', 'not a plain file name'],
  ['two backslashes', 'C:\\k\\\\x', 'not a plain file name'],
  ['a stream of a file', 'C:\\k\\kubelet.exe:hidden', 'not a plain file name'],
  ['a wildcard', 'C:\\k\\*.exe', 'not a plain file name'],
  ['a quote', 'C:\\k\\a"b', 'not a plain file name'],
  ['a line break', 'C:\\k\\a\nb', 'not a plain file name'],
  ['a zero byte', 'C:\\k\\a\0', 'not a plain file name'],
  ['a name that ends with a dot', 'C:\\k\\kubelet.exe.', 'not a plain file name'],
  ['a name that ends with a blank', 'C:\\k\\kubelet.exe ', 'not a plain file name'],
  ['a directory that ends with a blank', 'C:\\k\\a \\b', 'not a plain file name'],
  ['a device', 'C:\\k\\NUL', 'not a plain file name'],
  ['a device with an ending', 'C:\\k\\com1.txt', 'not a plain file name'],
  ['a device with a small number', 'C:\\k\\LPT²', 'not a plain file name'],
  ['a directory that is a device', 'C:\\k\\aux\\x', 'not a plain file name'],
  ['a short name', 'C:\\k\\STAGED~1\\x', 'not a plain file name'],
  ['staged copies', `${dir.staged}\\files.json`, 'is below C:\\k\\staged'],
  ['staged copies in another spelling', 'C:\\K\\Staged\\x', 'is below C:\\k\\staged'],
  ['260 characters', `C:\\k\\${'a'.repeat(255)}`, 'longer than 259'],
];
for (const [name, path, why] of refused) {
  test(`rejects ${name}`, () => expect(() => check(file.kubelet, path)).toThrow(why));
}

const together: [string, string[], string][] = [
  ['a path that is there twice', [file.kubelet, file.kubelet], 'is listed twice'],
  ['two spellings of one path', [file.kubelet, file.kubelet.toUpperCase()], 'is listed twice'],
  ['a file below a file', ['C:\\k\\a', 'C:\\k\\a\\b'], 'has a file as its parent directory'],
  ['a file below a file, the other way round', ['C:\\k\\a\\b\\c', 'C:\\k\\A'], 'has a file as its parent directory'],
];
for (const [name, paths, why] of together) {
  test(`rejects ${name}, and names it`, () => {
    expect(() => check(...paths)).toThrow(why);
    expect(() => check(...paths)).toThrow(/path "[Cc]:/);
  });
}

test('takes files side by side whose names begin alike', () => {
  expect(check('C:\\k\\a', 'C:\\k\\ab', 'C:\\k\\a.b', 'C:\\k\\c\\a', 'C:\\k\\c\\b')).toBeUndefined();
});

test('takes every place of the contract but staged copies', () => {
  const programs = Object.values(file).filter(path => !path.startsWith(`${dir.staged}\\`));
  expect(check(...programs)).toBeUndefined();
  for (const directory of requiredDirectories.filter(one => one !== dir.k)) check(`${directory}\\x`);
});

test('two spellings of one path have one key', () => {
  expect(pathKey('C:\\K\\Kubelet.exe')).toBe(pathKey('c:\\k\\kubelet.EXE'));
});

test('accepts only paths below the allowed directories', () => {
  const part = fc.constantFrom('k', 'Temp', 'var', 'log', '..', '.', '', 'a', 'NUL', 'staged', 'a:b', 'x ', 'STAGED~1');
  fc.assert(
    fc.property(fc.array(part, { maxLength: 5 }), parts => {
      const path = ['C:', ...parts].join('\\');
      try {
        check(path);
      } catch {
        return;
      }
      expect(path).toMatch(/^C:\\(k|Temp|var\\log)\\[^:]+$/i);
      expect(path).not.toMatch(/\\\.\.?(\\|$)|^C:\\k\\staged\\/i);
    }),
    { numRuns: 2000 },
  );
});
