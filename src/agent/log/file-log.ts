import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '#base/clock.ts';
import type { Log, LogFields } from '#base/log.ts';
import { agentName } from '#contract/names.ts';
import { headerLines, printLine, severities, type Severity } from './line.ts';
import { RotatingFile } from './rotating-file.ts';

export interface FileLogOptions {
  directory: string;
  /** Of one file; no limit when 0. */
  maxBytes: number;
  /** Name and version of the program, for the head of each file. */
  build: string;
  /** Errors are also told here. */
  stderr: (text: string) => void;
  clock: Clock;
  /** Full files of each severity that are kept. */
  keep?: number;
}

/** `<exe>.INFO`, `.WARNING` and `.ERROR` in a directory, under names that never change and over restarts. */
export function createFileLog(options: FileLogOptions): Log {
  const { directory, maxBytes, build, stderr, clock, keep = 5 } = options;
  const header = () => headerLines(clock.now(), hostname(), build);
  const files = severities.map(
    severity =>
      new RotatingFile({ path: join(directory, `${agentName}.exe.${severity}`), maxBytes, keep, header, clock }),
  );
  return createLineLog((severity, line) => {
    for (const file of files.slice(0, severities.indexOf(severity) + 1)) file.write(line);
    if (severity === 'ERROR') stderr(`${line}\n`);
  }, clock);
}

/** The same lines, to wherever they shall go. Messages for debugging are left out, as klog does by default. */
export function createLineLog(write: (severity: Severity, line: string) => void, clock: Clock): Log {
  const logWith = (common: LogFields): Log => {
    const at =
      (severity: Severity) =>
      (message: string, fields: LogFields = {}): void =>
        write(
          severity,
          printLine({ severity, atMs: clock.now(), pid: process.pid, message, fields: { ...common, ...fields } }),
        );
    return {
      debug: () => undefined,
      info: at('INFO'),
      warn: at('WARNING'),
      error: at('ERROR'),
      with: fields => logWith({ ...common, ...fields }),
    };
  };
  return logWith({});
}
