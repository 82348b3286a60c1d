import { AppError } from '#base/errors.ts';
import { ApiError } from '#kube/api-error.ts';

/** The error for a refused write; other errors stay as they are. */
export function apiRefused(error: unknown, { namespace }: { namespace: string }): unknown {
  if (!(error instanceof ApiError)) return error;
  const remedy =
    error.code === 403
      ? `Request permission to change ConfigMaps and WindowsInstances in namespace ${namespace}.`
      : 'Run the command again; if the error persists, check the API server.';
  return new AppError('API_REFUSED', error.message, { remedy, cause: error });
}
