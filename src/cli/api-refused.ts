import { AppError } from '#base/errors.ts';
import { ApiError } from '#kube/api-error.ts';

/** The error for a refused request; other errors stay as they are. `permission` is what the command needs. */
export function apiRefused(
  error: unknown,
  {
    namespace = '',
    permission = `to change ConfigMaps and WindowsInstances in namespace ${namespace}`,
  }: {
    namespace?: string;
    permission?: string;
  },
): unknown {
  if (!(error instanceof ApiError)) return error;
  const remedy =
    error.code === 403
      ? `Request permission ${permission}.`
      : error.code === 422
        ? 'Correct what the message names: the API server does not accept this object.'
        : 'Run the command again; if the error persists, check the API server.';
  return new AppError('API_REFUSED', error.message, { remedy, cause: error });
}
