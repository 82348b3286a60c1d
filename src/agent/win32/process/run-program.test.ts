import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock as clock } from '#base/clock.ts';
import type { Processes } from '../../ports.ts';
import { createProgramRunner, ProgramTimeout } from './run-program.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'run-program-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Ends a process as it can be done here; what it started is of its process group. */
class TestProcesses implements Processes {
  held = 0;
  readonly killed: number[] = [];
  refuses = false;

  async hold(pid: number) {
    if (this.refuses) throw new Error('access denied');
    this.held += 1;
    return {
      hasExited: async () => false,
      killTree: async () => {
        this.killed.push(pid);
        process.kill(pid, 'SIGKILL');
      },
      release: () => {
        this.held -= 1;
      },
    };
  }

  killByName = async () => undefined;
}

function bench() {
  const processes = new TestProcesses();
  const run = createProgramRunner(processes, clock);
  const script = (text: string, limitMs = 20_000, signal?: AbortSignal) =>
    run({ file: process.execPath, args: ['-e', text], limitMs, ...(signal && { signal }) });
  return { processes, run, script };
}

test('gives exit code and both outputs apart', async () => {
  const { script, processes } = bench();
  const result = await script('console.log("out ä"); console.error("err"); process.exitCode = 3');
  expect(result).toEqual({ exitCode: 3, stdout: 'out ä\n', stderr: 'err\n' });
  expect(processes.killed).toEqual([]);
});

test('gives the program no input to wait for', async () => {
  const text = 'process.stdin.resume().on("end", () => console.log("end of input"))';
  expect((await bench().script(text)).stdout).toBe('end of input\n');
});

test('passes arguments unchanged', async () => {
  const { run } = bench();
  const words = ['a b', '"quoted"', '%PATH%', '$HOME', '', 'ä'];
  const args = ['-e', 'console.log(JSON.stringify(process.argv.slice(1)))', '--', ...words];
  expect(JSON.parse((await run({ file: process.execPath, args, limitMs: 20_000 })).stdout)).toEqual(words);
});

test('decodes a character that arrives in two pieces', async () => {
  const text = 'process.stdout.write(Buffer.of(0xc3)); setTimeout(() => process.stdout.write(Buffer.of(0xa4)), 50)';
  expect((await bench().script(text)).stdout).toBe('ä');
});

test('keeps the beginning of endless output until the program exits', async () => {
  const { exitCode, stdout } = await bench().script('process.stdout.write("x".repeat(3 << 20))');
  expect([exitCode, stdout.length]).toEqual([0, 1 << 20]);
});

test('ends a program at its limit', async () => {
  const { script, processes } = bench();
  const began = performance.now();
  await expect(script('setInterval(() => {}, 1000)', 300)).rejects.toThrow(ProgramTimeout);
  expect(performance.now() - began).toBeLessThan(10_000);
  expect(processes.killed).toHaveLength(1);
  expect(processes.held).toBe(0);
});

test('names the program and the limit when that is over', async () => {
  await expect(bench().script('setInterval(() => {}, 1000)', 250)).rejects.toThrow(
    `${process.execPath} did not end within 0.25 s`,
  );
});

test('ends a program when aborted, and passes on the reason', async () => {
  const { script, processes } = bench();
  const stop = new AbortController();
  const mark = join(folder, 'started');
  const running = script(
    `require('fs').writeFileSync(${JSON.stringify(mark)}, ''); setInterval(() => {}, 1000)`,
    20_000,
    stop.signal,
  );
  while (!existsSync(mark)) await clock.sleep(10);
  stop.abort(new Error('the service is asked to stop'));
  await expect(running).rejects.toThrow('the service is asked to stop');
  expect(processes.killed).toHaveLength(1);
  expect(processes.held).toBe(0);
});

test('does not start a program when already aborted', async () => {
  const mark = join(folder, 'never');
  const text = `require('fs').writeFileSync(${JSON.stringify(mark)}, '')`;
  await expect(bench().script(text, 20_000, AbortSignal.abort(new Error('too late')))).rejects.toThrow('too late');
  await clock.sleep(200);
  expect(existsSync(mark)).toBe(false);
});

test('ends the program itself when the tree cannot be ended', async () => {
  const { script, processes } = bench();
  processes.refuses = true;
  const mark = join(folder, 'pid');
  const text = `require('fs').writeFileSync(${JSON.stringify(mark)}, String(process.pid)); setInterval(() => {}, 1000)`;
  // Long enough for the program to start on a busy machine.
  await expect(script(text, 5000)).rejects.toThrow(ProgramTimeout);
  const pid = Number(await readFile(mark, 'utf8'));
  expect(() => process.kill(pid, 0)).toThrow(/ESRCH/);
});

test('does not wait for children that keep the pipes open', async () => {
  const left = 'setTimeout(() => {}, 12000)';
  const text = `require('child_process').spawn(process.execPath, ['-e', ${JSON.stringify(left)}], { stdio: 'inherit', detached: true }).unref(); console.log('done')`;
  const began = performance.now();
  expect((await bench().script(text)).stdout).toBe('done\n');
  expect(performance.now() - began).toBeLessThan(10_000);
});

test('reports that a program cannot be started', async () => {
  const { run } = bench();
  const file = join(folder, 'missing.exe');
  await expect(run({ file, args: ['secret'], limitMs: 1000 })).rejects.toMatchObject({
    code: 'PROGRAM_FAILED',
    message: `${file} cannot be started: ENOENT`,
    remedy: expect.stringMatching(/./) as string,
  });
});

test('reports that arguments are too long for the system, without repeating them', async () => {
  const { run } = bench();
  await expect(run({ file: process.execPath, args: ['x'.repeat(5 << 20)], limitMs: 1000 })).rejects.toMatchObject({
    code: 'PROGRAM_FAILED',
    message: `${process.execPath} cannot be started: E2BIG`,
  });
});

test('runs several programs at the same time', async () => {
  const { script } = bench();
  const numbers = [1, 2, 3, 4];
  const results = await Promise.all(numbers.map(number => script(`console.log(${number})`)));
  expect(results.map(({ stdout }) => stdout.trim())).toEqual(numbers.map(String));
});
