import type { Clock } from '#base/clock.ts';
import type { EventText } from '#contract/events.ts';
import type { EventRecorder } from '#kube/events/events.ts';
import type { ObjectReference } from '#kube/resources.ts';

export interface EventDeduperOptions {
  recorder: Pick<EventRecorder, 'record'>;
  clock: Clock;
  /** Servers forget events after an hour; what still holds then is said again. */
  repeatMs?: number;
  maxSubjects?: number;
}

/** Says each thing once for as long as it holds, however often it is found. After a restart it is said once more. */
export class EventDeduper {
  readonly #options: Required<EventDeduperOptions>;
  /** When each text was said last, by subject. */
  readonly #said = new Map<string, ReadonlyMap<string, number>>();

  constructor(options: EventDeduperOptions) {
    this.#options = { repeatMs: 3_300_000, maxSubjects: 4096, ...options };
  }

  /**
   * All that holds of a subject now, which has a name that nothing else has. What held before and is not among it is forgotten. Tells
   * whether any of it is news.
   */
  report(subject: string, object: ObjectReference, events: readonly EventText[]): boolean {
    const { recorder, clock, repeatMs } = this.#options;
    const [before, nowMs] = [this.#said.get(subject), clock.monotonicMs()];
    const now = new Map<string, number>();
    let hasNews = false;
    for (const event of events) {
      const text = `${event.reason} ${event.message}`;
      const saidMs = before?.get(text);
      const isNews = saidMs === undefined || nowMs - saidMs >= repeatMs;
      if (isNews) recorder.record(object, event);
      hasNews ||= isNews;
      now.set(text, isNews ? nowMs : saidMs);
    }
    this.#remember(subject, now);
    return hasNews;
  }

  #remember(subject: string, now: ReadonlyMap<string, number>): void {
    this.#said.delete(subject);
    if (now.size > 0) this.#said.set(subject, now);
    for (const oldest of this.#said.keys()) {
      if (this.#said.size <= this.#options.maxSubjects) break;
      this.#said.delete(oldest);
    }
  }
}
