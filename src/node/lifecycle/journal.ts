import type { Clock } from '#base/clock.ts';
import type { AppError } from '#base/errors.ts';
import type { InstanceActivity, InstanceProgress, TimelineStep } from '#contract/windows-instance/resource.ts';

/** How long a step usually takes, and when it fails. */
export interface StepTimes {
  usualMs?: number;
  limitMs: number;
}

/** Room for a remedy with an RSA public key; longer messages only fill the object. */
const maxMessageLength = 2000;

/** The timeline of a journey; continues that of an earlier attempt. */
export class Journal {
  readonly #clock: Clock;
  readonly #onChange: () => void;
  readonly #steps: Map<string, TimelineStep>;
  #step: string | undefined;
  #note: string | undefined;
  #times: (StepTimes & { sinceMs: number }) | undefined;
  #remedy: string | undefined;
  #progress: InstanceProgress | undefined;

  constructor(before: readonly TimelineStep[], clock: Clock, onChange: () => void) {
    this.#clock = clock;
    this.#onChange = onChange;
    this.#steps = new Map(before.map(step => [step.name, step]));
  }

  /** The running step, or the failed one. */
  get step(): string | undefined {
    return this.#step;
  }

  /** Not set between steps and after a failure. */
  get activity(): InstanceActivity | undefined {
    if (this.#times === undefined) return undefined;
    const { sinceMs, usualMs, limitMs } = this.#times;
    return {
      since: new Date(sinceMs).toISOString(),
      limitSeconds: seconds(limitMs),
      ...(usualMs !== undefined && { usualSeconds: seconds(usualMs) }),
      ...(this.#note !== undefined && { waitsFor: this.#note }),
      ...(this.#remedy !== undefined && { remedy: this.#remedy }),
    };
  }

  get progress(): InstanceProgress | undefined {
    return this.#progress;
  }

  timeline(): TimelineStep[] {
    return [...this.#steps.values()];
  }

  begin(name: string, times: StepTimes): void {
    const { started: before, firstStarted = before, attempts = 0, lastError } = this.#steps.get(name) ?? {};
    this.#steps.set(name, {
      name,
      started: this.#now(),
      ...(firstStarted !== undefined && { firstStarted }),
      attempts: attempts + 1,
      ...(lastError && { lastError }),
    });
    this.#switchTo(name);
    this.#times = { ...times, sinceMs: this.#clock.now() };
    this.#onChange();
  }

  finish(name: string): void {
    this.#close(name);
    this.#switchTo(undefined);
    // The next step begins at once and is reported then.
    this.#onChange();
  }

  /** The step is skipped. If an earlier attempt was interrupted before it could close the step, it is closed now. */
  pass(name: string): void {
    const known = this.#steps.get(name);
    if (known === undefined || known.finished !== undefined) return;
    this.#close(name);
    this.#onChange();
  }

  fail(name: string, { code, message, remedy }: AppError): void {
    const known = this.#steps.get(name) ?? { name, started: this.#now(), attempts: 1 };
    const lastError = { code, message: shortened(message), remedy: shortened(remedy) };
    this.#steps.set(name, { ...known, lastError });
    this.#switchTo(name);
    this.#onChange();
  }

  note(text: string | undefined): void {
    const next = text === undefined ? undefined : shortened(text);
    if (next === this.#note) return;
    this.#note = next;
    this.#onChange();
  }

  /** The step begins to work only now: it had to wait for other hosts. */
  restart(): void {
    if (this.#times !== undefined) this.#times = { ...this.#times, sinceMs: this.#clock.now() };
    this.#onChange();
  }

  /** The step takes much longer than usual. */
  slow(remedy: string): void {
    if (this.#remedy === shortened(remedy)) return;
    this.#remedy = shortened(remedy);
    this.#onChange();
  }

  report(progress: InstanceProgress): void {
    // Fewer bytes than before are a new upload.
    const isSame = this.#progress !== undefined && progress.bytes >= this.#progress.bytes;
    this.#progress = { ...progress, started: (isSame ? this.#progress?.started : undefined) ?? this.#now() };
    this.#onChange();
  }

  #close(name: string): void {
    const { started = this.#now(), firstStarted, attempts = 1 } = this.#steps.get(name) ?? {};
    const first = firstStarted === undefined ? {} : { firstStarted };
    this.#steps.set(name, { name, started, ...first, finished: this.#now(), attempts });
  }

  #switchTo(step: string | undefined): void {
    this.#step = step;
    this.#note = undefined;
    this.#times = undefined;
    this.#remedy = undefined;
    this.#progress = undefined;
  }

  #now(): string {
    return new Date(this.#clock.now()).toISOString();
  }
}

function shortened(text: string): string {
  return text.length <= maxMessageLength ? text : `${text.slice(0, maxMessageLength - 3)}...`;
}

function seconds(ms: number): number {
  return Math.round(ms / 1000);
}
