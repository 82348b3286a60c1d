import { AppError, shown } from '#base/errors.ts';
import { ApiError } from './api-error.ts';

/** What to do about errors that bring no remedy of their own. */
export interface Remedies {
  /** The API server has refused something. */
  refused: string;
  /** The program has met a mistake of its own. */
  mistaken: string;
}

/** Whatever was thrown, as an error that says what to do about it. */
export function appErrorOf(thrown: unknown, { refused, mistaken }: Remedies): AppError {
  if (thrown instanceof AppError) return thrown;
  if (thrown instanceof ApiError) {
    return new AppError('API_REFUSED', thrown.message, { remedy: refused, cause: thrown });
  }
  const message = thrown instanceof Error ? thrown.message : `thrown: ${shown(thrown)}`;
  return new AppError('INTERNAL_ERROR', message, { remedy: mistaken, cause: thrown });
}
