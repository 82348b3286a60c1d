export interface StatusCause {
  reason?: string;
  message?: string;
  field?: string;
}

/** The Status object of an API server that explains an error. */
export interface Status {
  kind?: 'Status';
  code?: number;
  reason?: string;
  message?: string;
  details?: {
    name?: string;
    group?: string;
    kind?: string;
    uid?: string;
    causes?: StatusCause[];
    retryAfterSeconds?: number;
  };
}

/** An error of the API server: callers decide by reason and code, the message is for users. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: number;
  readonly reason: string;
  readonly details: NonNullable<Status['details']>;
  /** Method and path, without query and credentials. */
  readonly request: string;

  constructor(status: Status, request: string) {
    super(`${request}: ${status.message ?? status.reason ?? `status ${status.code ?? 0}`}`);
    this.code = status.code ?? 0;
    this.reason = status.reason ?? 'Unknown';
    this.details = status.details ?? {};
    this.request = request;
  }
}

export function isApiError(error: unknown, reason?: string): error is ApiError {
  return error instanceof ApiError && (reason === undefined || error.reason === reason);
}

export const isNotFound = (error: unknown): boolean => error instanceof ApiError && error.code === 404;
export const isConflict = (error: unknown): boolean => isApiError(error, 'Conflict');
export const isAlreadyExists = (error: unknown): boolean => isApiError(error, 'AlreadyExists');
/** The namespace of the object is being deleted or does not exist: nothing can be created in it. */
export const isNamespaceGone = (error: unknown): boolean =>
  error instanceof ApiError &&
  ((error.code === 403 && (error.details.causes ?? []).some(({ reason }) => reason === 'NamespaceTerminating')) ||
    (error.code === 404 && error.details.kind === 'namespaces'));
/** The resourceVersion or continue token is too old for the server. */
export const isExpired = (error: unknown): boolean => error instanceof ApiError && error.code === 410;

/** For `catch`: returns undefined for an expected error, rethrows any other. */
export function unless(...expected: readonly ((error: unknown) => boolean)[]): (error: unknown) => undefined {
  return error => {
    if (!expected.some(isExpected => isExpected(error))) throw error;
  };
}
