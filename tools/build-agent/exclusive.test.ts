import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { withLock } from './exclusive.ts';

const folder = mkdtempSync(join(tmpdir(), 'wmco-lock-'));
afterAll(() => rmSync(folder, { recursive: true }));
const pause = (ms: number) => new Promise(resolve => setTimeout(resolve, ms));

test('returns the result of the function', async () => {
  expect(await withLock(join(folder, 'a'), async () => 42)).toBe(42);
});

test('never runs two functions under one lock at once', async () => {
  let [running, most] = [0, 0];
  const work = async () => {
    running += 1;
    most = Math.max(most, running);
    await pause(20);
    running -= 1;
  };
  await Promise.all(Array.from({ length: 5 }, () => withLock(join(folder, 'b'), work)));
  expect([most, running]).toEqual([1, 0]);
});

test('runs functions under different locks in parallel', async () => {
  const order: string[] = [];
  await withLock(join(folder, 'c'), () => withLock(join(folder, 'd'), async () => void order.push('inner')));
  expect(order).toEqual(['inner']);
});

test('releases the lock and passes on the error when the function fails', async () => {
  const failed = withLock(join(folder, 'e'), () => Promise.reject(new Error('broken work')));
  await expect(failed).rejects.toThrow('broken work');
  expect(await withLock(join(folder, 'e'), async () => 'free')).toBe('free');
});

test('creates the folder of the lock file', async () => {
  expect(await withLock(join(folder, 'new', 'deep', 'lock'), async () => 'made')).toBe('made');
});

test('a killed process releases the lock', async () => {
  const lock = join(folder, 'f');
  const script = `import { withLock } from ${JSON.stringify(join(import.meta.dirname, 'exclusive.ts'))};
    await withLock(${JSON.stringify(lock)}, () => new Promise(resolve => { console.log('held'); setTimeout(resolve, 60_000); }));`;
  const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  expect(spawnSync('flock', ['--nonblock', lock, 'true']).status).toBe(1);
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(await withLock(lock, async () => 'free')).toBe('free');
});
