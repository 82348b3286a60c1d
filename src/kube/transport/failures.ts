import { AppError } from '#base/errors.ts';

/** What a request is called in messages: method and path. The query is left out; selectors may be long and are not needed. */
export function requestName(method: string, path: string): string {
  const query = path.indexOf('?');
  return `${method} ${query === -1 ? path : path.slice(0, query)}`;
}

export function unreachable(server: string, cause: unknown): AppError {
  if (cause instanceof AppError) return cause;
  const why = reasonOf(cause);
  if (isTrustProblem(cause)) {
    return new AppError('API_UNTRUSTED', `${server}: ${why}`, {
      remedy: 'Give the CA that signed the certificate of the server, and the name it is made for.',
      cause,
    });
  }
  return new AppError('API_UNREACHABLE', `${server}: ${why}`, {
    remedy: 'Check that address, network and proxy are right and that the API server runs.',
    cause,
  });
}

export function broken(request: string, cause: unknown): AppError {
  if (cause instanceof AppError) return cause;
  return new AppError('API_CONNECTION_BROKEN', `${request}: ${reasonOf(cause)}`, {
    remedy: 'Try again; a change may have been made although no answer came.',
    cause,
  });
}

export function invalidAnswer(request: string, why: string): AppError {
  return new AppError('API_ANSWER_INVALID', `${request}: ${why}`, {
    remedy: 'Check that the address is that of a Kubernetes API server and what stands between.',
  });
}

export function tooLate(what: string, timeoutMs: number): AppError {
  return new AppError('API_DEADLINE', `${what}: no answer within ${timeoutMs} ms`, {
    remedy: 'Try again; when it stays so, look at the load of the API server and at the network.',
  });
}

export function clientClosed(what: string): AppError {
  return new AppError('API_CLIENT_CLOSED', `${what}: the client is closed`, {
    remedy: 'Nothing to do when the program is ending; a bug otherwise.',
  });
}

/** Words of the runtime, which know hosts and ports but no credentials; the innermost cause says most. */
function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return 'the connection was closed';
  if (cause instanceof AggregateError && cause.message === '') return cause.errors.map(reasonOf).join('; ');
  return cause.cause instanceof Error ? reasonOf(cause.cause) : cause.message;
}

function isTrustProblem(cause: unknown): boolean {
  const { code = '' } = cause instanceof Error ? (cause as NodeJS.ErrnoException) : {};
  return /CERT|SELF_SIGNED|ISSUER|UNABLE_TO_VERIFY|ALTNAME/.test(code) && !code.includes('ALERT');
}
