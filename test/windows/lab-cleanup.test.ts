import { execFileSync, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { WindowsLab } from '../kit/winhost/lab.ts';

/**
 * Everything that a run could leave on this machine. The next run may use the same number and names, so each trace
 * contains something unique.
 */
function tracesOf({ bridge, folder }: Pick<WindowsLab, 'bridge' | 'folder'>): string[] {
  const links = execFileSync('ip', ['-o', 'link'], { encoding: 'utf8' }).split('\n');
  const mounts = readFileSync('/proc/self/mountinfo', 'utf8').split('\n');
  const processes = readdirSync('/proc').filter(name => /^\d+$/.test(name) && commandLine(name).includes(`${folder}/`));
  return [
    ...links.map(line => line.split(': ', 2).join(' ')).filter(link => new RegExp(` ${bridge}(h\\d+@|$)`).test(link)),
    ...mounts.filter(line => line.includes(folder)),
    ...processes.map(pid => `process ${pid}`),
    ...(existsSync(folder) ? [`${folder} ${statSync(folder).ino} ${statSync(folder).birthtimeMs}`] : []),
  ];
}

/** Traces that still exist. */
function leftOf(lab: Pick<WindowsLab, 'bridge' | 'folder'>, traces: readonly string[]): string[] {
  const now = new Set(tracesOf(lab));
  return traces.filter(trace => now.has(trace));
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}

test('leaves no traces', async () => {
  await using lab = await WindowsLab.start();
  const host = await lab.createHost();
  const second = await WindowsLab.start();
  expect(second.bridge).not.toBe(lab.bridge);
  const [one, two] = await Promise.all([second.createHost(), second.createHost()]);
  await one.destroy();
  expect(await two.run('hostname')).toBe('WIN-2');
  const traces = tracesOf(second);
  expect(traces.length).toBeGreaterThan(4);
  await second.stop();
  await second.stop();
  expect(leftOf(second, traces)).toEqual([]);
  expect(await host.run('hostname')).toBe('WIN-1');
});

const startAndTell = `
  const { WindowsLab } = await import(${JSON.stringify(join(import.meta.dirname, '../kit/winhost/lab.ts'))});
  const lab = await WindowsLab.start();
  await lab.createHost();
  console.log(JSON.stringify({ bridge: lab.bridge, folder: lab.folder, guard: lab.guardPid }));
  setInterval(() => undefined, 1000);`;

interface LabTrace extends Pick<WindowsLab, 'bridge' | 'folder'> {
  guard: number;
}

/** Another test run on this machine, until its host is on. */
async function startElsewhere(): Promise<{ trace: LabTrace; kill: () => void }> {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', startAndTell], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const trace = await new Promise<string>(resolve =>
    child.stdout.once('data', (chunk: Buffer) => resolve(chunk.toString())),
  );
  return { trace: JSON.parse(trace) as LabTrace, kill: () => child.kill('SIGKILL') };
}

test('leaves no traces when the test is killed', async () => {
  const { trace, kill } = await startElsewhere();
  const traces = tracesOf(trace);
  expect(traces.length).toBeGreaterThan(4);
  kill();
  await expect.poll(() => leftOf(trace, traces)).toEqual([]);
});

test('the next run cleans up after test and guard were killed together', async () => {
  const { trace, kill } = await startElsewhere();
  const traces = tracesOf(trace);
  expect(traces.length).toBeGreaterThan(4);
  process.kill(trace.guard, 'SIGKILL');
  kill();
  await delay(500);
  await using _next = await WindowsLab.start();
  expect(leftOf(trace, traces)).toEqual([]);
});
