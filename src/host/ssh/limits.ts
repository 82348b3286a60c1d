/** When a remote operation has to end. */
export interface Limits {
  /** Whatever ends it from outside: the connection, the caller. */
  signals: readonly (AbortSignal | undefined)[];
  timeoutMs: number;
  /** How long it may go without progress; unlimited when absent. */
  stallMs?: number;
  /** What it fails with when its time is over. */
  overdue: (why: 'took' | 'stood still', ms: number) => Error;
}

/** What an operation gets to know about its limits. */
export interface Turn {
  /** Aborted when the operation is to be given up; its caller has been told by then. */
  end: AbortSignal;
  /** To be called whenever there was progress. */
  progress: () => void;
}

/** Runs one remote operation. Its caller never waits longer than the limits say, even if the operation never settles. */
export async function limited<T>(limits: Limits, run: (turn: Turn) => Promise<T>): Promise<T> {
  const { timeoutMs, stallMs, overdue } = limits;
  const signals = limits.signals.filter(signal => signal !== undefined);
  for (const signal of signals) signal.throwIfAborted();
  const turn = new AbortController();
  const timer = setTimeout(() => turn.abort(overdue('took', timeoutMs)), clamped(timeoutMs));
  const stall =
    stallMs === undefined ? undefined : setTimeout(() => turn.abort(overdue('stood still', stallMs)), clamped(stallMs));
  // AbortSignal.any would keep a little memory for each operation as long as the caller's signal lives.
  const pass = (event: Event) => turn.abort((event.target as AbortSignal).reason);
  for (const signal of signals) signal.addEventListener('abort', pass);
  try {
    return await Promise.race([abortion(turn.signal), run({ end: turn.signal, progress: () => stall?.refresh() })]);
  } finally {
    clearTimeout(timer);
    clearTimeout(stall);
    for (const signal of signals) signal.removeEventListener('abort', pass);
  }
}

/** Never resolves; rejects with the reason of the signal. Nobody has to handle it. */
export function abortion(signal: AbortSignal): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  promise.catch(() => undefined);
  if (signal.aborted) reject(signal.reason);
  else signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  return promise;
}

/** Timers overflow beyond this and would fire at once. */
const maxTimerMs = 2 ** 31 - 1;

function clamped(ms: number): number {
  return Math.min(Math.max(ms, 0), maxTimerMs);
}
