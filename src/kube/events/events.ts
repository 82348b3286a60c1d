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
  /** Name of the program or of one of its parts. */
  component: string;
  /** Name of the machine or pod. */
  instance?: string;
  limits?: Partial<CorrelatorLimits>;
  maxQueued?: number;
  /** After so many attempts an event is dropped. */
  attempts?: number;
  /** How long a stop waits for unsent events. */
  flushMs?: number;
  clock?: Clock;
  log?: Log;
  metrics?: Metrics;
}

export const eventMetrics = {
  sent: { name: 'events_sent_total', help: 'Events written to the API server.' },
  dropped: { name: 'events_dropped_total', help: 'Dropped events by reason: rate, queue, refused or stopped.' },
} as const;

interface Outgoing extends Correlated {
  name: string;
  atMs: number;
}

/** An event on the server, whose count is increased when it recurs. */
interface Sent {
  name: string;
  count: number;
}

const firstRetryMs = 1000;
const longestRetryMs = 10_000;
const callMs = 10_000;
const longestMessage = 1024;

/** Objects from lists lack kind and apiVersion, so the resource provides them. */
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

/** Writes events one by one in the order of recording. `record` never waits and never fails. */
export class EventRecorder implements Runnable {
  readonly name = 'events';
  readonly #options: Required<Omit<RecorderOptions, 'limits'>>;
  readonly #correlator: EventCorrelator;
  readonly #maxRemembered: number;
  readonly #queue: Outgoing[] = [];
  readonly #sent = new Map<string, Sent>();
  #sequence = 0;
  #hasStopped = false;
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
      this.#accept({ ...event, object, message: shorten(event.message) });
    } catch (error) {
      this.#options.log.error('Recording an event failed', { reason: event.reason, error });
    }
  }

  /** Sends events until the signal is aborted, then the remaining ones for up to flushMs. */
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
    this.#hasStopped = true;
    timer.abort();
    for (const left of this.#queue.splice(0)) this.#drop('stopped', left);
  }

  #accept(event: NewEvent): void {
    const { clock, maxQueued } = this.#options;
    const correlated = this.#correlator.correlate(event);
    if (correlated === undefined) return this.#drop('rate', event);
    if (this.#hasStopped) return this.#drop('stopped', event);
    if (this.#queue.length >= maxQueued) return this.#drop('queue', event);
    this.#sequence += 1;
    const atMs = clock.now();
    this.#queue.push({ ...correlated, atMs, name: eventName(event.object.name ?? '', atMs, this.#sequence) });
    this.#wake();
  }

  /** True when the event was written or dropped. */
  async #send(event: Outgoing, stop: AbortSignal, end: AbortSignal): Promise<boolean> {
    const { clock, attempts, log } = this.#options;
    for (let attempt = 1; ; attempt += 1) {
      try {
        await this.#deliver(event, end);
        this.#options.metrics.count(eventMetrics.sent, {});
        return true;
      } catch (error) {
        if (end.aborted) return false;
        if (attempt === attempts || isPermanent(error)) {
          log.warn('Writing an event failed; dropping it', { reason: event.reason, message: event.message, error });
          this.#drop('refused', event);
          return true;
        }
      }
      const waitMs = backoffMs({ firstMs: firstRetryMs, maxMs: longestRetryMs }, attempt);
      // A stop ends a long wait; remaining events are retried quickly.
      if (stop.aborted) await clock.sleep(Math.min(waitMs, 500), end).catch(() => undefined);
      else await clock.sleep(waitMs, stop).catch(() => undefined);
      if (end.aborted) return false;
    }
  }

  async #deliver(event: Outgoing, signal: AbortSignal): Promise<void> {
    const known = this.#sent.get(event.identity);
    if (known === undefined || !(await this.#countUp(event, known, signal))) await this.#create(event, signal);
  }

  /** False when the event has expired on the server, as it does after an hour. */
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
      // Written by an attempt whose response was lost: the name is unique.
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
    this.#options.log.debug('Event dropped', { why, reason, message });
  }
}

/** The server requires the namespace default for events about cluster-scoped objects. */
function namespaceOf({ namespace = '' }: ObjectReference): string {
  return namespace === '' ? 'default' : namespace;
}

/** The name of the object and a unique number, as in client-go. */
function eventName(object: string, atMs: number, sequence: number): string {
  const suffix = (BigInt(Math.floor(atMs)) * 1_000_000n + BigInt(sequence % 1_000_000)).toString(16);
  const stem = trimEndOf(object.slice(0, 252 - suffix.length), '.-');
  return isNodeName(stem) ? `${stem}.${suffix}` : `event.${suffix}`;
}

/** A retry would not help. */
function isPermanent(error: unknown): boolean {
  return error instanceof ApiError && error.code >= 400 && error.code < 500 && error.code !== 429;
}

function shorten(message: string): string {
  return message.length <= longestMessage ? message : `${message.slice(0, longestMessage - 3)}...`;
}
