import type { Clock } from './clock.ts';
import { AppError } from './errors.ts';
import { printableJson } from './printable.ts';

export type LogFields = Readonly<Record<string, unknown>>;

/** For operators: constant text, values as fields, said before the act. What a user must know is a condition or an event. */
export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  /** The error itself goes into the field `error`. */
  error(message: string, fields?: LogFields): void;
  /** The same log with fields that every line will carry. */
  with(fields: LogFields): Log;
}

export const logLevels = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof logLevels)[number];

const nothing = (): void => undefined;

/** For whoever does not want to hear anything. */
export const silentLog: Log = {
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
  with: () => silentLog,
};

/** Writes one line of JSON per message. */
export function createLog(write: (line: string) => void, clock: Clock, lowest: LogLevel = 'info'): Log {
  return logWith({});

  function logWith(common: LogFields): Log {
    const at = (level: LogLevel) => {
      if (logLevels.indexOf(level) < logLevels.indexOf(lowest)) return nothing;
      return (message: string, fields: LogFields = {}) => {
        const time = new Date(clock.now()).toISOString();
        write(`${printed({ time, level, message, ...common, ...fields })}\n`);
      };
    };
    return {
      debug: at('debug'),
      info: at('info'),
      warn: at('warn'),
      error: at('error'),
      with: fields => logWith({ ...common, ...fields }),
    };
  }
}

function printed(line: LogFields): string {
  try {
    const print = (_: string, value: unknown) => (value instanceof Error ? errorFields(value) : value);
    // Logs are read on terminals, too.
    return printableJson(JSON.stringify(line, print));
  } catch {
    // A line that cannot be printed whole (a cycle, a bigint) must not be lost, nor stop the work it speaks of.
    const { time, level, message } = line;
    return JSON.stringify({ time, level, message, unprintable: true });
  }
}

/** Errors have no enumerable members of their own, so JSON alone would print them empty. */
function errorFields(error: Error): LogFields {
  return {
    message: error.message,
    ...(error instanceof AppError ? { code: error.code, remedy: error.remedy } : { name: error.name }),
    ...(error.cause === undefined ? {} : { cause: error.cause }),
  };
}
