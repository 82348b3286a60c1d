import type { Program } from '../host/process.ts';
import type { ProgramHost } from './program-host.ts';
import { type Defect, lifetimeMs } from './stamp.ts';

const failureMs = 50;

/** A service program that fails for good some time after its file was written, and at once if it is broken. */
export function defectiveProgram(program: Program, path: string, defect: Defect, host: ProgramHost): Program {
  return async life => {
    const { clock, delays, log, ports } = host;
    const writtenMs = (await ports.files.stat(path))?.modifiedMs ?? 0;
    const leftMs = writtenMs + lifetimeMs(defect) - clock.now();
    const end = new AbortController();
    const signal = AbortSignal.any([life.signal, end.signal]);
    const crash = () => {
      log.error('Crashed', { program: path, error: new Error('this build is broken') });
      return 1;
    };
    const stopped = () => 0;
    if (leftMs <= 0) return delays.sleep(failureMs, signal).then(crash, stopped);
    const working = program({ ...life, signal });
    const exitCode = await Promise.race([working, clock.sleep(leftMs, signal).then(crash, stopped)]);
    end.abort(new Error('the program has ended'));
    await working;
    return exitCode;
  };
}
