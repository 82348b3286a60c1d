import { AppError } from '#base/errors.ts';

/** Method and path without the query, for messages. */
export function requestName(method: string, path: string): string {
  const query = path.indexOf('?');
  return `${method} ${query === -1 ? path : path.slice(0, query)}`;
}

export function unreachable(server: string, cause: unknown): AppError {
  if (cause instanceof AppError) return cause;
  const why = reasonOf(cause);
  if (isTrustProblem(cause)) {
    return new AppError('API_UNTRUSTED', `${server}: ${why}`, {
      remedy: 'Set certificate-authority to the CA of the server, and tls-server-name to a name in its certificate.',
      cause,
    });
  }
  return new AppError('API_UNREACHABLE', `${server}: ${why}`, {
    remedy: 'Check the address, the network, the proxy, and that the API server runs.',
    cause,
  });
}

export function broken(request: string, cause: unknown): AppError {
  if (cause instanceof AppError) return cause;
  return new AppError('API_CONNECTION_BROKEN', `${request}: ${reasonOf(cause)}`, {
    remedy: 'Retry; a change may have been applied although the response was lost.',
    cause,
  });
}

export function invalidAnswer(request: string, why: string): AppError {
  return new AppError('API_ANSWER_INVALID', `${request}: ${why}`, {
    remedy: 'Check that the address is that of a Kubernetes API server, and any proxy in between.',
  });
}

export function tooLate(what: string, timeoutMs: number): AppError {
  return new AppError('API_DEADLINE', `${what}: no response within ${timeoutMs / 1000} s`, {
    remedy: 'Retry; if it persists, check the load of the API server and the network.',
  });
}

export function clientClosed(what: string): AppError {
  return new AppError('API_CLIENT_CLOSED', `${what}: the client is closed`, {
    remedy: 'No action is needed if the program is stopping; otherwise report an internal error (bug).',
  });
}

/** Messages of the runtime, which have no credentials; the innermost cause explains most. */
function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return 'the connection was closed';
  if (cause instanceof AggregateError && cause.message === '') return cause.errors.map(reasonOf).join('; ');
  return cause.cause instanceof Error ? reasonOf(cause.cause) : cause.message;
}

function isTrustProblem(cause: unknown): boolean {
  const { code = '' } = cause instanceof Error ? (cause as NodeJS.ErrnoException) : {};
  return /CERT|SELF_SIGNED|ISSUER|UNABLE_TO_VERIFY|ALTNAME/.test(code) && !code.includes('ALERT');
}
