import type { Clock } from '#base/clock.ts';
import { setRecent } from '#base/recent-map.ts';
import type { EventText } from '#contract/events.ts';
import type { EventRecorder } from '#kube/events/events.ts';
import type { ObjectReference } from '#kube/resources.ts';

export interface EventDeduperOptions {
  recorder: Pick<EventRecorder, 'record'>;
  clock: Clock;
  /** API servers delete events after an hour; a state that lasts longer is reported again. */
  repeatMs?: number;
  maxSubjects?: number;
}

/** Records each event once for as long as its cause lasts. After a restart it is recorded once more. */
export class EventDeduper {
  readonly #options: Required<EventDeduperOptions>;
  /** When each event was recorded last, by subject. */
  readonly #recorded = new Map<string, ReadonlyMap<string, number>>();

  constructor(options: EventDeduperOptions) {
    this.#options = { repeatMs: 3_300_000, maxSubjects: 4096, ...options };
  }

  /**
   * Takes all events whose cause exists now; those missing from the list are forgotten. Each is recorded on all objects. `subject` is
   * a unique name. Returns true if at least one event was recorded.
   */
  report(subject: string, objects: readonly ObjectReference[], events: readonly EventText[]): boolean {
    const { recorder, clock, repeatMs, maxSubjects } = this.#options;
    const [before, nowMs] = [this.#recorded.get(subject), clock.monotonicMs()];
    const now = new Map<string, number>();
    let hasRecorded = false;
    for (const event of events) {
      const text = `${event.reason} ${event.message}`;
      const recordedMs = before?.get(text);
      const isDue = recordedMs === undefined || nowMs - recordedMs >= repeatMs;
      if (isDue) for (const object of objects) recorder.record(object, event);
      hasRecorded ||= isDue;
      now.set(text, isDue ? nowMs : recordedMs);
    }
    if (now.size === 0) this.#recorded.delete(subject);
    else setRecent(this.#recorded, subject, now, maxSubjects);
    return hasRecorded;
  }
}
