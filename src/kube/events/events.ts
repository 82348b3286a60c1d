import { backoffMs } from '#base/waiting/backoff.ts';
import { type Clock, systemClock, timestamp } from '#base/clock.ts';
import { isNodeName } from '#base/dns-name.ts';
import { type Log, silentLog } from '#base/log.ts';
import { setRecent } from '#base/recent-map.ts';
import { trimEndOf } from '#base/trim-end.ts';
import { ApiError, isAlreadyExists, isNotFound } from '../api-error.ts';
import type { Client } from '../client.ts';
import {
  type Correlated,
  type CorrelatorLimits,
  EventCorrelator,
  type NewEvent,
  defaultLimits,
} from './event-correlator.ts';
import type { Runnable } from '../controller/manager.ts';
import { type Metrics, noMetrics } from '../controller/metrics.ts';
import { apiVersionOf, type KubeResource, type Resource } from '../resource.ts';
import { events, type KubeEvent, type ObjectReference } from '../resources.ts';

export interface RecorderOptions {
  client: Pick<Client, 'create' | 'patch'>;
  /** Who reports: the name of the program or of one of its parts. */
  component: string;
  /** On which machine, or in which pod. */
  instance?: string;
  limits?: Partial<CorrelatorLimits>;
  maxQueued?: number;
  /** How often an event is sent that the server does not take, before it is let go. */
  attempts?: number;
  /** How long the stop may wait for events that are not sent yet. */
  flushMs?: number;
  clock?: Clock;
  log?: Log;
  metrics?: Metrics;
}

export const eventMetrics = {
  sent: { name: 'events_sent_total', help: 'Events the API server has taken.' },
  dropped: { name: 'events_dropped_total', help: 'Events let go, by reason: rate, queue, refused or stopped.' },
} as const;

interface Outgoing extends Correlated {
  name: string;
  atMs: number;
}

/** An event the server has: it is counted up when the same is said again. */
interface Sent {
  name: string;
  count: number;
}

const firstRetryMs = 1000;
const longestRetryMs = 10_000;
const callMs = 10_000;
const longestMessage = 1024;

/** Names what an event is about. Objects out of lists do not say their kind, so the resource has to. */
export function referenceTo(resource: Resource, { metadata }: KubeResource): ObjectReference {
  const { name = '', namespace, uid, resourceVersion } = metadata;
  return {
    apiVersion: apiVersionOf(resource),
    kind: resource.kind,
    name,
    ...(namespace !== undefined && { namespace }),
    ...(uid !== undefined && { uid }),
    ...(resourceVersion !== undefined && { resourceVersion }),
  };
}

/** Writes events, one after the other in the order in which they were recorded. Whoever records never waits and never fails. */
export class EventRecorder implements Runnable {
  readonly name = 'events';
  readonly #options: Required<Omit<RecorderOptions, 'limits'>>;
  readonly #correlator: EventCorrelator;
  readonly #maxRemembered: number;
  readonly #queue: Outgoing[] = [];
  readonly #sent = new Map<string, Sent>();
  #sequence = 0;
  #isOver = false;
  #wake: () => void = () => undefined;

