import type * as ports from '../../src/agent/ports.ts';

type InstalledService = ports.InstalledService;
type InstalledConfig = ports.InstalledConfig;
type ServiceConfig = ports.ServiceConfig;
type ServiceState = ports.ServiceState;

interface Entry extends InstalledService {
  /** How often the service is still looked at before a pending state ends. */
  pending: number;
  marked: boolean;
}

/** The Windows service manager in memory, with the rules the real one has for starting, stopping and dependencies. */
export class ModelServices implements ports.ServiceManager, ports.Processes {
  /** Every change asked for, in order: `stop kubelet`. */
  readonly calls: string[] = [];
  /** Looks a pending state lasts. */
  slowness = 0;
  /** Services that stop only when their process is killed. */
  readonly stubborn = new Set<string>();
  /** Throws to make a call fail, or to end the caller at that point. */
  before: (call: string) => void = () => undefined;
  readonly #entries = new Map<string, Entry>();
  #lastPid = 0;

  /** Installs a service as it is found on a host. */
  install(name: string, over: Partial<InstalledConfig> = {}, state: ServiceState = 'running'): this {
    const empty = { command: '', description: '', dependencies: [], startType: 'manual', recovery: undefined } as const;
    const pid = state === 'stopped' ? 0 : ++this.#lastPid;
    const entry = { name, config: { ...empty, ...over }, state, pid, pending: this.slowness, marked: false };
    this.#entries.set(name.toLowerCase(), entry);
    return this;
  }

  async list(): Promise<InstalledService[]> {
    return [...this.#entries.values()].map(({ name, config, state, pid }) => ({ name, config, state, pid }));
  }

  async query(name: string): Promise<InstalledService | undefined> {
    const entry = this.#entries.get(name.toLowerCase());
    if (entry !== undefined && entry.pending-- <= 0) this.#settle(entry);
    return entry === undefined || !this.#entries.has(name.toLowerCase()) ? undefined : { ...entry };
  }

  async create(name: string, config: ServiceConfig): Promise<void> {
    this.#note(`create ${name}`);
    if (this.#entries.has(name.toLowerCase())) throw new Error(`1073: ${name} exists`);
    this.install(name, config, 'stopped');
  }

  async configure(name: string, config: ServiceConfig): Promise<void> {
    this.#note(`configure ${name}`);
    if (this.#reaches(config.dependencies, name)) throw new Error(`1059: ${name} would depend on itself`);
    this.#get(name).config = config;
  }

  async start(name: string): Promise<void> {
    this.#note(`start ${name}`);
    if (['running', 'start-pending'].includes(this.#get(name).state)) throw new Error(`1056: ${name} runs already`);
    this.#startAll(name);
  }

  async stop(name: string): Promise<void> {
    this.#note(`stop ${name}`);
    const entry = this.#get(name);
    if (entry.state === 'stopped') throw new Error(`1062: ${name} is not active`);
    if (entry.state.endsWith('pending')) throw new Error(`1061: ${name} takes no control now`);
    const active = [...this.#entries.values()].filter(other => other.state !== 'stopped');
    const dependant = active.find(other => this.#reaches(other.config.dependencies, name));
    if (dependant !== undefined) throw new Error(`1051: ${dependant.name} runs and depends on ${name}`);
    this.#enter(entry, 'stop-pending');
  }

  async remove(name: string): Promise<void> {
    this.#note(`remove ${name}`);
    const entry = this.#entries.get(name.toLowerCase());
    if (entry === undefined) return;
    entry.marked = true;
    this.#enter(entry, entry.state);
  }

  async hold(pid: number): Promise<ports.HeldProcess | undefined> {
    const find = () => [...this.#entries.values()].find(entry => entry.pid === pid);
    const killTree = async () => Object.assign(find() ?? {}, { state: 'stopped', pid: 0 }) && undefined;
    return find() && { hasExited: async () => find() === undefined, killTree, release: () => undefined };
  }

  async killByName(name: string): Promise<void> {
    this.#note(`kill ${name}`);
  }

  #startAll(name: string): void {
    const entry = this.#get(name);
    if (!['stopped', 'stop-pending'].includes(entry.state)) return;
    if (entry.state !== 'stopped') throw new Error(`1061: ${name} takes no control now`);
    if (entry.config.startType === 'disabled') throw new Error(`1058: ${name} is disabled`);
    for (const dependency of entry.config.dependencies) {
      if (!this.#entries.has(dependency.toLowerCase())) throw new Error(`1075: ${dependency} does not exist`);
      this.#startAll(dependency);
    }
    entry.pid = ++this.#lastPid;
    this.#enter(entry, 'start-pending');
  }

  #enter(entry: Entry, state: ServiceState): void {
    Object.assign(entry, { state, pending: this.slowness });
    if (this.slowness === 0) this.#settle(entry);
  }

  #settle(entry: Entry): void {
    if (entry.state === 'start-pending' || entry.state === 'continue-pending') entry.state = 'running';
    if (entry.state === 'pause-pending') entry.state = 'paused';
    if (entry.state === 'stop-pending' && !this.stubborn.has(entry.name)) {
      Object.assign(entry, { state: 'stopped', pid: 0 });
    }
    if (entry.marked && entry.state === 'stopped') this.#entries.delete(entry.name.toLowerCase());
  }

  /** Whether a service is among the dependencies or behind them. */
  #reaches(dependencies: readonly string[], name: string, seen = new Set<string>()): boolean {
    return dependencies.some(dependency => {
      const key = dependency.toLowerCase();
      if (key === name.toLowerCase()) return true;
      if (seen.has(key)) return false;
      return this.#reaches(this.#entries.get(key)?.config.dependencies ?? [], name, seen.add(key));
    });
  }

  #get(name: string): Entry {
    const entry = this.#entries.get(name.toLowerCase());
    if (entry === undefined) throw new Error(`1060: ${name} does not exist`);
    return entry;
  }

  #note(call: string): void {
    this.before(call);
    this.calls.push(call);
  }
}
