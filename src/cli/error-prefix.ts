import { AppError, attempt } from '#base/errors.ts';

/** The same error with the file or object in front that it is about. */
export function at(place: string, error: AppError): AppError {
  return new AppError(error.code, `${place}: ${error.message}`, { remedy: error.remedy, cause: error.cause });
}

/** Runs a reader that does not know what it reads from. */
export function reading<T>(place: string, run: () => T): T {
  const result = attempt(run);
  if (result.ok) return result.value;
  throw at(place, result.error);
}
