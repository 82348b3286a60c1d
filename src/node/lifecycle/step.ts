import { notNeeded } from '#base/waiting/abort.ts';
import type { Clock } from '#base/clock.ts';
import type { ErrorCode } from '#base/error-codes.ts';
import { AppError, isAppError, shown } from '#base/errors.ts';
import { shortDuration } from '#base/short-duration.ts';
import type { Log } from '#base/log.ts';
import type { InstanceProgress } from '#contract/windows-instance/resource.ts';
import { appErrorOf } from '#kube/app-error.ts';
import type { Metrics } from '#kube/controller/metrics.ts';
import { withDeadline } from '#base/waiting/deadline.ts';
import type { Journal } from './journal.ts';

/** A step of a journey. The order of steps is data: it can be printed, tested and resumed in the middle. */
export interface Step<J> {
  name: string;
  /** For people. */
  description: string;
  /** How long it takes on a healthy host; not set when that cannot be known. */
  usualMs?: number;
  limitMs: number;
  /** The error after `limitMs`; defaults to STEP_TIMEOUT. */
  timeout?: StepTimeout<J>;
  /** What to check when the step takes more than twice the usual time, or fails with a timeout. */
  remedy(journey: J): string;
  /** True if the step can be skipped, judged by what is known already; asked before each attempt. */
  isDone?(journey: J): boolean;
  /** Idempotent: it can be interrupted anywhere and run again. */
  run(journey: J, turn: StepTurn): Promise<void>;
}

export interface StepTimeout<J> {
  code: ErrorCode;
  /** What did not happen; the time limit is appended. */
  message(journey: J): string;
}

/** What a step is given while it works. */
export interface StepTurn {
  /** Aborted at the deadline of the step, and when the journey is to end. */
  signal: AbortSignal;
  /** Reports what the step waits for. With the error that it retries, whose remedy comes before that of the step. */
  note: (text: string | undefined, obstacle?: AppError) => void;
  report: (progress: InstanceProgress) => void;
  /** Gives the remedy of the step at once. */
  hint: () => void;
  /** Waits for other hosts: that time does not count as time of the step. */
  queued: <T>(wait: () => Promise<T>) => Promise<T>;
}

export interface StepRun {
  journal: Journal;
  signal: AbortSignal;
  clock: Clock;
  log: Log;
  metrics: Metrics;
}

export const stepMetrics = {
  seconds: { name: 'wmco_step_seconds', help: 'Duration of journey steps, by step and result: done or failed.' },
} as const;

/** Runs the steps in order and skips those that are done. Rejects with the first failure, which is in the journal by then. */
export async function runSteps<J>(steps: readonly Step<J>[], journey: J, run: StepRun): Promise<void> {
  for (const step of steps) {
    run.signal.throwIfAborted();
    if (step.isDone?.(journey) === true) run.journal.pass(step.name);
    else await runStep(step, journey, run);
  }
}

async function runStep<J>(step: Step<J>, journey: J, run: StepRun): Promise<void> {
  const { journal, clock, log, metrics, signal } = run;
  const startMs = clock.monotonicMs();
  const measure = (result: 'done' | 'failed') =>
    metrics.observe(stepMetrics.seconds, { step: step.name, result }, (clock.monotonicMs() - startMs) / 1000);
  log.info('Running step', { step: step.name });
  journal.begin(step.name, step);
  let obstacle: AppError | undefined;
  const remedy = () => obstacle?.remedy ?? step.remedy(journey);
  const hint = new SlowHint(step, remedy, run);
  try {
    const error = () => timeoutError(step, journey, obstacle);
    await withDeadline({ clock, ms: step.limitMs, error, signal }, within =>
      step.run(journey, {
        signal: within,
        note: (text, found) => {
          obstacle = found;
          journal.note(text);
        },
        report: progress => journal.report(progress),
        queued: wait => hint.pause(wait),
        hint: () => hint.give(),
      }),
    );
  } catch (thrown) {
    // An abort is not a failure of the step.
    if (signal.aborted) throw signal.reason;
    // The status may be that of the next leader by now.
    if (isAppError(thrown, 'LEADER_STALE')) throw thrown;
    const error = asAppError(thrown);
    journal.fail(step.name, error);
    measure('failed');
    throw error;
  } finally {
    hint.stop();
  }
  journal.finish(step.name);
  measure('done');
}

const slowFactor = 2;

/** Gives the remedy of a step that takes much longer than usual: the administrator need not wait for the limit. */
class SlowHint {
  readonly #step: Pick<Step<unknown>, 'name' | 'usualMs'>;
  readonly #remedy: () => string;
  readonly #run: StepRun;
  #timer = new AbortController();

  constructor(step: Pick<Step<unknown>, 'name' | 'usualMs'>, remedy: () => string, run: StepRun) {
    this.#step = step;
    this.#remedy = remedy;
    this.#run = run;
    void this.#start();
  }

  stop(): void {
    this.#timer.abort(notNeeded);
  }

  async pause<T>(wait: () => Promise<T>): Promise<T> {
    this.stop();
    const result = await wait();
    this.#run.journal.restart();
    void this.#start();
    return result;
  }

  async #start(): Promise<void> {
    const { usualMs } = this.#step;
    const { clock } = this.#run;
    if (usualMs === undefined) return;
    this.#timer = new AbortController();
    const { signal } = this.#timer;
    await clock.sleep(slowFactor * usualMs, signal).catch(() => undefined);
    if (!signal.aborted) this.give();
  }

  give(): void {
    const { journal, log } = this.#run;
    try {
      journal.slow(this.#remedy());
    } catch (error) {
      log.warn('Remedy of a slow step failed', { step: this.#step.name, error });
    }
  }
}

function timeoutError<J>(step: Step<J>, journey: J, obstacle: AppError | undefined): AppError {
  const { name, limitMs, timeout } = step;
  const message = timeout?.message(journey) ?? `step ${shown(name)} did not finish`;
  const why = obstacle === undefined ? '' : `, because of ${obstacle.code}: ${obstacle.message}`;
  return new AppError(timeout?.code ?? 'STEP_TIMEOUT', `${message} within ${shortDuration(limitMs)}${why}`, {
    remedy: obstacle?.remedy ?? step.remedy(journey),
  });
}

/** Turns whatever was thrown into an error with a code and a remedy. */
export function asAppError(thrown: unknown): AppError {
  return appErrorOf(thrown, {
    refused: 'Apply the RBAC manifests of this version of the operator (deploy/rbac).',
    bug: 'This is an internal error (bug) of the operator. Report it together with its log.',
  });
}
