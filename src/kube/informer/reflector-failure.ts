import { ApiError, isExpired } from '../api-error.ts';

const streamFaults = {
  overdue: 'the server neither sent an event nor ended the watch in time',
  short: 'the server ended the watch at once',
  unmarked: 'the server does not mark the end of the initial events',
} as const;

/** A watch that violates the protocol. */
export class StreamError extends Error {
  override readonly name = 'StreamError';
  readonly fault: keyof typeof streamFaults;

  constructor(fault: keyof typeof streamFaults) {
    super(streamFaults[fault]);
    this.fault = fault;
  }
}

export interface Verdict {
  /** The resourceVersion is no longer valid: a new list is needed. */
  relist: boolean;
  /** Retry-After of the server. */
  notBeforeMs: number;
}

/** Upper limit for Retry-After. */
const maxRetryAfterMs = 60_000;

/** What a failed list or watch means for the next attempt. */
export function judge(error: unknown): Verdict {
  if (!(error instanceof ApiError)) return { relist: false, notBeforeMs: 0 };
  const retryAfterSeconds = error.details.retryAfterSeconds ?? 0;
  return {
    relist: isExpired(error) || isTooLarge(error) || isRefusedRequest(error.code),
    notBeforeMs: Math.min(maxRetryAfterMs, Math.max(0, retryAfterSeconds) * 1000),
  };
}

/** Whether the server supports watches with initial events. */
export function judgeStreaming(error: unknown): 'never again' | 'list instead' | 'failure' {
  if (error instanceof StreamError) return error.fault === 'short' ? 'failure' : 'never again';
  if (!(error instanceof ApiError)) return 'failure';
  if ([400, 405, 406, 415, 422].includes(error.code)) return 'never again';
  // A list would fail in the same way.
  return [401, 403, 404, 429, 503].includes(error.code) ? 'failure' : 'list instead';
}

/** The server is behind our resourceVersion: it was restored from a backup, or lags behind other servers. */
function isTooLarge(error: ApiError): boolean {
  const causes = error.details.causes ?? [];
  return (
    causes.some(cause => cause.reason === 'ResourceVersionTooLarge') ||
    /too large resource version/i.test(error.message)
  );
}

/** The same request would fail again, unlike 401, 403 and 429. */
function isRefusedRequest(code: number): boolean {
  return code >= 400 && code < 500 && ![401, 403, 408, 429].includes(code);
}