  constructor(options: RecorderOptions) {
    this.#options = {
      instance: '',
      maxQueued: 1000,
      attempts: 12,
      flushMs: 5000,
      clock: systemClock,
      log: silentLog,
      metrics: noMetrics,
      ...options,
    };
    this.#correlator = new EventCorrelator(this.#options.clock, options.limits);
    this.#maxRemembered = options.limits?.maxRemembered ?? defaultLimits.maxRemembered;
  }

  record(object: ObjectReference, event: Omit<NewEvent, 'object'>): void {
    try {
      this.#accept({ ...event, object, message: shortened(event.message) });
    } catch (error) {
      this.#options.log.error('Event could not be recorded', { reason: event.reason, error });
    }
  }

  /** Sends what is recorded, also what was recorded before, until the signal is aborted; then what is left, for a while. */
  async run(signal: AbortSignal, ready: () => void): Promise<void> {
    const { clock, flushMs } = this.#options;
    const [end, timer] = [new AbortController(), new AbortController()];
    const onAbort = (): void => {
      this.#wake();
      clock.sleep(flushMs, timer.signal).then(
        () => end.abort(),
        () => undefined,
      );
    };
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    ready();
    while (!end.signal.aborted && (!signal.aborted || this.#queue.length > 0)) {
      const first = this.#queue[0];
      if (first === undefined) await new Promise<void>(resolve => (this.#wake = resolve));
      else if (await this.#send(first, signal, end.signal)) this.#queue.shift();
    }
    this.#isOver = true;
    timer.abort();
    for (const left of this.#queue.splice(0)) this.#drop('stopped', left);
  }

  #accept(event: NewEvent): void {
    const { clock, maxQueued } = this.#options;
    const correlated = this.#correlator.correlate(event);
    if (correlated === undefined) return this.#drop('rate', event);
    if (this.#isOver) return this.#drop('stopped', event);
    if (this.#queue.length >= maxQueued) return this.#drop('queue', event);
    this.#sequence += 1;
    const atMs = clock.now();
    this.#queue.push({ ...correlated, atMs, name: eventName(event.object.name ?? '', atMs, this.#sequence) });
    this.#wake();
  }

  /** True when the event is dealt with: taken by the server, or let go. */
  async #send(event: Outgoing, stop: AbortSignal, end: AbortSignal): Promise<boolean> {
    const { clock, attempts, log } = this.#options;
    for (let attempt = 1; ; attempt += 1) {
      try {
        await this.#deliver(event, end);
        this.#options.metrics.count(eventMetrics.sent, {});
        return true;
      } catch (error) {
        if (end.aborted) return false;
        if (attempt === attempts || isForGood(error)) {
          log.warn('Event could not be written', { reason: event.reason, message: event.message, error });
          this.#drop('refused', event);
          return true;
        }
      }
      const waitMs = backoffMs({ firstMs: firstRetryMs, maxMs: longestRetryMs }, attempt);
      // The order to stop ends a long wait; what is left is tried in short ones.
      if (stop.aborted) await clock.sleep(Math.min(waitMs, 500), end).catch(() => undefined);
      else await clock.sleep(waitMs, stop).catch(() => undefined);
      if (end.aborted) return false;
    }
  }

  async #deliver(event: Outgoing, signal: AbortSignal): Promise<void> {
    const known = this.#sent.get(event.identity);
    if (known === undefined || !(await this.#countUp(event, known, signal))) await this.#create(event, signal);
  }

  /** False when the server has forgotten the event, as it does after an hour. */
  async #countUp(event: Outgoing, known: Sent, signal: AbortSignal): Promise<boolean> {
    const { client } = this.#options;
    const count = known.count + 1;
    const body = { count, lastTimestamp: timestamp(event.atMs), message: event.message };
    const namespace = namespaceOf(event.object);
    try {
      await client.patch(events, known.name, { type: 'merge', body }, { namespace, signal, timeoutMs: callMs });
    } catch (error) {
      if (!isNotFound(error)) throw error;
      this.#sent.delete(event.identity);
      return false;
    }
    setRecent(this.#sent, event.identity, { ...known, count }, this.#maxRemembered);
    return true;
  }

  async #create(event: Outgoing, signal: AbortSignal): Promise<void> {
    const { client } = this.#options;
    try {
      await client.create(events, this.#objectOf(event), { signal, timeoutMs: callMs });
    } catch (error) {
      // Written by an attempt whose answer was lost: the name is ours alone.
      if (!isAlreadyExists(error)) throw error;
    }
    setRecent(this.#sent, event.identity, { name: event.name, count: 1 }, this.#maxRemembered);
  }

  #objectOf({ name, object, type, reason, message, atMs }: Outgoing): KubeEvent {
    const { component, instance } = this.#options;
    const time = timestamp(atMs);
    return {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name, namespace: namespaceOf(object) },
      involvedObject: object,
      type,
      reason,
      message,
      count: 1,
      firstTimestamp: time,
      lastTimestamp: time,
      source: { component, ...(instance !== '' && { host: instance }) },
      reportingComponent: component,
      reportingInstance: instance,
    };
  }

  #drop(why: string, { reason, message }: Pick<NewEvent, 'reason' | 'message'>): void {
    this.#options.metrics.count(eventMetrics.dropped, { reason: why });
    this.#options.log.debug('Event is let go', { why, reason, message });
  }
}

/** Events about objects without a namespace live in default; the server insists on it. */
function namespaceOf({ namespace = '' }: ObjectReference): string {
  return namespace === '' ? 'default' : namespace;
}

/** The name of the object and a number that is different each time, in the form that client-go gives it. */
function eventName(object: string, atMs: number, sequence: number): string {
  const suffix = (BigInt(Math.floor(atMs)) * 1_000_000n + BigInt(sequence % 1_000_000)).toString(16);
  const stem = trimEndOf(object.slice(0, 252 - suffix.length), '.-');
  return isNodeName(stem) ? `${stem}.${suffix}` : `event.${suffix}`;
}

/** Refused for what it says; to say it again would not help. */
function isForGood(error: unknown): boolean {
  return error instanceof ApiError && error.code >= 400 && error.code < 500 && error.code !== 429;
}

function shortened(message: string): string {
  return message.length <= longestMessage ? message : `${message.slice(0, longestMessage - 3)}...`;
}
