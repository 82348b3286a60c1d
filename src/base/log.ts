import type { Clock } from './clock.ts';
import { AppError } from './errors.ts';
import { printableJson } from './printable.ts';

export type LogFields = Readonly<Record<string, unknown>>;

/** Constant text, values as fields. What a user must know is a condition or an event. */
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

const ignore = (): void => undefined;

export const silentLog: Log = {
  debug: ignore,
  info: ignore,
  warn: ignore,
  error: ignore,
  with: () => silentLog,
};

/** Writes one line of JSON per message. */
export function createLog(write: (line: string) => void, clock: Clock, lowest: LogLevel = 'info'): Log {
  return logWith({});

  function logWith(common: LogFields): Log {
    const at = (level: LogLevel) => {
      if (logLevels.indexOf(level) < logLevels.indexOf(lowest)) return ignore;
      return (message: string, fields: LogFields = {}) => {
        const time = new Date(clock.now()).toISOString();
        write(`${printLine({ time, level, message, ...common, ...fields })}\n`);
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

function printLine(line: LogFields): string {
  try {
    const print = (_: string, value: unknown) => (value instanceof Error ? errorFields(value) : value);
    return printableJson(JSON.stringify(line, print));
  } catch {
    // Fields that JSON cannot represent (a cycle, a bigint) must not lose the line or stop the caller.
    const { time, level, message } = line;
    return JSON.stringify({ time, level, message, unprintable: true });
  }
}

/** JSON prints errors as {}, since their members are not enumerable. */
function errorFields(error: Error): LogFields {
  return {
    message: error.message,
    ...(error instanceof AppError ? { code: error.code, remedy: error.remedy } : { name: error.name }),
    ...(error.cause === undefined ? {} : { cause: error.cause }),
  };
}
