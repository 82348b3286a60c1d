import { AppError, attempt } from '#base/errors.ts';

/** Prefixes the message with the file or object that it is about. */
export function prefixError(place: string, error: AppError): AppError {
  return new AppError(error.code, `${place}: ${error.message}`, { remedy: error.remedy, cause: error.cause });
}

/** Runs a function and prefixes the message of its AppError. */
export function withErrorPrefix<T>(place: string, run: () => T): T {
  const result = attempt(run);
  if (result.ok) return result.value;
  throw prefixError(place, result.error);
}
