import { AppError, errorLabel } from '#base/errors.ts';
import { appErrorOf } from '#kube/app-error.ts';

/** Whatever was thrown, as an error that says what to do about it. */
export function asAppError(thrown: unknown, isInterrupted: boolean): AppError {
  if (isInterrupted) {
    return new AppError('INTERRUPTED', 'stopped before the end, as was asked for', {
      remedy: 'Run the command again; what is done already is not done twice.',
      cause: thrown,
    });
  }
  return appErrorOf(thrown, {
    refused: 'See that the agent may do this in the cluster: the operator grants it when it configures the host.',
    mistaken: 'Report it together with the log: the agent has met a mistake of its own.',
  });
}

/** For people: what, and what to do now. A mistake of ours also shows where it is. */
export function failureText(error: AppError): string {
  const { stack = '' } = error.cause instanceof Error ? error.cause : error;
  const where = error.code === 'INTERNAL_ERROR' ? `\n${stack}` : '';
  return `${errorLabel(error)}: ${error.message}\n  -> ${error.remedy}${where}`;
}

export function failureData({ code, message, remedy }: AppError): { error: Record<string, string> } {
  return { error: { code, message, remedy } };
}
