import type { InstalledService, ServiceConfig, ServiceManager, ServiceState, ServiceStatus } from '#agent/ports.ts';
import { win32, windowsError } from '#agent/win32/win32-errors.ts';
import type { Clock } from '#base/clock.ts';
import type { SimulatedProcess } from './process.ts';

/** A service in the registry and its state. */
export interface ServiceRecord {
  name: string;
  config: ServiceConfig;
  state: ServiceState;
  pid: number;
  isMarkedForDeletion: boolean;
  /** Consecutive crashes. */
  crashes: number;
}

export interface ServicesOptions {
  records: Map<string, ServiceRecord>;
  /** Clock of simulated delays. */
  clock: Clock;
  times: { serviceStartMs: number; serviceStopMs: number };
  /** Undefined if the program is missing. */
  launch(command: string, name: string): SimulatedProcess | undefined;
  end(pid: number, name: string): void;
}

const missingDependency = 1075;
const dependencyFailed = 1068;
const dependantsRun = 1051;
const exists = 1073;
const circular = 1059;
const disabled = 1058;

/** A simulated service control manager with the rules of the real one. */
export class SimulatedServices implements ServiceManager {
  readonly #options: ServicesOptions;
  /** Aborted when the power is cut. */
  #power = new AbortController();

  constructor(options: ServicesOptions) {
    this.#options = options;
  }

