import type { Clock } from '#base/clock.ts';
import type { AppError } from '#base/errors.ts';
import type { InstanceProgress, TimelineStep } from '#contract/windows-instance/resource.ts';

/** What kind of news there is: a step began or failed, or something was told about the one under way. */
export type JournalNews = 'step' | 'detail';

/** Longer words help nobody and fill the object. */
const maxMessageLength = 800;

/** The steps of one journey, goes on where an earlier attempt has ended. */
export class Journal {
  readonly #clock: Clock;
  readonly #onNews: (news: JournalNews) => void;
  readonly #steps: Map<string, TimelineStep>;
  #step: string | undefined;
  #note: string | undefined;
  #progress: InstanceProgress | undefined;

  constructor(before: readonly TimelineStep[], clock: Clock, onNews: (news: JournalNews) => void) {
    this.#clock = clock;
    this.#onNews = onNews;
    this.#steps = new Map(before.map(step => [step.name, step]));
  }

  /** The step under way, or the one that failed. */
  get step(): string | undefined {
    return this.#step;
  }

  /** What is waited for, in words. */
  get waitsFor(): string | undefined {
    return this.#note;
  }

  get progress(): InstanceProgress | undefined {
    return this.#progress;
  }

  timeline(): TimelineStep[] {
    return [...this.#steps.values()];
  }

  begin(name: string): void {
    const { started = this.#now(), attempts = 0, lastError } = this.#steps.get(name) ?? {};
    this.#steps.set(name, { name, started, attempts: attempts + 1, ...(lastError && { lastError }) });
    this.#turnTo(name);
    this.#onNews('step');
  }

  finish(name: string): void {
    this.#close(name);
    this.#turnTo(undefined);
    // The next step begins at once, and that is news enough.
    this.#onNews('detail');
  }

  /** There is nothing to do. A step that was cut short before it could be closed is closed now. */
  pass(name: string): void {
    const known = this.#steps.get(name);
    if (known === undefined || known.finished !== undefined) return;
    this.#close(name);
    this.#onNews('detail');
  }

  fail(name: string, { code, message, remedy }: AppError): void {
    const known = this.#steps.get(name) ?? { name, started: this.#now(), attempts: 1 };
    const lastError = { code, message: shortened(message), remedy: shortened(remedy) };
    this.#steps.set(name, { ...known, lastError });
    this.#turnTo(name);
    this.#onNews('step');
  }

  note(text: string | undefined): void {
    const next = text === undefined ? undefined : shortened(text);
    if (next === this.#note) return;
    this.#note = next;
    this.#onNews('detail');
  }

  report(progress: InstanceProgress): void {
    this.#progress = progress;
    this.#onNews('detail');
  }

  #close(name: string): void {
    const { started = this.#now(), attempts = 1 } = this.#steps.get(name) ?? {};
    this.#steps.set(name, { name, started, finished: this.#now(), attempts });
  }

  #turnTo(step: string | undefined): void {
    this.#step = step;
    this.#note = undefined;
    this.#progress = undefined;
  }

  #now(): string {
    return new Date(this.#clock.now()).toISOString();
  }
}

function shortened(text: string): string {
  return text.length <= maxMessageLength ? text : `${text.slice(0, maxMessageLength - 3)}...`;
}
