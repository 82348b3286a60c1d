import type { Clock } from '#base/clock.ts';
import { AppError } from '#base/errors.ts';
import type { ReportedStatus } from './service-records.ts';

/** What a program gets that runs as a Windows service. */
export interface ServiceLife {
  /** Aborted when the service has to stop: somebody asked for it, or Windows shuts down. */
  signal: AbortSignal;
  /** To be called once the service does its work; until then, though not for ever, Windows shows it as starting. */
  ready(): void;
}

export type ServiceBody = (life: ServiceLife) => Promise<void>;

/** Windows shows a service as running after that time at the latest; it may wait for an API server that is down. */
export const startLimitMs = 30_000;
export const stopLimitMs = 20_000;
/** With every check-point Windows is patient for as long as the hint says. */
const [checkPointEveryMs, waitHintMs] = [1000, 10_000];

/**
 * Runs the body and reports to Windows how it fares, until it ends by itself or is stopped by the signal. A body that
 * fails without having been stopped is not reported as stopped: Windows shall see a crash. Rejects with that failure, or
 * when the body did not stop in time.
 */
export async function liveAsService(
  body: ServiceBody,
  stop: AbortSignal,
  report: (status: ReportedStatus) => void,
  clock: Clock,
): Promise<void> {
  const reporter = new Reporter(report, clock);
  // Before any listener of the body and without delay, so that Windows knows when its request returns.
  const stopped = once(stop, () => reporter.pending('stop-pending'));
  const ready = Promise.withResolvers<'ready'>();
  const ended = endingOf(body, { signal: stop, ready: () => ready.resolve('ready') });

  const started = await reporter.during('start-pending', Promise.race([ready.promise, ended, stopped]), startLimitMs);
  if (started === undefined || started === 'ready') reporter.settled('running');
  const outcome = await Promise.race([ended, stopped]);
  if (outcome === 'stopped') return finish(await reporter.during('stop-pending', ended, stopLimitMs), stop, reporter);
  if (outcome.failed) throw outcome.error;
  reporter.settled('stopped');
}

type Ending = { failed: false } | { failed: true; error: unknown };

function finish(ending: Ending | undefined, stop: AbortSignal, reporter: Reporter): void {
  reporter.settled('stopped');
  if (ending === undefined) {
    throw new AppError('STOP_TIMEOUT', `the service did not stop within ${stopLimitMs} ms; its process is ended now`, {
      remedy: 'Look into its log for what it was doing; a step that was cut short is repeated at the next start.',
    });
  }
  const isWanted = ending.failed && (ending.error === stop.reason || isAbort(ending.error));
  if (ending.failed && !isWanted) throw ending.error;
}

async function endingOf(body: ServiceBody, life: ServiceLife): Promise<Ending> {
  try {
    await body(life);
    return { failed: false };
  } catch (error) {
    return { failed: true, error };
  }
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

/** A service that starts may be stopped, but only one that runs is told when Windows shuts down. */
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

  /** Reports the state until the promise, which never rejects, has its value; gives undefined when that takes too long. */
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
