import { execFileSync, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { WindowsLab } from '../kit/winhost/lab.ts';

/** Everything of a run that could be left on this machine. */
function tracesOf({ bridge, folder }: Pick<WindowsLab, 'bridge' | 'folder'>): string[] {
  const links = execFileSync('ip', ['-o', 'link'], { encoding: 'utf8' }).split('\n');
  const mounts = readFileSync('/proc/self/mountinfo', 'utf8').split('\n');
  const processes = readdirSync('/proc').filter(name => /^\d+$/.test(name) && commandLine(name).includes(`${folder}/`));
  return [
    ...links.filter(line => line.includes(`${bridge}:`) || line.includes(`${bridge}h`)),
    ...mounts.filter(line => line.includes(folder)),
    ...processes.map(pid => `process ${pid}: ${commandLine(pid)}`),
    ...(existsSync(folder) ? [folder] : []),
  ];
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}

test('leaves nothing behind', async () => {
  await using lab = await WindowsLab.start();
  const host = await lab.createHost();
  const second = await WindowsLab.start();
  expect(second.bridge).not.toBe(lab.bridge);
  const [one, two] = await Promise.all([second.createHost(), second.createHost()]);
  await one.destroy();
  expect(await two.run('hostname')).toBe('WIN-2');
  expect(tracesOf(second).length).toBeGreaterThan(2);
  await second.stop();
  expect(tracesOf(second)).toEqual([]);
  expect(await host.run('hostname')).toBe('WIN-1');
});

const startAndTell = `
  const { WindowsLab } = await import(${JSON.stringify(join(import.meta.dirname, '../kit/winhost/lab.ts'))});
  const lab = await WindowsLab.start();
  await lab.createHost();
  console.log(JSON.stringify({ bridge: lab.bridge, folder: lab.folder, guard: lab.guardPid }));
  setInterval(() => undefined, 1000);`;

interface Told extends Pick<WindowsLab, 'bridge' | 'folder'> {
  guard: number;
}

/** Another test run on this machine, up to the point where its host is on. */
async function startElsewhere(): Promise<{ told: Told; kill: () => void }> {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', startAndTell], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const told = await new Promise<string>(resolve =>
    child.stdout.once('data', (chunk: Buffer) => resolve(chunk.toString())),
  );
  return { told: JSON.parse(told) as Told, kill: () => child.kill('SIGKILL') };
}

test('leaves nothing behind when the test is killed', async () => {
  const { told, kill } = await startElsewhere();
  expect(tracesOf(told).length).toBeGreaterThan(2);
  kill();
  await expect.poll(() => tracesOf(told), { timeout: 15_000 }).toEqual([]);
});

test('the next run sweeps what stayed because test and guard were killed together', async () => {
  const { told, kill } = await startElsewhere();
  process.kill(told.guard, 'SIGKILL');
  kill();
  await delay(1000);
  const left = tracesOf(told);
  expect(left.length).toBeGreaterThan(2);
  await using _next = await WindowsLab.start();
  // The next run may have got the same number, and with it the bridge and the folder, but neither host nor process.
  expect(left.filter(line => /process|h1/.test(line))).not.toEqual([]);
  expect(tracesOf(told).filter(line => /process|h1/.test(line))).toEqual([]);
});
