import { AppError, shown } from '#base/errors.ts';
import type { ScriptRunner } from '../../ports.ts';
import { argumentsOf, programs } from './programs.ts';
import { ProgramTimeout, type RunProgram } from './run-program.ts';

const maxErrorLength = 400;

/** Runs PowerShell texts with the one that is part of Windows. */
export function createScriptRunner(
  run: RunProgram,
  windowsDirectory: string,
  limitMs: number = programs.powershell.limitMs,
): ScriptRunner {
  const file = `${windowsDirectory}\\${programs.powershell.program}`;
  return {
    async run(text, signal) {
      const args = argumentsOf(programs.powershell, { text });
      const { exitCode, stdout, stderr } = await run({ file, args, limitMs, signal }).catch((error: unknown) => {
        throw error instanceof ProgramTimeout ? tooSlow(text, limitMs) : error;
      });
      if (exitCode === 0) return stdout;
      throw failed(text, exitCode, shortened(stderr) || shortened(stdout) || 'it printed nothing');
    },
  };
}

function tooSlow(text: string, limitMs: number): AppError {
  return new AppError('SCRIPT_TIMEOUT', `PowerShell did not end within ${limitMs / 1000} s: ${shown(text)}`, {
    remedy: 'Run the script on the host to see what it waits for.',
  });
}

function failed(text: string, exitCode: number, output: string): AppError {
  return new AppError('SCRIPT_FAILED', `PowerShell ended with code ${exitCode}: ${shown(text)}: ${output}`, {
    remedy: 'Run the script on the host and fix what it reports.',
  });
}

/** PowerShell breaks its messages where the window would end. */
function shortened(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > maxErrorLength ? `${line.slice(0, maxErrorLength)}...` : line;
}
