import type { Clock } from '#base/clock.ts';
import { AppError } from '#base/errors.ts';
import type { ServiceLife } from '../../ports.ts';
import type { ReportedStatus } from './service-records.ts';

export type ServiceBody = (life: ServiceLife) => Promise<void>;

/** Windows shows a service as running after this time at the latest; it may wait for an API server that is down. */
export const startLimitMs = 30_000;
export const stopLimitMs = 20_000;
/** With every checkpoint Windows waits for as long as the hint says. */
const [checkPointEveryMs, waitHintMs] = [1000, 10_000];

/**
 * Runs the body and reports its status to Windows until it ends by itself or is stopped by the signal. A body that fails
 * without having been stopped is not reported as stopped, so that Windows sees a crash. Rejects with that failure, or when
 * the body did not stop in time.
 */
export async function liveAsService(
  body: ServiceBody,
  stop: AbortSignal,
  report: (status: ReportedStatus) => void,
  clock: Clock,
): Promise<void> {
  const reporter = new Reporter(report, clock);
  // Before any listener of the body, so that the status is set when the request of Windows returns.
  const stopped = once(stop, () => reporter.pending('stop-pending'));
  const ready = Promise.withResolvers<'ready'>();
  const life = { signal: stop, ready: () => ready.resolve('ready') };
  const ended = Promise.allSettled([Promise.try(body, life)]).then(([result]) => result);

  const started = await reporter.during('start-pending', Promise.race([ready.promise, ended, stopped]), startLimitMs);
  if (started === undefined || started === 'ready') reporter.settled('running');
  const outcome = await Promise.race([ended, stopped]);
  if (outcome === 'stopped') return finish(await reporter.during('stop-pending', ended, stopLimitMs), stop, reporter);
  if (outcome.status === 'rejected') throw outcome.reason;
  reporter.settled('stopped');
}

function finish(result: PromiseSettledResult<void> | undefined, stop: AbortSignal, reporter: Reporter): void {
  reporter.settled('stopped');
  if (result === undefined) {
    throw new AppError(
      'STOP_TIMEOUT',
      `the service did not stop within ${stopLimitMs / 1000} s; its process is terminated`,
      {
        remedy: 'Check its log for what it was doing; an interrupted step is repeated at the next start.',
      },
    );
  }
  if (result.status === 'rejected' && result.reason !== stop.reason && !isAbort(result.reason)) throw result.reason;
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}

function once(signal: AbortSignal, act: () => void): Promise<'stopped'> {
  const { promise, resolve } = Promise.withResolvers<'stopped'>();
  const stop = () => {
    act();
    resolve('stopped');
  };
  if (signal.aborted) stop();
  else signal.addEventListener('abort', stop, { once: true });
  return promise;
}

/** A starting service can be stopped, but only a running one is notified of a shutdown. */
const acceptedControls = { 'start-pending': 0x1, 'stop-pending': 0, running: 0x1 | 0x4 | 0x100, stopped: 0 } as const;

class Reporter {
  readonly #report: (status: ReportedStatus) => void;
  readonly #clock: Clock;
  #checkPoint = 0;

  constructor(report: (status: ReportedStatus) => void, clock: Clock) {
    this.#report = report;
    this.#clock = clock;
  }

  pending(state: 'start-pending' | 'stop-pending'): void {
    this.#checkPoint += 1;
    this.#report({ state, acceptedControls: acceptedControls[state], checkPoint: this.#checkPoint, waitHintMs });
  }

  settled(state: 'running' | 'stopped'): void {
    this.#report({ state, acceptedControls: acceptedControls[state], checkPoint: 0, waitHintMs: 0 });
  }

  /** Reports the state until the promise, which never rejects, has its value; undefined after the limit. */
  async during<T>(state: 'start-pending' | 'stop-pending', value: Promise<T>, limitMs: number): Promise<T | undefined> {
    const end = new AbortController();
    void value.then(() => end.abort());
    const limit = this.#clock.monotonicMs() + limitMs;
    while (!end.signal.aborted && this.#clock.monotonicMs() < limit) {
      this.pending(state);
      await this.#clock.sleep(checkPointEveryMs, end.signal).catch(() => undefined);
    }
    return end.signal.aborted ? value : undefined;
  }
}
