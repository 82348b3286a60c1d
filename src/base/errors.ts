import type { ErrorCode } from './error-codes.ts';
import { printableJson } from './printable.ts';
import { redacted } from './secret.ts';

export interface ErrorDetails {
  /** One sentence that tells a tired person what to do now. */
  remedy: string;
  cause?: unknown;
}

/** An error a user can act upon: a stable code, a message that names object and value, one remedy. Bugs are not AppErrors. */
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

/** The words of whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Runs a function that may throw an AppError and gives the error back as a value; anything else is a bug and goes on. */
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

/** Far more than is shown, so that no login is cut in two before it is found. */
const maxSearched = 4096;

/** A value in a message: quoted, on one line, never so long that it drowns the sentence, without the login of a URL. */
export function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  const searched = safeJson(value)
    .slice(0, maxSearched)
    // Up to the last @ of a text in quotes: proxies and mirrors are often given with a password.
    .replaceAll(/\/\/(?:\\.|[^"\\])*@/g, `//${redacted}@`);
  // JSON leaves some signs as they are although they break a line or steer a terminal.
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

/** How an error begins in the output of every command; the code of a usage error would tell nothing. */
export function errorLabel({ code }: AppError): string {
  return code === 'USAGE' ? 'error' : `error: ${code}`;
}
