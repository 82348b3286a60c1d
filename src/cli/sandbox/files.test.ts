import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { rejectionOf } from '../../../test/kit/outcome.ts';
import { openSandboxFiles } from './files.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'wmco-files-'));
});
afterEach(() => rmSync(folder, { recursive: true }));
const defaults = { kubeconfig: undefined, log: undefined };

test('creates a private folder and removes it with its content', async () => {
  const files = await openSandboxFiles(defaults);
  expect(statSync(files.folder).mode & 0o777).toBe(0o700);
  await files.writeKubeconfig('content');
  files.log('line\n');
  writeFileSync(join(files.folder, 'more'), '');
  expect(dirname(files.kubeconfig)).toBe(files.folder);
  expect(dirname(files.logFile)).toBe(files.folder);
  expect([readFileSync(files.kubeconfig, 'utf8'), statSync(files.kubeconfig).mode & 0o777]).toEqual(['content', 0o600]);
  await files[Symbol.asyncDispose]();
  expect(existsSync(files.folder)).toBe(false);
});

test('removes a chosen kubeconfig at the end and keeps a chosen log', async () => {
  const spec = { kubeconfig: join(folder, 'kubeconfig'), log: join(folder, 'log') };
  const files = await openSandboxFiles(spec);
  await files.writeKubeconfig('content');
  for (const line of ['one\n', 'two\n']) files.log(line);
  expect(readFileSync(spec.kubeconfig, 'utf8')).toBe('content');
  await files[Symbol.asyncDispose]();
  expect(readdirSync(folder)).toEqual(['log']);
  expect(readFileSync(spec.log, 'utf8')).toBe('one\ntwo\n');
});

test('neither overwrites nor removes an existing kubeconfig', async () => {
  const kubeconfig = join(folder, 'kubeconfig');
  writeFileSync(kubeconfig, 'precious');
  const files = await openSandboxFiles({ ...defaults, kubeconfig });
  const error = await rejectionOf(files.writeKubeconfig('content'));
  expect(error).toMatchObject({ code: 'OUTPUT_UNWRITABLE', message: expect.stringContaining(kubeconfig) as string });
  await files[Symbol.asyncDispose]();
  expect(readFileSync(kubeconfig, 'utf8')).toBe('precious');
});

test('a log that cannot be written is an error at once and leaves no files', async () => {
  const before = process.listenerCount('exit');
  const error = await rejectionOf(openSandboxFiles({ ...defaults, log: join(folder, 'no', 'log') }));
  expect(error).toMatchObject({ code: 'OUTPUT_UNWRITABLE', message: expect.stringContaining('ENOENT') as string });
  expect(process.listenerCount('exit')).toBe(before);
});

test('has an exit handler only while it is open', async () => {
  const before = process.listenerCount('exit');
  const files = await openSandboxFiles(defaults);
  expect(process.listenerCount('exit')).toBe(before + 1);
  await files[Symbol.asyncDispose]();
  expect(process.listenerCount('exit')).toBe(before);
});

test('removes the folder when the process exits early', async () => {
  const listeners = new Set(process.listeners('exit'));
  const kubeconfig = join(folder, 'kubeconfig');
  const files = await openSandboxFiles({ ...defaults, kubeconfig });
  await files.writeKubeconfig('content');
  const [atExit] = process.listeners('exit').filter(each => !listeners.has(each));
  atExit?.call(process, 0);
  expect([existsSync(files.folder), existsSync(kubeconfig)]).toEqual([false, false]);
  await files[Symbol.asyncDispose]();
});

test('ignores log lines after it was closed', async () => {
  const files = await openSandboxFiles(defaults);
  await files[Symbol.asyncDispose]();
  expect(() => files.log('late\n')).not.toThrow();
});
