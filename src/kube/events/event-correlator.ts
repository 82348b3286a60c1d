import type { Clock } from '#base/clock.ts';
import { setRecent } from '#base/recent-map.ts';
import type { KubeEvent, ObjectReference } from '../resources.ts';

/** What somebody wants to say about an object. */
export interface NewEvent {
  object: ObjectReference;
  type: 'Normal' | 'Warning';
  reason: string;
  message: string;
}

/** A event as it goes out: events with the same identity are one event that is counted up. */
export interface Correlated extends NewEvent {
  identity: string;
}

export interface CorrelatorLimits {
  /** From so many different messages of one reason on, they are combined; those before stay apart. */
  combineFrom: number;
  /** Forgets a reason after so long without it. */
  windowMs: number;
  /** Events about one object at once, and how long until one more may follow. */
  burst: number;
  refillMs: number;
  /** How many objects and reasons are remembered. */
  maxRemembered: number;
}

export const defaultLimits: CorrelatorLimits = {
  combineFrom: 10,
  windowMs: 600_000,
  burst: 25,
  refillMs: 300_000,
  maxRemembered: 4096,
};

interface Group {
  messages: Set<string>;
  lastMs: number;
}

interface Bucket {
  tokens: number;
  countedMs: number;
}

/** Keeps one busy object from flooding the API server: combines what is alike, holds back what is too much. */
export class EventCorrelator {
  readonly #limits: CorrelatorLimits;
  readonly #clock: Clock;
  readonly #groups = new Map<string, Group>();
  readonly #buckets = new Map<string, Bucket>();

  constructor(clock: Clock, limits: Partial<CorrelatorLimits> = {}) {
    this.#clock = clock;
    this.#limits = { ...defaultLimits, ...limits };
  }

  /** The event as it should go out; undefined when there was too much about this object. */
  correlate(event: NewEvent): Correlated | undefined {
    const object = objectText(event.object);
    const group = JSON.stringify([object, event.type, event.reason]);
    const isCombined = this.#isCombined(group, event.message);
    if (!this.#isAllowed(object)) return undefined;
    if (!isCombined) return { ...event, identity: JSON.stringify([group, event.message]) };
    return { ...event, message: `(combined from similar events): ${event.message}`, identity: group };
  }

  #isCombined(name: string, message: string): boolean {
    const nowMs = this.#clock.monotonicMs();
    const { combineFrom, windowMs, maxRemembered } = this.#limits;
    const known = this.#groups.get(name);
    const group =
      known !== undefined && nowMs - known.lastMs <= windowMs ? known : { messages: new Set<string>(), lastMs: 0 };
    group.lastMs = nowMs;
    setRecent(this.#groups, name, group, maxRemembered);
    if (group.messages.has(message)) return false;
    if (group.messages.size + 1 >= combineFrom) return true;
    group.messages.add(message);
    return false;
  }

  #isAllowed(object: string): boolean {
    const nowMs = this.#clock.monotonicMs();
    const { burst, refillMs, maxRemembered } = this.#limits;
    const known = this.#buckets.get(object) ?? { tokens: burst, countedMs: nowMs };
    const tokens = Math.min(burst, known.tokens + (nowMs - known.countedMs) / refillMs);
    const isAllowed = tokens >= 1;
    setRecent(this.#buckets, object, { tokens: isAllowed ? tokens - 1 : tokens, countedMs: nowMs }, maxRemembered);
    return isAllowed;
  }
}

/** The identity of what an event is about; without a uid, its name has to do. */
function objectText({ apiVersion, kind, namespace, name, uid, fieldPath }: KubeEvent['involvedObject']): string {
  return JSON.stringify([apiVersion, kind, namespace, name, uid, fieldPath]);
}
