import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { exclusively } from './exclusive.ts';

const folder = mkdtempSync(join(tmpdir(), 'wmco-lock-'));
afterAll(() => rmSync(folder, { recursive: true }));
const pause = (ms: number) => new Promise(resolve => setTimeout(resolve, ms));

test('gives what the work gives', async () => {
  expect(await exclusively(join(folder, 'a'), async () => 42)).toBe(42);
});

test('never runs two works under one lock at once', async () => {
  let [running, most] = [0, 0];
  const work = async () => {
    running += 1;
    most = Math.max(most, running);
    await pause(20);
    running -= 1;
  };
  await Promise.all(Array.from({ length: 5 }, () => exclusively(join(folder, 'b'), work)));
  expect([most, running]).toEqual([1, 0]);
});

test('works under different locks run side by side', async () => {
  const order: string[] = [];
  await exclusively(join(folder, 'c'), () => exclusively(join(folder, 'd'), async () => void order.push('inner')));
  expect(order).toEqual(['inner']);
});

test('a failed work gives up the lock and its own error', async () => {
  const failed = exclusively(join(folder, 'e'), () => Promise.reject(new Error('broken work')));
  await expect(failed).rejects.toThrow('broken work');
  expect(await exclusively(join(folder, 'e'), async () => 'free')).toBe('free');
});

test('makes the folder of the lock file', async () => {
  expect(await exclusively(join(folder, 'new', 'deep', 'lock'), async () => 'made')).toBe('made');
});

test('a killed process holds no lock', async () => {
  const lock = join(folder, 'f');
  const script = `import { exclusively } from ${JSON.stringify(join(import.meta.dirname, 'exclusive.ts'))};
    await exclusively(${JSON.stringify(lock)}, () => new Promise(resolve => { console.log('held'); setTimeout(resolve, 60_000); }));`;
  const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  expect(spawnSync('flock', ['--nonblock', lock, 'true']).status).toBe(1);
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(await exclusively(lock, async () => 'free')).toBe('free');
});
