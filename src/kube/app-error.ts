import { AppError, shown } from '#base/errors.ts';
import { ApiError } from './api-error.ts';

/** Remedies for errors without one. */
export interface Remedies {
  refused: string;
  /** An internal error (bug). */
  bug: string;
}

/** Turns anything thrown into an AppError. */
export function appErrorOf(thrown: unknown, { refused, bug }: Remedies): AppError {
  if (thrown instanceof AppError) return thrown;
  if (thrown instanceof ApiError) {
    return new AppError('API_REFUSED', thrown.message, { remedy: refused, cause: thrown });
  }
  const message = thrown instanceof Error ? thrown.message : `thrown: ${shown(thrown)}`;
  return new AppError('INTERNAL_ERROR', message, { remedy: bug, cause: thrown });
}
