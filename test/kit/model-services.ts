import type { HeldProcess, InstalledConfig, InstalledService, Processes, ServiceState } from '#agent/ports.ts';
import type { Clock } from '#base/clock.ts';
import { SimulatedProcesses } from '../../src/sandbox/machines/host/processes.ts';
import { type ServiceRecord, SimulatedServices } from '../../src/sandbox/machines/host/services.ts';
import { idleProgram } from '../../src/sandbox/machines/programs/idle.ts';
import { beforeCalls } from './before-calls.ts';

const emptyConfig = {
  command: '',
  description: '',
  dependencies: [],
  startType: 'manual',
  recovery: undefined,
} as const;

/** The service manager of a simulated host, in which a pending state lasts until it was queried often enough. */
export class ModelServices extends SimulatedServices implements Processes {
  /** Every change, in order: `stop kubelet`. */
  readonly calls: string[] = [];
  /** Services that stop only when their process is killed. */
  readonly stubborn: Set<string>;
  /** Throws to make a call fail, or to end the caller at that point. */
  before: (call: string) => void = () => undefined;
  readonly #records: Map<string, ServiceRecord>;
  readonly processes: SimulatedProcesses;
  readonly #queries: QueryClock;

  constructor() {
    const [records, processes] = [new Map<string, ServiceRecord>(), new SimulatedProcesses()];
    const [queries, stubborn] = [new QueryClock(), new Set<string>()];
    super({
      records,
      clock: queries,
      times: { serviceStartMs: 1, serviceStopMs: 1 },
      launch: (_, name) => processes.start([name], idleProgram),
      end: (pid, name) => void (stubborn.has(name) || processes.find(pid)?.stop()),
    });
    this.stubborn = stubborn;
    this.#records = records;
    this.processes = processes;
    this.#queries = queries;
    const line = (verb: string) => (name: string) => `${verb} ${name}`;
    beforeCalls<ModelServices>(this, call => this.#note(call), {
      create: line('create'),
      configure: line('configure'),
      start: line('start'),
      stop: line('stop'),
      remove: line('remove'),
      killByName: line('kill'),
    });
  }

  /** How many queries a pending state lasts. */
  set slowness(queries: number) {
    this.#queries.slowness = queries;
  }

  /** Adds a service in any state, with dependencies that need not exist. */
  install(name: string, over: Partial<InstalledConfig> = {}, state: ServiceState = 'running'): this {
    const record: ServiceRecord = {
      name,
      config: emptyConfig,
      state: 'stopped',
      pid: 0,
      isMarkedForDeletion: false,
      crashes: 0,
    };
    this.#records.set(name.toLowerCase(), record);
    if (state !== 'stopped') void super.start(name);
    Object.assign(record, { config: { ...emptyConfig, ...over }, state });
    if (state === 'stop-pending') this.processes.find(record.pid)?.stop();
    const next = { 'continue-pending': 'running', 'pause-pending': 'paused' }[state as string];
    if (next !== undefined) void this.#queries.sleep(1).then(() => Object.assign(record, { state: next }));
    return this;
  }

  override async list(): Promise<InstalledService[]> {
    await this.#queries.settle();
    return super.list();
  }

  override async query(name: string): Promise<InstalledService | undefined> {
    this.#queries.advance();
    return (await this.list()).find(service => service.name.toLowerCase() === name.toLowerCase());
  }

  /** As agent/win32: a missing or deleted service is fine. */
  override async remove(name: string): Promise<void> {
    const record = this.#records.get(name.toLowerCase());
    if (record?.isMarkedForDeletion === false) await super.remove(name);
  }

  hold(pid: number): Promise<HeldProcess | undefined> {
    return this.processes.hold(pid);
  }

  killByName(name: string): Promise<void> {
    return this.processes.killByName(name);
  }

  /** Ends all processes and starts the automatic services. */
  reboot(): void {
    this.processes.killAll();
    this.powerOff();
    this.powerOn();
  }

  #note(call: string): void {
    this.before(call);
    this.calls.push(call);
  }
}

/** A clock of queries: a start or stop ends after `slowness` of them, the delay of a recovery never. */
class QueryClock implements Clock {
  slowness = 0;
  #count = 0;
  #sleepers: { dueAt: number; wake: () => void }[] = [];
  now = (): number => this.#count;
  monotonicMs = (): number => this.#count;

  sleep(ms: number): Promise<void> {
    if (ms >= 1000) return new Promise(() => undefined);
    if (ms === 1 && this.slowness === 0) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#sleepers.push({ dueAt: this.#count + (ms === 1 ? this.slowness + 1 : 1), wake: resolve });
    return promise;
  }

  advance(): void {
    this.#count += 1;
    const due = this.#sleepers.filter(({ dueAt }) => dueAt <= this.#count);
    this.#sleepers = this.#sleepers.filter(({ dueAt }) => dueAt > this.#count);
    for (const { wake } of due) wake();
  }

  /** Lets every start and stop that is due end. */
  async settle(): Promise<void> {
    for (let turn = 0; turn < 40; turn += 1) await Promise.resolve();
  }
}
