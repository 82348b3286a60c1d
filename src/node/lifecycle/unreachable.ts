import type { ErrorCode } from '#base/error-codes.ts';
import { type AppError, isAppError } from '#base/errors.ts';

/** Errors of a host that does not answer at this moment. */
export const unreachableCodes: readonly ErrorCode[] = [
  'HOST_UNREACHABLE',
  'HOST_NOT_SSH',
  'HOST_HANDSHAKE_FAILED',
  'HOST_REFUSED_KEY',
  'HOST_CONNECTION_LOST',
  'HOST_COMMAND_REFUSED',
  'HOST_COMMAND_NO_EXIT_CODE',
];

export function isUnreachable(error: unknown): error is AppError {
  return isAppError(error) && unreachableCodes.includes(error.code);
}
