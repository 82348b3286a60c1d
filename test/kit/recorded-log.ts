import { type Log, type LogFields, type LogLevel, logLevels } from '#base/log.ts';

export interface LogLine {
  level: LogLevel;
  message: string;
  fields: LogFields;
}

/** A log that keeps its lines. */
export interface RecordedLog {
  log: Log;
  lines: LogLine[];
  /** The messages of one level, in order. */
  messages: (level: LogLevel) => string[];
}

export function recordedLog(): RecordedLog {
  const lines: LogLine[] = [];
  const logWith = (common: LogFields): Log => {
    const at =
      (level: LogLevel) =>
      (message: string, fields: LogFields = {}): void =>
        void lines.push({ level, message, fields: { ...common, ...fields } });
    const [debug, info, warn, error] = logLevels.map(at);
    return { debug, info, warn, error, with: fields => logWith({ ...common, ...fields }) } as Log;
  };
  const messages = (level: LogLevel) => lines.filter(line => line.level === level).map(line => line.message);
  return { log: logWith({}), lines, messages };
}
