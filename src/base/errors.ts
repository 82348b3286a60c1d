import type { ErrorCode } from './error-codes.ts';
import { printableJson } from './printable.ts';
import { redacted } from './secret.ts';

export interface ErrorDetails {
  /** One sentence that says what to do. */
  remedy: string;
  cause?: unknown;
}

/** An error that a user can fix: stable code, message with object and value, remedy. Bugs are not AppErrors. */
export class AppError extends Error {
  override readonly name = 'AppError';
  readonly code: ErrorCode;
  readonly remedy: string;

  constructor(code: ErrorCode, message: string, details: ErrorDetails) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.remedy = details.remedy;
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Returns an AppError as a value; any other error is a bug and is rethrown. */
export function attempt<T>(run: () => T): { ok: true; value: T } | { ok: false; error: AppError } {
  try {
    return { ok: true, value: run() };
  } catch (error) {
    if (error instanceof AppError) return { ok: false, error };
    throw error;
  }
}

export function isAppError(error: unknown, code?: ErrorCode): error is AppError {
  return error instanceof AppError && (code === undefined || error.code === code);
}

/** Far more than is shown, so that a login is not cut in two before it is hidden. */
const maxSearched = 4096;

/** Formats a value for a message: as JSON, on one line, shortened, without the login of a URL. */
export function shown(value: unknown): string {
  if (value === undefined) return 'missing';
  const searched = safeJson(value)
    .slice(0, maxSearched)
    // Up to the last @ of a quoted text: URLs of proxies and mirrors may contain a password.
    .replaceAll(/\/\/(?:\\.|[^"\\])*@/g, `//${redacted}@`);
  // JSON does not escape all characters that break a line or control a terminal.
  const text = printableJson(searched);
  return text.length > 120 ? `${text.slice(0, 117)}...` : text;
}

function safeJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return Object.prototype.toString.call(value);
  }
}

/** Prefix of an error in the output of every command; the code of a usage error adds no information. */
export function errorLabel({ code }: AppError): string {
  return code === 'USAGE' ? 'error' : `error: ${code}`;
}
