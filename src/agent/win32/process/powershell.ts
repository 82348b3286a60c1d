import { AppError, shown } from '#base/errors.ts';
import type { ScriptRunner } from '../../ports.ts';
import { programs } from './programs.ts';
import { type RunProgram, runListed } from './run-program.ts';

const maxErrorLength = 400;

/** Runs scripts with Windows PowerShell. */
export function createScriptRunner(run: RunProgram, windowsDirectory: string): ScriptRunner {
  const { powershell } = programs;
  return {
    async run(text, signal) {
      const onTimeout = () => tooSlow(text, powershell.limitMs);
      const result = await runListed({ run, windowsDirectory, signal }, powershell, { text }, onTimeout);
      const { exitCode, stdout, stderr } = result;
      if (exitCode === 0) return stdout;
      throw failed(text, exitCode, shortened(stderr) || shortened(stdout) || 'it printed nothing');
    },
  };
}

function tooSlow(text: string, limitMs: number): AppError {
  return new AppError('SCRIPT_TIMEOUT', `PowerShell did not end within ${limitMs / 1000} s: ${shown(text)}`, {
    remedy: 'Run the script on the host to find out what it waits for.',
  });
}

function failed(text: string, exitCode: number, output: string): AppError {
  return new AppError('SCRIPT_FAILED', `PowerShell ended with code ${exitCode}: ${shown(text)}: ${output}`, {
    remedy: 'Run the script on the host and fix what it reports.',
  });
}

/** PowerShell wraps its messages at the window width. */
function shortened(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > maxErrorLength ? `${line.slice(0, maxErrorLength)}...` : line;
}
