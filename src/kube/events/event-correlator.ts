import type { Clock } from '#base/clock.ts';
import { setRecent } from '#base/recent-map.ts';
import type { KubeEvent, ObjectReference } from '../resources.ts';

export interface NewEvent {
  object: ObjectReference;
  type: 'Normal' | 'Warning';
  reason: string;
  message: string;
}

/** An event to send: events with the same identity become one event with a count. */
export interface Correlated extends NewEvent {
  identity: string;
}

export interface CorrelatorLimits {
  /** From this number of different messages of one reason on, they are combined. */
  combineFrom: number;
  /** After this time without an event a reason is forgotten. */
  windowMs: number;
  /** Events about one object at once, and how long until one more is allowed. */
  burst: number;
  refillMs: number;
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

/** Combines similar events and limits the rate per object. */
export class EventCorrelator {
  readonly #limits: CorrelatorLimits;
  readonly #clock: Clock;
  readonly #groups = new Map<string, Group>();
  readonly #buckets = new Map<string, Bucket>();

  constructor(clock: Clock, limits: Partial<CorrelatorLimits> = {}) {
    this.#clock = clock;
    this.#limits = { ...defaultLimits, ...limits };
  }

  /** The event to send; undefined when the rate limit of the object is exceeded. */
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

function objectText({ apiVersion, kind, namespace, name, uid, fieldPath }: KubeEvent['involvedObject']): string {
  return JSON.stringify([apiVersion, kind, namespace, name, uid, fieldPath]);
}
