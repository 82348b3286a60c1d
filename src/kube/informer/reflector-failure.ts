import { ApiError, isExpired } from '../api-error.ts';

const streamFaults = {
  overdue: 'the server sent neither event nor end for longer than agreed',
  short: 'the server ended the watch as soon as it had begun',
  unmarked: 'the server does not mark the end of the initial events',
} as const;

/** A stream that breaks the rules without being broken. */
export class StreamError extends Error {
  override readonly name = 'StreamError';
  readonly fault: keyof typeof streamFaults;

  constructor(fault: keyof typeof streamFaults) {
    super(streamFaults[fault]);
    this.fault = fault;
  }
}

export interface Verdict {
  /** The position in the stream of changes is worth nothing any more: only a new list helps. */
  relist: boolean;
  /** The server asks not to be called before. */
  notBeforeMs: number;
}

/** A server may name any time; we wait no longer than this. */
const maxRetryAfterMs = 60_000;

/** What a failed list or watch means for the next one. */
export function judge(error: unknown): Verdict {
  if (!(error instanceof ApiError)) return { relist: false, notBeforeMs: 0 };
  const retryAfterSeconds = error.details.retryAfterSeconds ?? 0;
  return {
    relist: isExpired(error) || isTooLarge(error) || isRefusedRequest(error.code),
    notBeforeMs: Math.min(maxRetryAfterMs, Math.max(0, retryAfterSeconds) * 1000),
  };
}

/** What a failed watch with initial events says about the server. */
export function judgeStreaming(error: unknown): 'never again' | 'list instead' | 'failure' {
  if (error instanceof StreamError) return error.fault === 'short' ? 'failure' : 'never again';
  if (!(error instanceof ApiError)) return 'failure';
  if ([400, 405, 406, 415, 422].includes(error.code)) return 'never again';
  // These would meet a list just the same.
  return [401, 403, 404, 429, 503].includes(error.code) ? 'failure' : 'list instead';
}

/** The server has not come as far as we have: it was restored from a backup, or it lags behind its brothers. */
function isTooLarge(error: ApiError): boolean {
  const causes = error.details.causes ?? [];
  return (
    causes.some(cause => cause.reason === 'ResourceVersionTooLarge') ||
    /too large resource version/i.test(error.message)
  );
}

/** The same request would be refused again. Not so 401, 403 and 429, which end without our doing. */
function isRefusedRequest(code: number): boolean {
  return code >= 400 && code < 500 && ![401, 403, 408, 429].includes(code);
}
