import { expect, test } from 'vitest';
import { AppError } from '#base/errors.ts';
import { createScriptRunner } from './powershell.ts';
import { type ProgramResult, type ProgramRun, ProgramTimeout } from './run-program.ts';

const never = new AbortController().signal;

function bench(answer: Partial<ProgramResult> | Error = {}) {
  const runs: ProgramRun[] = [];
  const runner = createScriptRunner(async run => {
    runs.push(run);
    if (answer instanceof Error) throw answer;
    return { exitCode: 0, stdout: '', stderr: '', ...answer };
  }, 'C:\\Windows');
  return { runs, runner };
}

test('runs the PowerShell that is part of Windows, without profile, input or policy in its way', async () => {
  const { runs, runner } = bench();
  await runner.run('Get-Date', never);
  expect(runs).toEqual([
    {
      file: 'C:\\Windows\\System32\\WindowsPowerShell\\v1.0\\powershell.exe',
      args: ['-NoProfile', '-NoLogo', '-NonInteractive', '-ExecutionPolicy', 'Bypass', '-Command', 'Get-Date'],
      limitMs: 120_000,
      signal: never,
    },
  ]);
});

test('gives standard output alone, unchanged', async () => {
  const { runner } = bench({ stdout: '10.0.0.5\r\n', stderr: 'a warning' });
  expect(await runner.run('x', never)).toBe('10.0.0.5\r\n');
});

const failures: [string, Partial<ProgramResult>, string][] = [
  ['its error output', { stderr: 'The term is\r\n  not recognized' }, 'The term is not recognized'],
  ['its output when there is no error output', { stdout: 'failed\n' }, 'failed'],
  ['that it said nothing', {}, 'it printed nothing'],
];
test.each(failures)('reports a script that fails: exit code and %s', async (_, result, want) => {
  await expect(bench({ exitCode: 7, ...result }).runner.run('Get-Foo', never)).rejects.toMatchObject({
    code: 'SCRIPT_FAILED',
    message: `PowerShell ended with code 7: "Get-Foo": ${want}`,
    remedy: expect.stringMatching(/./) as string,
  });
});

test('shortens a long complaint and a long script', async () => {
  const { runner } = bench({ exitCode: 1, stderr: 'e'.repeat(5000) });
  const error = await runner.run('s'.repeat(5000), never).catch((cause: unknown) => cause as AppError);
  expect((error as AppError).message.length).toBeLessThan(600);
  expect((error as AppError).message).toMatch(/ee\.\.\.$/);
});

test('reports a script that takes too long', async () => {
  await expect(bench(new ProgramTimeout('x')).runner.run('Start-Sleep 60', never)).rejects.toMatchObject({
    code: 'SCRIPT_TIMEOUT',
    message: 'PowerShell did not end within 120 s: "Start-Sleep 60"',
    remedy: expect.stringMatching(/./) as string,
  });
});

test('passes on a failed start of PowerShell and an abort', async () => {
  const missing = new AppError('PROGRAM_FAILED', 'powershell.exe cannot be started', { remedy: 'r' });
  await expect(bench(missing).runner.run('x', never)).rejects.toBe(missing);
  const stop = new Error('stop');
  await expect(bench(stop).runner.run('x', never)).rejects.toBe(stop);
});
