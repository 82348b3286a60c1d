import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { rejectionOf } from '../../../test/kit/outcome.ts';
import { openPlace } from './place.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'wmco-place-'));
});
afterEach(() => rmSync(folder, { recursive: true }));
const usual = { kubeconfig: undefined, log: undefined };

test('is a folder for nobody else, which is gone in the end with everything in it', async () => {
  const place = await openPlace(usual);
  expect(statSync(place.folder).mode & 0o777).toBe(0o700);
  await place.writeKubeconfig('content');
  place.log('line\n');
  writeFileSync(join(place.folder, 'more'), '');
  expect(dirname(place.kubeconfig)).toBe(place.folder);
  expect(dirname(place.logFile)).toBe(place.folder);
  expect([readFileSync(place.kubeconfig, 'utf8'), statSync(place.kubeconfig).mode & 0o777]).toEqual(['content', 0o600]);
  await place[Symbol.asyncDispose]();
  expect(existsSync(place.folder)).toBe(false);
});

test('a kubeconfig that was asked for is only there while the cluster is; a log stays', async () => {
  const spec = { kubeconfig: join(folder, 'kubeconfig'), log: join(folder, 'log') };
  const place = await openPlace(spec);
  await place.writeKubeconfig('content');
  for (const line of ['one\n', 'two\n']) place.log(line);
  expect(readFileSync(spec.kubeconfig, 'utf8')).toBe('content');
  await place[Symbol.asyncDispose]();
  expect(readdirSync(folder)).toEqual(['log']);
  expect(readFileSync(spec.log, 'utf8')).toBe('one\ntwo\n');
});

test('a kubeconfig of somebody else is neither overwritten nor removed', async () => {
  const kubeconfig = join(folder, 'kubeconfig');
  writeFileSync(kubeconfig, 'precious');
  const place = await openPlace({ ...usual, kubeconfig });
  const error = await rejectionOf(place.writeKubeconfig('content'));
  expect(error).toMatchObject({ code: 'OUTPUT_UNWRITABLE', message: expect.stringContaining(kubeconfig) as string });
  await place[Symbol.asyncDispose]();
  expect(readFileSync(kubeconfig, 'utf8')).toBe('precious');
});

test('a log that cannot be written is an error at once, and nothing is left behind', async () => {
  const before = process.listenerCount('exit');
  const error = await rejectionOf(openPlace({ ...usual, log: join(folder, 'no', 'log') }));
  expect(error).toMatchObject({ code: 'OUTPUT_UNWRITABLE', message: expect.stringContaining('ENOENT') as string });
  expect(process.listenerCount('exit')).toBe(before);
});

test('asks the process to remember only while it is open', async () => {
  const before = process.listenerCount('exit');
  const place = await openPlace(usual);
  expect(process.listenerCount('exit')).toBe(before + 1);
  await place[Symbol.asyncDispose]();
  expect(process.listenerCount('exit')).toBe(before);
});

test('a process that ends early takes the folder with it', async () => {
  const listeners = new Set(process.listeners('exit'));
  const kubeconfig = join(folder, 'kubeconfig');
  const place = await openPlace({ ...usual, kubeconfig });
  await place.writeKubeconfig('content');
  const [atExit] = process.listeners('exit').filter(each => !listeners.has(each));
  atExit?.call(process, 0);
  expect([existsSync(place.folder), existsSync(kubeconfig)]).toEqual([false, false]);
  await place[Symbol.asyncDispose]();
});

test('what is said after the end is said to nobody', async () => {
  const place = await openPlace(usual);
  await place[Symbol.asyncDispose]();
  expect(() => place.log('late\n')).not.toThrow();
});
