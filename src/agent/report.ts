import type { Clock } from '#base/clock.ts';
import { AppError } from '#base/errors.ts';
import type { Log } from '#base/log.ts';
import {
  agentEvent,
  type AgentReport,
  failureIn,
  isReportOf,
  parseReport,
  printReport,
  type ReportEvent,
  reportName,
} from '#contract/agent-report.ts';
import type { EventText } from '#contract/events.ts';
import { isNotFound } from '#kube/api-error.ts';
import type { Client } from '#kube/client.ts';
import { type ConfigMap, configMaps } from '#kube/resources.ts';
import type { ReportChange } from './ports.ts';

export interface ReportOptions {
  client: Pick<Client, 'get' | 'patch'>;
  nodeName: string;
  /** Of the operator, which creates the report. */
  namespace: string;
  bootId: () => Promise<string>;
  /** Undefined while the Node does not exist. */
  nodeUid: () => string | undefined;
  clock: Clock;
  log: Log;
  signal: AbortSignal;
}

const keptEvents = 10;
/** How often the time of a repeated event is updated. */
const repeatMs = 5 * 60_000;
/** Between two writes of events only. */
const pauseMs = 5000;

/** The report of the agent: all it writes to the cluster besides certificate requests. One write at a time, only changes. */
export class Report {
  readonly #options: ReportOptions;
  readonly #name: string;
  /** As last read or written; undefined after a failed write. */
  #known: AgentReport | undefined;
  #pending: ReportEvent[] = [];
  #last: Promise<unknown> = Promise.resolve();
  #isFlushing = false;

  constructor(options: ReportOptions) {
    this.#options = options;
    this.#name = reportName(options.nodeName);
  }

  /** Reads the report; rejects with AGENT_REPORT_MISSING when it does not exist. */
  read(): Promise<AgentReport> {
    return this.#inTurn(() => this.#readAll());
  }

  /** Updates the report, with pending events. */
  change(change: ReportChange): Promise<void> {
    return this.#inTurn(() => this.#change(change));
  }

  /** Writes the whole report, even without a change. */
  confirm(): Promise<void> {
    return this.#inTurn(() => this.#change({}, 'everything'));
  }

  /** Queues an event, which is written soon or with the next change. */
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
      if (!signal.aborted) log.warn('Reporting events failed; retrying with the next report', { error });
    } finally {
      this.#isFlushing = false;
    }
  }

  async #read(): Promise<AgentReport> {
    const { client, namespace, signal } = this.#options;
    const { data } = await this.#orMissing(() => client.get(configMaps, this.#name, { namespace, signal }));
    return (this.#known = parseReport(data));
  }

  /** With events that are not written yet. */
  async #readAll(): Promise<AgentReport> {
    const { events, ...report } = await this.#read();
    return { ...report, events: this.#pending.reduce(addEvent, events) };
  }

  async #change(change: ReportChange, what: 'changes' | 'everything' = 'changes'): Promise<void> {
    const before = this.#known ?? (await this.#read());
    const written = [...this.#pending];
    const bootId = await this.#options.bootId();
    const nodeUid = this.#options.nodeUid() ?? before.nodeUid;
    // Events of an earlier boot or Node would look like the present state.
    const events = isReportOf(before, { bootId, nodeUid }) ? before.events : [];
    const confirmedBoot = change.version === undefined ? before.confirmedBoot : bootId;
    const after = { ...before, ...change, bootId, nodeUid, confirmedBoot, events: written.reduce(addEvent, events) };
    const data = what === 'everything' ? printReport(after) : changedData(before, after);
    if (Object.keys(data).length > 0) {
      this.#known = undefined;
      await this.#patch(data);
    }
    this.#known = after;
    this.#pending = this.#pending.filter(event => !written.includes(event));
  }

  async #patch(data: Record<string, string>): Promise<void> {
    const { client, namespace, signal } = this.#options;
    const patch = { type: 'merge', body: { data } } as const;
    await this.#orMissing(() => client.patch(configMaps, this.#name, patch, { namespace, signal }));
  }

  async #orMissing(request: () => Promise<ConfigMap>): Promise<ConfigMap> {
    try {
      return await request();
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

/** The changed keys of the data. Those that are no longer printed become empty, which reads as missing. */
function changedData(before: AgentReport, after: AgentReport): Record<string, string> {
  const [old, now] = [printReport(before), printReport(after)];
  const emptied = Object.fromEntries(Object.keys(old).map(key => [key, '']));
  return Object.fromEntries(Object.entries({ ...emptied, ...now }).filter(([key, value]) => old[key] !== value));
}

/**
 * A repeated event moves to the end with its new time, but at most every five minutes, unless it is news: a failure after a success,
 * or a success after a failure.
 */
export function addEvent(events: readonly ReportEvent[], event: ReportEvent): ReportEvent[] {
  const isSame = ({ type, reason, message }: ReportEvent) =>
    type === event.type && reason === event.reason && message === event.message;
  const last = events.find(isSame);
  const isFailing = failureIn(events) !== undefined;
  const isNews = event.reason === agentEvent.recovered ? isFailing : failureIn([event]) !== undefined && !isFailing;
  if (last !== undefined && !isNews && Date.parse(event.time) - Date.parse(last.time) < repeatMs) return [...events];
  return [...events.filter(each => !isSame(each)), event].slice(-keptEvents);
}

function missing(namespace: string, name: string): AppError {
  return new AppError('AGENT_REPORT_MISSING', `ConfigMap ${namespace}/${name} does not exist`, {
    remedy: 'Wait for the operator: it creates the report of every node that it configures.',
  });
}
