import { AppError } from '#base/errors.ts';
import type { LogFields } from '#base/log.ts';
import { redacted } from '#base/secret.ts';

/** In ascending order; a message also goes into the files of all lower severities. */
export const severities = ['INFO', 'WARNING', 'ERROR'] as const;
export type Severity = (typeof severities)[number];

export interface Line {
  severity: Severity;
  atMs: number;
  pid: number;
  message: string;
  fields: LogFields;
}

const maxCharacters = 16_384;
const maxCauses = 5;

/** One line in klog format: `I0301 12:00:00.000000    1234 agent] Message key=value`, without the line end. */
export function printLine({ severity, atMs, pid, message, fields }: Line): string {
  const { part = 'agent', ...others } = fields;
  const pairs = Object.entries(others).flatMap(([name, value]) => printField(name, value));
  // oxlint-disable-next-line no-control-regex -- control characters are what is replaced
  const text = [message, ...pairs].join(' ').replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, escaped);
  const whole = `${severity.charAt(0)}${klogTime(atMs)} ${String(pid).padStart(7)} ${String(part)}] ${text}`;
  return whole.length > maxCharacters ? `${whole.slice(0, maxCharacters)}...` : whole;
}

/** The header of a log file. */
export function headerLines(atMs: number, machine: string, build: string): string[] {
  const { date, time } = localParts(atMs);
  return [
    `Log file created at: ${date.replaceAll('-', '/')} ${time}`,
    `Running on machine: ${machine}`,
    `Binary: ${build}`,
    'Log line format: [IWE]mmdd hh:mm:ss.uuuuuu processid part] message key=value',
  ];
}

/** Local time for the name of a file, in sortable form. */
export function fileTime(atMs: number): string {
  const { date, time, ms } = localParts(atMs);
  return `${date.replaceAll('-', '')}-${time.replaceAll(':', '')}.${ms}`;
}

function klogTime(atMs: number): string {
  const { date, time, ms } = localParts(atMs);
  return `${date.slice(5).replace('-', '')} ${time}.${ms}000`;
}

/** In the time zone of the host, as the logs of kubelet and containerd. */
function localParts(atMs: number): { date: string; time: string; ms: string } {
  const at = new Date(atMs);
  const two = (value: number) => String(value).padStart(2, '0');
  return {
    date: `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`,
    time: `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`,
    ms: String(at.getMilliseconds()).padStart(3, '0'),
  };
}

function printField(name: string, value: unknown): string[] {
  if (value instanceof Error) return printError(name, value);
  return value === undefined ? [] : [`${name}=${printValue(value)}`];
}

/** The messages of the error and its causes, with its code and remedy. */
function printError(name: string, error: Error): string[] {
  const texts: string[] = [];
  for (let cause: unknown = error; cause instanceof Error && texts.length < maxCauses; cause = cause.cause) {
    texts.push(cause.message);
  }
  const fields = [`${name}=${quoted(texts.join(' <- '))}`];
  if (error instanceof AppError) fields.push(`code=${error.code}`, `remedy=${quoted(error.remedy)}`);
  return fields;
}

function printValue(value: unknown): string {
  if (typeof value === 'string') return /^[\w.:/\\@%+-]+$/.test(value) ? withoutLogins(value) : quoted(value);
  try {
    return withoutLogins(JSON.stringify(value) ?? String(value));
  } catch {
    // A cycle or a bigint must not prevent the message.
    return Object.prototype.toString.call(value);
  }
}

function quoted(text: string): string {
  return withoutLogins(JSON.stringify(text));
}

/** URLs of proxies and mirrors may contain a password, and errors quote them. */
function withoutLogins(text: string): string {
  return text.replaceAll(/\/\/[^\s"/]*@/g, `//${redacted}@`);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
