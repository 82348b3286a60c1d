import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import type { Clock } from '#base/clock.ts';
import { AppError } from '#base/errors.ts';
import type { Processes } from '../../ports.ts';
import { argumentsOf, type Program } from './programs.ts';

export interface ProgramRun {
  /** The full path. */
  file: string;
  args: readonly string[];
  limitMs: number;
  signal?: AbortSignal;
}

export interface ProgramResult {
  exitCode: number;
  stdout: string;
  stderr: string;
}

export type RunProgram = (run: ProgramRun) => Promise<ProgramResult>;

/** The program exceeded its time limit and was ended with its children. */
export class ProgramTimeout extends Error {
  override readonly name = 'ProgramTimeout';
}

/** More than any listed program prints; one that never stops must not fill the memory. */
const maxOutputBytes = 1 << 20;
/** How long pipes may stay open after the program has exited: its children may have inherited them. */
const pipesGraceMs = 1000;
const killGraceMs = 5000;

/** Runs a listed program with its limit; `onTimeout` makes the error when that is exceeded. */
export function runListed(
  { run, windowsDirectory, signal }: { run: RunProgram; windowsDirectory: string; signal?: AbortSignal | undefined },
  program: Program,
  values: Readonly<Record<string, string>>,
  onTimeout: (error: ProgramTimeout) => AppError,
): Promise<ProgramResult> {
  const file = `${windowsDirectory}\\${program.program}`;
  const options = { file, args: argumentsOf(program, values), limitMs: program.limitMs, ...(signal && { signal }) };
  return run(options).catch((error: unknown) => {
    throw error instanceof ProgramTimeout ? onTimeout(error) : error;
  });
}

/** Runs a program until it exits, reaches its limit or is aborted; in the latter two cases its children are ended, too. */
export function createProgramRunner(processes: Processes, clock: Clock): RunProgram {
  return async run => {
    run.signal?.throwIfAborted();
    const child = start(run);
    const [stdout, stderr] = [collect(child.stdout), collect(child.stderr)];
    const [exit, closed] = [exitOf(child, run.file), new Promise(resolve => child.once('close', resolve))];
    const done = new AbortController();
    const stop = run.signal === undefined ? done.signal : AbortSignal.any([done.signal, run.signal]);
    try {
      const limit = clock.sleep(run.limitMs, stop).then(() => {
        throw new ProgramTimeout(`${run.file} did not end within ${run.limitMs / 1000} s`);
      });
      const exitCode = await Promise.race([exit, limit]);
      await Promise.race([closed, clock.sleep(pipesGraceMs, stop)]);
      return { exitCode, stdout: stdout(), stderr: stderr() };
    } catch (error) {
      await endTree(child, processes);
      await Promise.race([exit, clock.sleep(killGraceMs, done.signal)]).catch(() => undefined);
      throw error;
    } finally {
      done.abort();
      child.stdout.destroy();
      child.stderr.destroy();
    }
  };
}

function start({ file, args }: ProgramRun): ChildProcessByStdio<null, Readable, Readable> {
  try {
    return spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'], windowsHide: true });
  } catch (error) {
    throw notStarted(file, error);
  }
}

function exitOf(child: ChildProcess, file: string): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('exit', code => resolve(code ?? -1));
    child.once('error', error => reject(notStarted(file, error)));
  });
}

/** Node reports some reasons by an event and throws others. Its messages repeat all arguments, so only the code is shown. */
function notStarted(file: string, cause: unknown): AppError {
  const reason = cause instanceof Error && 'code' in cause ? String(cause.code) : 'no reason given';
  return new AppError('PROGRAM_FAILED', `${file} cannot be started: ${reason}`, {
    remedy: 'Check that the program exists and that no policy blocks it.',
    cause,
  });
}

/** The beginning of the output; the rest is read and dropped, so that the program does not block. */
function collect(stream: Readable): () => string {
  const chunks: Buffer[] = [];
  let left = maxOutputBytes;
  stream.on('data', (chunk: Buffer) => {
    if (left > 0) chunks.push(chunk.subarray(0, left));
    left -= chunk.length;
  });
  stream.on('error', () => undefined);
  return () => Buffer.concat(chunks).toString('utf8');
}

/** The PID of a child is not reused before Node has seen it exit. */
async function endTree(child: ChildProcess, processes: Processes): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    const held = await processes.hold(child.pid);
    try {
      await held?.killTree();
    } finally {
      held?.release();
    }
  } catch {
    // Its children may survive then; the program itself must not.
    child.kill('SIGKILL');
  }
}
