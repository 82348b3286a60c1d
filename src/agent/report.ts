import type { Clock } from '#base/clock.ts';
import { AppError } from '#base/errors.ts';
import type { Log } from '#base/log.ts';
import { type AgentReport, parseReport, printReport, type ReportEvent, reportName } from '#contract/agent-report.ts';
import type { EventText } from '#contract/events.ts';
import { isNotFound } from '#kube/api-error.ts';
import type { Client } from '#kube/client.ts';
import { type ConfigMap, configMaps } from '#kube/resources.ts';
import type { ReportChange } from './ports.ts';

export interface ReportOptions {
  client: Pick<Client, 'get' | 'patch'>;
  nodeName: string;
  /** Of the operator, which makes the report. */
  namespace: string;
  bootId: () => Promise<string>;
  clock: Clock;
  log: Log;
  signal: AbortSignal;
}

const keptEvents = 10;
/** How often the time of a event that repeats is updated. */
const repeatMs = 5 * 60_000;
/** Between two writes for events alone. */
const pauseMs = 5000;

/**
 * What the agent says about its host: all that it writes to the cluster beside certificate requests. One write at a time, and
 * none when the report says so already.
 */
export class Report {
  readonly #options: ReportOptions;
  readonly #name: string;
  /** As last seen or written; not set when that is not certain. */
  #known: AgentReport | undefined;
  #pending: ReportEvent[] = [];
  #last: Promise<unknown> = Promise.resolve();
  #isFlushing = false;

  constructor(options: ReportOptions) {
    this.#options = options;
    this.#name = reportName(options.nodeName);
  }

  /** The report as the API server has it now; rejects with AGENT_REPORT_MISSING when there is none. */
  read(): Promise<AgentReport> {
    return this.#inTurn(() => this.#read());
  }

  /** Makes the report say this, and writes events along that wait. */
  change(change: ReportChange): Promise<void> {
    return this.#inTurn(() => this.#change(change));
  }

  /** Is written soon, or with the next change; a failure to write it holds up nobody. */
  event({ type, reason, message }: EventText): void {
    const time = new Date(this.#options.clock.now()).toISOString();
    this.#pending = addEvent(this.#pending, { type, reason, message, time });
    if (!this.#isFlushing) void this.#flush();
  }

  async #flush(): Promise<void> {
    const { clock, log, signal } = this.#options;
    this.#isFlushing = true;
    try {
      while (this.#pending.length > 0) {
        await this.change({});
        await clock.sleep(pauseMs, signal);
      }
    } catch (error) {
      if (!signal.aborted) log.warn('EventDeduper could not be reported; retrying with the next report', { error });
    } finally {
      this.#isFlushing = false;
    }
  }

  async #read(): Promise<AgentReport> {
    const { client, namespace, signal } = this.#options;
    const { data } = await this.#found(() => client.get(configMaps, this.#name, { namespace, signal }));
    return (this.#known = parseReport(data));
  }

  async #change(change: ReportChange): Promise<void> {
    const { client, namespace, signal } = this.#options;
    const before = this.#known ?? (await this.#read());
    const written = [...this.#pending];
    const after = { ...before, ...change, bootId: await this.#options.bootId(), events: addAll(before, written) };
    const data = changedData(before, after);
    if (Object.keys(data).length > 0) {
      this.#known = undefined;
      const patch = { type: 'merge', body: { data } } as const;
      await this.#found(() => client.patch(configMaps, this.#name, patch, { namespace, signal }));
    }
    this.#known = after;
    this.#pending = this.#pending.filter(event => !written.includes(event));
  }

  async #found(ask: () => Promise<ConfigMap>): Promise<ConfigMap> {
    try {
      return await ask();
    } catch (error) {
      throw isNotFound(error) ? missing(this.#options.namespace, this.#name) : error;
    }
  }

  #inTurn<T>(act: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(act, act);
    this.#last = turn.catch(() => undefined);
    return turn;
  }
}

/** The members of the data that differ. */
function changedData(before: AgentReport, after: AgentReport): Record<string, string> {
  const old = printReport(before);
  return Object.fromEntries(Object.entries(printReport(after)).filter(([key, value]) => old[key] !== value));
}

function addAll({ events }: AgentReport, more: readonly ReportEvent[]): ReportEvent[] {
  return more.reduce<ReportEvent[]>(addEvent, events);
}

/** A event that repeats moves to the end with its new time, but not more often than every few minutes. */
export function addEvent(events: readonly ReportEvent[], event: ReportEvent): ReportEvent[] {
  const isSame = ({ type, reason, message }: ReportEvent) =>
    type === event.type && reason === event.reason && message === event.message;
  const last = events.find(isSame);
  if (last !== undefined && Date.parse(event.time) - Date.parse(last.time) < repeatMs) return [...events];
  return [...events.filter(each => !isSame(each)), event].slice(-keptEvents);
}

function missing(namespace: string, name: string): AppError {
  return new AppError('AGENT_REPORT_MISSING', `ConfigMap ${namespace}/${name} does not exist`, {
    remedy: 'Wait for the operator: it makes the report of every node that it configures.',
  });
}
