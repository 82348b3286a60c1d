import { AppError, shown } from '#base/errors.ts';
import { ApiError } from '#kube/api-error.ts';

/** Whatever was thrown, as an error that says what to do about it. */
export function asAppError(thrown: unknown, isInterrupted: boolean): AppError {
  if (isInterrupted) {
    return new AppError('INTERRUPTED', 'stopped before the end, as was asked for', {
      remedy: 'Run the command again; what is done already is not done twice.',
      cause: thrown,
    });
  }
  if (thrown instanceof AppError) return thrown;
  if (thrown instanceof ApiError) {
    return new AppError('API_REFUSED', thrown.message, {
      remedy: 'See that the agent may do this in the cluster: the operator grants it when it configures the host.',
      cause: thrown,
    });
  }
  return new AppError('INTERNAL_ERROR', thrown instanceof Error ? thrown.message : `thrown: ${shown(thrown)}`, {
    remedy: 'Report it together with the log: the agent has met a mistake of its own.',
    cause: thrown,
  });
}

/** For people: what, and what to do now. A mistake of ours also shows where it is. */
export function failureText(error: AppError): string {
  const { stack = '' } = error.cause instanceof Error ? error.cause : error;
  const where = error.code === 'INTERNAL_ERROR' ? `\n${stack}` : '';
  return `${error.code}: ${error.message}\n  -> ${error.remedy}${where}`;
}

export function failureData({ code, message, remedy }: AppError): { error: Record<string, string> } {
  return { error: { code, message, remedy } };
}
