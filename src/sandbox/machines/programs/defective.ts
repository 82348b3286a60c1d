import type { Program } from '../host/process.ts';
import type { ProgramHost } from './program-host.ts';
import { type Defect, lifetimeMs } from './stamp.ts';

const failureMs = 50;

/** A service program that fails some time after its start, or at once, and from then on until its file is replaced. */
export function defectiveProgram(program: Program, path: string, defect: Defect, host: ProgramHost): Program {
  return async life => {
    const { clock, delays, log, ports, state } = host;
    const file = `${path} ${(await ports.files.stat(path))?.modifiedMs}`;
    const crash = () => {
      state.failedPrograms.add(file);
      log.error('Crashed', { program: path, error: new Error('this build is broken') });
      return 1;
    };
    const stopped = () => 0;
    if (defect === 'broken' || state.failedPrograms.has(file))
      return delays.sleep(failureMs, life.signal).then(crash, stopped);
    const end = new AbortController();
    const signal = AbortSignal.any([life.signal, end.signal]);
    const working = program({ ...life, signal });
    const exitCode = await Promise.race([working, clock.sleep(lifetimeMs(defect), signal).then(crash, stopped)]);
    end.abort(new Error('the program has ended'));
    await working;
    return exitCode;
  };
}
