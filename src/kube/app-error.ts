import { AppError, shown } from '#base/errors.ts';
import { ApiError } from './api-error.ts';

/** Remedies for errors without one. */
export interface Remedies {
  refused: string;
  /** An internal error (bug). */
  bug: string;
}

/** The server, or its limits for this client, could not take the request. */
function isBusy({ code }: ApiError): boolean {
  return code === 429 || code === 503;
}

/** Turns anything thrown into an AppError. */
export function appErrorOf(thrown: unknown, { refused, bug }: Remedies): AppError {
  if (thrown instanceof AppError) return thrown;
  if (thrown instanceof ApiError && isBusy(thrown)) {
    const remedy = 'No action is needed: the operator retries. If it happens often, check the load of the API server.';
    return new AppError('API_BUSY', thrown.message, { remedy, cause: thrown });
  }
  if (thrown instanceof ApiError) {
    return new AppError('API_REFUSED', thrown.message, { remedy: refused, cause: thrown });
  }
  const message = thrown instanceof Error ? thrown.message : `thrown: ${shown(thrown)}`;
  return new AppError('INTERNAL_ERROR', message, { remedy: bug, cause: thrown });
}
