import { AppError, errorLabel } from '#base/errors.ts';
import { appErrorOf } from '#kube/app-error.ts';

/** Any thrown value as an error with a remedy. */
export function asAppError(thrown: unknown, isInterrupted: boolean): AppError {
  if (isInterrupted) {
    return new AppError('INTERRUPTED', 'interrupted', {
      remedy: 'Run the command again; completed steps are not repeated.',
      cause: thrown,
    });
  }
  return appErrorOf(thrown, {
    refused: 'Check the RBAC rights of the agent: the operator grants them when it configures the host.',
    bug: 'Report it together with the log: this is a bug of the agent.',
  });
}

/** With the stack for an internal error (bug). */
export function failureText(error: AppError): string {
  const { stack = '' } = error.cause instanceof Error ? error.cause : error;
  const where = error.code === 'INTERNAL_ERROR' ? `\n${stack}` : '';
  return `${errorLabel(error)}: ${error.message}\n  -> ${error.remedy}${where}`;
}

export function failureData({ code, message, remedy }: AppError): { error: Record<string, string> } {
  return { error: { code, message, remedy } };
}
