import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '#base/clock.ts';
import type { Log, LogFields } from '#base/log.ts';
import { agentName } from '#contract/names.ts';
import { headerLines, printLine, severities, type Severity } from './line.ts';
import { RotatingFile } from './rotating-file.ts';

export interface FileLogOptions {
  directory: string;
  /** Size of one file; 0 for no limit. */
  maxBytes: number;
  /** Name and version of the program, for the header of each file. */
  build: string;
  /** Errors are also written here. */
  stderr: (text: string) => void;
  clock: Clock;
  /** Number of full files to keep for each severity. */
  keep?: number;
}

/** `<exe>.INFO`, `.WARNING` and `.ERROR` in a directory; appended to after a restart. */
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

/** The same lines for any output, without debug messages, as klog does by default. */
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
