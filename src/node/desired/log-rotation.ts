import { AppError, attempt, shown } from '#base/errors.ts';
import { parseGoDuration } from '#base/go-duration.ts';
import { parseQuantity, unitsRoundedUp } from '#base/quantity.ts';
import type { LogRotation } from '#cluster/facts.ts';
import { file } from '#contract/paths.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const variable = {
  fileSize: 'SERVICES_LOG_FILE_SIZE',
  fileAge: 'SERVICES_LOG_FILE_AGE',
  flushInterval: 'SERVICES_LOG_FLUSH_INTERVAL',
} as const;

/** Reads the three log variables of the operator and reports all problems at once. */
export function readLogRotation(environment: Environment): LogRotation {
  const results = {
    fileSize: attempt(() => quantityVariable(environment, variable.fileSize)),
    fileAge: attempt(() => durationVariable(environment, variable.fileAge)),
    flushInterval: attempt(() => durationVariable(environment, variable.flushInterval)),
  };
  const errors = Object.values(results).flatMap(result => (result.ok ? [] : [result.error]));
  if (errors.length > 0) {
    throw invalid(
      `invalid log configuration: ${errors.map(error => error.message).join('; ')}`,
      errors.map(error => error.remedy).join(' '),
    );
  }
  const text = (name: keyof typeof results) => (results[name].ok ? results[name].value : '');
  return { fileSize: text('fileSize'), fileAge: text('fileAge'), flushInterval: text('flushInterval') };
}

/** A variable with a Go duration; empty when not set. */
export function durationVariable(environment: Environment, name: string): string {
  const text = valueOf(environment, name);
  if (text === '' || (!text.startsWith('-') && parseGoDuration(text) !== undefined)) return text;
  throw invalid(
    `${name} is ${shown(text)}, not a duration of zero or more`,
    `Set ${name} to a duration such as 168h, 30m or 5s, or unset it.`,
  );
}

/** A variable with a size in bytes as Kubernetes quantity; empty when not set. */
export function quantityVariable(environment: Environment, name: string): string {
  const text = valueOf(environment, name);
  if (text === '' || bytesOf(text) !== undefined) return text;
  throw invalid(
    `${name} is ${shown(text)}, not a quantity of bytes of zero or more`,
    `Set ${name} to a quantity such as 100M, 100Mi or 1G, or unset it.`,
  );
}

/** Runs a command with kube-log-runner, which writes and rotates the log. */
export function logRunnerCommand(
  command: string,
  logFile: string,
  { fileSize, fileAge, flushInterval }: LogRotation,
  runner: string = file.logRunner,
): string {
  const parts = [runner, `-log-file=${logFile}`];
  if (fileSize !== '') parts.push(`-log-file-size=${fileSize}`);
  if (fileAge !== '') parts.push(`-log-file-age=${fileAge}`);
  if (flushInterval !== '') parts.push(`-flush-interval=${flushInterval}`);
  return [...parts, command].join(' ');
}

/** The size in the unit of the agent's own flag: megabytes of 10^6 bytes, rounded up. */
export function daemonLogMegabytes(fileSize: string): number {
  const bytes = bytesOf(fileSize);
  if (bytes !== undefined) return Number(unitsRoundedUp(bytes, 1_000_000n));
  throw invalid(
    `log file size is ${shown(fileSize)}, not a quantity of bytes of zero or more`,
    `Set ${variable.fileSize} to a quantity such as 100M, 100Mi or 1G.`,
  );
}

/** Users of sizes store them as 63-bit numbers; a larger one would overflow there. */
const maxBytes = 2n ** 63n - 1n;

function bytesOf(text: string): ReturnType<typeof parseQuantity> {
  const quantity = parseQuantity(text);
  if (quantity === undefined || quantity.numerator < 0n) return undefined;
  return quantity.numerator <= maxBytes * quantity.denominator ? quantity : undefined;
}

function valueOf(environment: Environment, name: string): string {
  return environment[name]?.trim() ?? '';
}

function invalid(message: string, remedy: string): AppError {
  return new AppError('LOG_SETTING_INVALID', message, { remedy });
}
