import type { ErrorCode } from '#base/error-codes.ts';
import type { AppError } from '#base/errors.ts';

/** Problems that often go away by themselves soon after the start: another part of the cluster provides what is missing. */
const slowCodes: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'OBJECT_MISSING',
  'RENDERED_WORKER_MISSING',
  'KUBELET_CA_MISSING',
  'API_SERVER_URL_MISSING',
  'CLUSTER_UNDESCRIBED',
  'FIELD_INVALID',
]);

export const graceMs = 30_000;

export interface DueProblems {
  due: AppError[];
  /** When each problem was seen first, by its message; for the next call. */
  since: ReadonlyMap<string, number>;
  /** Whether a problem is not due yet. */
  isWaiting: boolean;
}

/** Problems that are reported now. Those that may go away by themselves are reported after 30 s. */
export function dueProblems(
  problems: readonly AppError[],
  before: ReadonlyMap<string, number>,
  nowMs: number,
): DueProblems {
  const since = new Map(problems.map(({ message }) => [message, before.get(message) ?? nowMs]));
  const isDue = ({ code, message }: AppError) =>
    !slowCodes.has(code) || nowMs - (since.get(message) ?? nowMs) >= graceMs;
  const due = problems.filter(isDue);
  return { due, since, isWaiting: due.length < problems.length };
}
