import { AppError, shown } from '#base/errors.ts';
import type { FeatureState, System } from '../ports.ts';
import { type Program, programs } from './process/programs.ts';
import { type ProgramResult, type RunProgram, runListed } from './process/run-program.ts';

const feature = 'Containers';
const rebootRequired = 3010;

export function createContainersFeature(
  run: RunProgram,
  windowsDirectory: string,
): Pick<System, 'containersFeature' | 'enableContainers'> {
  async function dism(program: Program, signal?: AbortSignal): Promise<ProgramResult> {
    const onTimeout = () => tooSlow(program.limitMs);
    const result = await runListed({ run, windowsDirectory, signal }, program, { feature }, onTimeout);
    if (result.exitCode === 0 || result.exitCode === rebootRequired) return result;
    throw failed(result);
  }

  return {
    containersFeature: async () => parseFeatureState((await dism(programs.featureInfo)).stdout),
    enableContainers: async signal => (await dism(programs.enableFeature, signal)).exitCode === rebootRequired,
  };
}

/** Parses the English output of /Get-FeatureInfo. A removed or partially installed feature is not enabled. */
export function parseFeatureState(output: string): FeatureState {
  const words = /^State : (.*\S)\s*$/m.exec(output)?.[1]?.toLowerCase();
  if (words === undefined) return 'unknown';
  if (words === 'enabled') return 'enabled';
  if (words === 'enable pending') return 'enable-pending';
  if (words === 'disable pending') return 'disable-pending';
  return words.startsWith('disabled') || words === 'partially installed' ? 'disabled' : 'unknown';
}

function tooSlow(limitMs: number): AppError {
  return new AppError('PROGRAM_TIMEOUT', `dism.exe did not end within ${limitMs / 1000} s for feature ${feature}`, {
    remedy: String.raw`Check C:\Windows\Logs\DISM\dism.log on the host.`,
  });
}

function failed({ exitCode, stdout, stderr }: ProgramResult): AppError {
  const lines = `${stdout}\n${stderr}`.split(/\r?\n/).map(line => line.trim());
  const start = lines.findIndex(line => line.startsWith('Error'));
  const reason =
    start === -1
      ? ''
      : lines
          .slice(start)
          .filter(line => line !== '')
          .join(' ');
  const code = exitCode > 0xff_ff ? `0x${exitCode.toString(16)}` : String(exitCode);
  const message = `dism.exe ended with code ${code} for feature ${feature}${reason && `: ${shown(reason)}`}`;
  return new AppError('PROGRAM_FAILED', message, {
    remedy: String.raw`Check C:\Windows\Logs\DISM\dism.log on the host; Windows Server 2019 or later and an administrator are required.`,
  });
}