  async list(): Promise<InstalledService[]> {
    return [...this.#records.values()].map(({ name, config, state, pid }) => {
      const { environment = {} } = config;
      return { name, config: { ...config, environment }, state, pid };
    });
  }

  async query(name: string): Promise<ServiceStatus | undefined> {
    const record = this.#records.get(keyOf(name));
    return record && { state: record.state, pid: record.pid };
  }

  async create(name: string, config: ServiceConfig): Promise<void> {
    const present = this.#records.get(keyOf(name));
    if (present?.isMarkedForDeletion) throw failure('CreateServiceW', name, win32.serviceMarkedForDeletion);
    if (present !== undefined) throw failure('CreateServiceW', name, exists);
    this.#records.set(keyOf(name), {
      name,
      config,
      state: 'stopped',
      pid: 0,
      isMarkedForDeletion: false,
      crashes: 0,
    });
  }

  async configure(name: string, config: ServiceConfig): Promise<void> {
    const record = this.#get(name, 'ChangeServiceConfigW');
    if (record.isMarkedForDeletion) throw failure('ChangeServiceConfigW', name, win32.serviceMarkedForDeletion);
    if (this.#reaches(config.dependencies, name)) throw failure('ChangeServiceConfigW', name, circular);
    record.config = { ...config, environment: config.environment ?? record.config.environment };
  }

  async start(name: string): Promise<void> {
    const record = this.#get(name, 'StartServiceW');
    if (record.isMarkedForDeletion) throw failure('StartServiceW', name, win32.serviceMarkedForDeletion);
    if (record.state === 'running' || record.state === 'start-pending')
      throw failure('StartServiceW', name, win32.serviceAlreadyRunning);
    this.#startProcess(record);
  }

  async stop(name: string): Promise<void> {
    const record = this.#get(name, 'ControlService');
    if (record.state === 'stopped') throw failure('ControlService', name, win32.serviceNotActive);
    if (record.state.endsWith('pending')) throw failure('ControlService', name, win32.serviceTakesNoControl);
    const active = [...this.#records.values()].filter(({ state }) => state !== 'stopped');
    if (active.some(other => this.#reaches(other.config.dependencies, name)))
      throw failure('ControlService', name, dependantsRun);
    record.state = 'stop-pending';
    this.#options.end(record.pid, name);
  }

  async remove(name: string): Promise<void> {
    const record = this.#get(name, 'DeleteService');
    if (record.isMarkedForDeletion) throw failure('DeleteService', name, win32.serviceMarkedForDeletion);
    record.isMarkedForDeletion = true;
    if (record.state === 'stopped') this.#records.delete(keyOf(name));
  }

  /** Starts automatic services; ignores those that fail to start. */
  powerOn(): void {
    this.#power = new AbortController();
    for (const record of this.#records.values()) {
      if (record.config.startType !== 'automatic' || record.state !== 'stopped') continue;
      try {
        this.#startProcess(record);
      } catch {
        // Windows only logs it.
      }
    }
  }

  /** Marks all services stopped; the caller ends their processes. */
  powerOff(): void {
    this.#power.abort(new Error('the power is off'));
    for (const record of this.#records.values()) {
      Object.assign(record, { state: 'stopped', pid: 0, crashes: 0 });
      if (record.isMarkedForDeletion) this.#records.delete(keyOf(record.name));
    }
  }

  get #records(): Map<string, ServiceRecord> {
    return this.#options.records;
  }

  /** Starts dependencies first; throws if it cannot start. */
  #startProcess(record: ServiceRecord): void {
    const { name, config } = record;
    if (config.startType === 'disabled') throw failure('StartServiceW', name, disabled);
    if (record.state !== 'stopped') throw failure('StartServiceW', name, win32.serviceTakesNoControl);
    const needed = config.dependencies.map(each => {
      const dependency = this.#records.get(keyOf(each));
      if (dependency === undefined) throw failure('StartServiceW', name, missingDependency);
      if (dependency.state === 'stopped') this.#startProcess(dependency);
      else if (dependency.state === 'stop-pending') throw failure('StartServiceW', name, dependencyFailed);
      return dependency;
    });
    const process = this.#options.launch(config.command, name);
    if (process === undefined) throw failure('StartServiceW', name, win32.fileNotFound);
    record.state = 'start-pending';
    record.pid = process.pid;
    void this.#awaitRunning(record, process, needed);
    void process.ended.then(exitCode => this.#onExit(record, process, exitCode));
  }

  async #awaitRunning(
    record: ServiceRecord,
    process: SimulatedProcess,
    needed: readonly ServiceRecord[],
  ): Promise<void> {
    const { clock, times } = this.#options;
    const { signal } = this.#power;
    try {
      await Promise.all([process.ready, clock.sleep(times.serviceStartMs, signal)]);
      while (process.isAlive && needed.some(({ state }) => state === 'start-pending')) await clock.sleep(20, signal);
    } catch {
      return;
    }
    if (process.isAlive && record.pid === process.pid && record.state === 'start-pending') record.state = 'running';
  }

  async #onExit(record: ServiceRecord, process: SimulatedProcess, exitCode: number | undefined): Promise<void> {
    const { clock, times } = this.#options;
    const { signal } = this.#power;
    if (record.pid !== process.pid) return;
    const wasStopped = record.state === 'stop-pending' && exitCode !== undefined;
    if (wasStopped) await clock.sleep(times.serviceStopMs, signal).catch(() => undefined);
    if (signal.aborted) return;
    const isCrash = record.state !== 'stop-pending';
    Object.assign(record, { state: 'stopped', pid: 0 });
    if (record.isMarkedForDeletion) this.#records.delete(keyOf(record.name));
    else if (isCrash) await this.#recover(record, signal);
  }

  /** Restarts a crashed service as its recovery actions define. */
  async #recover(record: ServiceRecord, signal: AbortSignal): Promise<void> {
    const { recovery } = record.config;
    const delayMs = recovery?.restartDelaysMs[Math.min(record.crashes, recovery.restartDelaysMs.length - 1)];
    record.crashes += 1;
    if (delayMs === undefined) return;
    try {
      await this.#options.clock.sleep(delayMs, signal);
      if (record.state === 'stopped' && this.#records.get(keyOf(record.name)) === record) this.#startProcess(record);
    } catch {
      // The power is off, or Windows gives up on it.
    }
  }

  /** Whether a service is a direct or indirect dependency. */
  #reaches(dependencies: readonly string[], name: string, seen = new Set<string>()): boolean {
    return dependencies.map(keyOf).some(key => {
      if (key === keyOf(name)) return true;
      if (seen.has(key)) return false;
      return this.#reaches(this.#records.get(key)?.config.dependencies ?? [], name, seen.add(key));
    });
  }

  #get(name: string, call: string): ServiceRecord {
    const record = this.#records.get(keyOf(name));
    if (record === undefined) throw failure(call, name, win32.serviceMissing);
    return record;
  }
}

function keyOf(name: string): string {
  return name.toLowerCase();
}

function failure(call: string, name: string, number: number): Error {
  return windowsError(call, `service ${name}`, number);
}
