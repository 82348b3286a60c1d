import type { Clock } from '#base/clock.ts';
import type { ErrorCode } from '#base/error-codes.ts';
import { AppError, shown } from '#base/errors.ts';
import type { Log } from '#base/log.ts';
import type { InstanceProgress } from '#contract/windows-instance/resource.ts';
import { appErrorOf } from '#kube/app-error.ts';
import type { Metrics } from '#kube/controller/metrics.ts';
import { withDeadline } from '#kube/deadline.ts';
import type { Journal } from './journal.ts';

/** One thing to be done on a journey. The order of steps is data: it can be printed, tested and taken up in the middle. */
export interface Step<J> {
  name: string;
  /** For people. */
  does: string;
  limitMs: number;
  /** What it means when the time is over; a plain time-out when absent. */
  overdue?: Overdue<J>;
  /** Whether there is nothing to do, by what is known already; asked before each attempt. */
  met?(journey: J): boolean;
  /** Can be cut short anywhere and done again. */
  make(journey: J, turn: StepTurn): Promise<void>;
}

export interface Overdue<J> {
  code: ErrorCode;
  /** What has not happened; the time is added. */
  says(journey: J): string;
  remedy: string;
}

/** What a step is given while it works. */
export interface StepTurn {
  /** Aborted at the deadline of the step, and when the journey is to end. */
  signal: AbortSignal;
  /** Tells what is waited for. */
  note: (text: string | undefined) => void;
  report: (progress: InstanceProgress) => void;
}

export interface StepRun {
  journal: Journal;
  signal: AbortSignal;
  clock: Clock;
  log: Log;
  metrics: Metrics;
}

export const stepMetrics = {
  seconds: { name: 'wmco_step_seconds', help: 'Length of the steps of journeys, by step and result: done or failed.' },
} as const;

/** Takes the steps in turn, leaving out those that are met. Rejects with the first failure, which the journal has then. */
export async function runSteps<J>(steps: readonly Step<J>[], journey: J, run: StepRun): Promise<void> {
  for (const step of steps) {
    run.signal.throwIfAborted();
    if (step.met?.(journey) === true) run.journal.pass(step.name);
    else await runStep(step, journey, run);
  }
}

async function runStep<J>(step: Step<J>, journey: J, run: StepRun): Promise<void> {
  const { journal, clock, log, metrics, signal } = run;
  const startMs = clock.monotonicMs();
  const measure = (result: 'done' | 'failed') =>
    metrics.observe(stepMetrics.seconds, { step: step.name, result }, (clock.monotonicMs() - startMs) / 1000);
  log.info('Taking step', { step: step.name });
  journal.begin(step.name);
  try {
    const error = () => overdue(step, journey);
    await withDeadline({ clock, ms: step.limitMs, error, signal }, within =>
      step.make(journey, {
        signal: within,
        note: text => journal.note(text),
        report: progress => journal.report(progress),
      }),
    );
  } catch (thrown) {
    // Whoever ends the journey knows why; that is no failure of the step.
    if (signal.aborted) throw signal.reason;
    const error = asAppError(thrown);
    journal.fail(step.name, error);
    measure('failed');
    throw error;
  }
  journal.finish(step.name);
  measure('done');
}

function overdue<J>({ name, limitMs, overdue: meaning }: Step<J>, journey: J): AppError {
  const says = meaning?.says(journey) ?? `step ${shown(name)} did not come to its end`;
  return new AppError(meaning?.code ?? 'STEP_TIMEOUT', `${says} within ${limitText(limitMs)}`, {
    remedy: meaning?.remedy ?? 'It is tried again; look in the log of the operator for what it waited for.',
  });
}

function limitText(ms: number): string {
  return ms < 120_000 ? `${Math.round(ms / 1000)} s` : `${Math.round(ms / 60_000)} min`;
}

/** Whatever was thrown, as an error that says what to do about it. */
export function asAppError(thrown: unknown): AppError {
  return appErrorOf(thrown, {
    refused: 'See that the operator has the rights it asks for; the step is tried again.',
    mistaken: 'Report it together with the log: the operator has met a mistake of its own. The step is tried again.',
  });
}
