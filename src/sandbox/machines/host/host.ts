import { randomUUID } from 'node:crypto';
import { ports, serviceName } from '#contract/names.ts';
import { agentProgramHash, authorizedKeysFile } from '#contract/paths.ts';
import { printPublicKey } from '#host/keys/public-key.ts';
import { whenAborted, withDeadline } from '#base/waiting/deadline.ts';
import { offsetClock } from '../clocks.ts';
import { programName } from '../programs/command-line.ts';
import type { Route } from '../routes.ts';
import { type Output, runCommand } from '../ssh/shell.ts';
import { readAuthorizedKeys } from '../ssh/authorized-keys.ts';
import { SimulatedSshd } from '../ssh/sshd.ts';
import { isWithin } from './file-rights.ts';
import { SimulatedFiles } from './files.ts';
import { Launcher } from './launcher.ts';
import { Mishaps } from './mishaps.ts';
import { createPace } from './pace.ts';
import { hostPorts } from './ports.ts';
import { SimulatedProcesses } from './processes.ts';
import { SimulatedServices } from './services.ts';
import { type HostDeps, type HostSpec, type HostStats, noStats, recordRename, recordUpload } from './spec.ts';
import type { Times } from '../times.ts';
import type { Traits } from '../traits.ts';
import { bootState, freshState, type HostState } from './state.ts';

const stopTimeoutMs = 15_000;

/** A simulated Windows host in this process; only its SSH server is real. */
export class SimulatedHost {
  readonly spec: HostSpec;
  readonly state: HostState;
  readonly files: SimulatedFiles;
  readonly services: SimulatedServices;
  readonly stats: HostStats;
  readonly #deps: HostDeps;
  readonly #processes = new SimulatedProcesses();
  readonly #launcher: Launcher;
  #mishaps: Mishaps;
  /** Aborted when commands that hang continue. */
  #hanging = new AbortController();
  readonly #sshd: SimulatedSshd;
  /** Aborted when the host is removed. */
  readonly #removed = new AbortController();
  #isOn = false;
  #isGoingDown = false;
  #isBooting = false;

  constructor(spec: HostSpec, deps: HostDeps) {
    const { traits, times } = spec;
    const { delays, store } = deps;
    this.spec = spec;
    this.#deps = deps;
    this.stats = noStats();
    this.#mishaps = new Mishaps(traits.mishaps);
    this.state = freshState({ ...spec, hostName: spec.name, id: randomUUID().slice(0, 13) }, traits);
    const clock = offsetClock(deps.clock, () => traits.clockOffsetMs);
    const pace = createPace(() => times.diskBytesPerSecond, delays);
    this.files = new SimulatedFiles({ store, clock, diskBytes: () => traits.diskBytes, pace });
    this.services = new SimulatedServices({
      records: this.state.services,
      clock: delays,
      times,
      launch: (command, name) => this.#launcher.launch(command, name),
      end: (pid, name) => {
        if (!traits.stubbornServices.includes(name)) this.#processes.find(pid)?.stop();
      },
    });
    const ports = hostPorts({
      state: this.state,
      files: this.files,
      services: this.services,
      processes: this.#processes,
      delays,
      times,
      busyPorts: () => traits.busyPorts,
      reboot: delaySeconds => void this.#reboot(delaySeconds * 1000),
    });
    this.#launcher = new Launcher({
      spec,
      deps,
      clock,
      state: this.state,
      files: this.files,
      processes: this.#processes,
      ports: () => ports,
      onVerb: (verb, closed) => this.#onVerb(verb, closed),
    });
    this.#sshd = this.#newSshd();
  }

  route(): Route {
    const { network } = this.spec.traits;
    if (network === 'silent') return 'silent';
    return this.#isOn && network !== 'refuses' ? { port: this.#sshd.port } : 'refused';
  }

  /** The kubelet is the only service that accepts connections. */
  acceptsOn(port: number): boolean {
    const isRunning = this.state.services.get(serviceName.kubelet)?.state === 'running';
    return typeof this.route() === 'object' && port === ports.kubelet && isRunning;
  }

  get isOn(): boolean {
    return this.#isOn;
  }

  get openConnections(): number {
    return this.#sshd.connections;
  }

  /** Latest log lines of programs. */
  get logLines(): readonly string[] {
    return this.#launcher.logLines;
  }

  /** Powers it on; a booting host answers after the boot time. */
  async start(how: 'booted' | 'booting' = 'booted'): Promise<void> {
    await this.#sshd.listen();
    if (!this.files.has(authorizedKeysFile)) await this.setAuthorizedKeys(this.spec.authorizedKeys.map(printPublicKey));
    if (how === 'booting') void this.#boot();
    else this.#powerOn();
  }

  /** Cuts the power and boots again. */
  cutPower(): void {
    if (!this.#isOn) return;
    this.#powerOff();
    this.#changeBoot();
    void this.#boot();
  }

  /** Powers it off until it is switched on. */
  switchOff(): void {
    if (this.#isOn) this.#powerOff();
  }

  /** Gives it another address; programs that run keep their connections. */
  move(address: string): void {
    const [before, after] = [`${this.spec.address}/24`, `${address}/24`];
    this.spec.address = address;
    for (const adapter of this.state.adapters)
      adapter.addresses = adapter.addresses.map(each => (each === before ? after : each));
    this.#deps.onChange();
  }

  /** Powers on a host that is off. */
  switchOn(): void {
    if (this.#isOn || this.#isBooting) return;
    this.#changeBoot();
    void this.#boot();
  }

  /** Changes traits and times at run time. Initial services and the like are in `state`. */
  change(traits: Partial<Traits>, times: Partial<Times> = {}): void {
    Object.assign(this.spec.traits, traits);
    Object.assign(this.spec.times, times);
    if (traits.mishaps !== undefined) this.#changeMishaps(traits.mishaps);
    if (traits.stubbornServices !== undefined) this.#endStoppingServices();
    this.#deps.onChange();
  }

  /** The lines of the file from which sshd reads who may log in. Writing the file in `files` does the same. */
  async setAuthorizedKeys(lines: readonly string[]): Promise<void> {
    await this.files.write(authorizedKeysFile, lines.map(line => `${line}\n`).join(''), 'secret');
  }

  /** Deletes a service and ends its process. */
  removeService(name: string): void {
    const pid = this.state.services.get(name.toLowerCase())?.pid ?? 0;
    this.services.remove(name).catch(() => undefined);
    this.#processes.find(pid)?.kill();
  }

  #changeMishaps(mishaps: Traits['mishaps']): void {
    this.#mishaps = new Mishaps(mishaps);
    this.#hanging.abort();
    this.#hanging = new AbortController();
  }

  /** A service that ignored its stop request gets it again. */
  #endStoppingServices(): void {
    const { stubbornServices } = this.spec.traits;
    for (const { name, state, pid } of this.state.services.values())
      if (state === 'stop-pending' && !stubbornServices.includes(name)) this.#processes.find(pid)?.stop();
  }

  cutConnections(): void {
    this.#sshd.cut();
  }

  /** Removes the host. */
  async stop(): Promise<void> {
    this.#removed.abort(new Error('the host is gone'));
    this.#powerOff();
    await this.#sshd.close();
    const limit = { clock: this.#deps.clock, ms: stopTimeoutMs, error: () => new Error('late') };
    await withDeadline(limit, () => this.#launcher.settled()).catch(() => undefined);
    await this.files.wipe();
  }

  /** The first of several reboot requests counts. */
  async #reboot(delayMs: number): Promise<void> {
    if (this.#isGoingDown) return;
    this.#isGoingDown = true;
    try {
      await this.#deps.delays.sleep(delayMs + this.spec.times.shutdownMs, this.#removed.signal);
    } catch {
      return;
    }
    this.#powerOff();
    if (!this.spec.traits.returnsFromReboot) return;
    this.#changeBoot();
    await this.#boot();
  }

  #changeBoot(): void {
    bootState(this.state);
    this.stats.reboots += 1;
  }

  async #boot(): Promise<void> {
    this.#isBooting = true;
    try {
      await this.#deps.delays.sleep(this.spec.times.bootMs, this.#removed.signal);
      this.#powerOn();
    } catch {
      // The host was removed while booting.
    } finally {
      this.#isBooting = false;
    }
  }

  #powerOn(): void {
    this.#isOn = true;
    this.#isGoingDown = false;
    this.services.powerOn();
    this.#sshd.up();
    this.#deps.onChange();
  }

  #powerOff(): void {
    this.#isOn = false;
    this.#sshd.down();
    this.services.powerOff();
    this.#processes.killAll();
    this.files.cutPower();
    this.#deps.onChange();
  }

  async #onVerb(verb: string, closed: AbortSignal): Promise<void> {
    this.stats.verbs.push(verb);
    await this.#applyMishap(this.#mishaps.onVerb(verb), closed);
  }

  /** Rejects after a mishap; a hanging call waits until the client disconnects or the mishap ends. */
  async #applyMishap(mishap: ReturnType<Mishaps['onVerb']>, closed: AbortSignal): Promise<void> {
    if (mishap === undefined) return;
    if (mishap === 'hang') {
      await whenAborted(AbortSignal.any([closed, this.#hanging.signal]));
      if (!closed.aborted) return;
    } else if (mishap === 'drop') this.cutConnections();
    else this.cutPower();
    throw new Error(mishap);
  }

  async #run(command: string, output: Output): Promise<number> {
    const { traits, times } = this.spec;
    await this.#deps.delays.sleep(times.commandMs);
    const shell = {
      traits,
      hostName: () => this.state.hostName,
      run: (path: string, words: readonly string[], to: Output) => {
        this.stats.programs.push(path);
        return this.#launcher.run(path, words, to);
      },
    };
    return runCommand(command, shell, output);
  }

  #newSshd(): SimulatedSshd {
    const { traits, times, user } = this.spec;
    const pace = createPace(() => times.uploadBytesPerSecond, this.#deps.delays);
    return new SimulatedSshd({
      traits,
      greetingMs: times.greetingMs,
      delays: this.#deps.delays,
      loginRules: async () => ({
        login: traits.login,
        user,
        authorizedKeys: traits.acceptsKey ? await readAuthorizedKeys(this.files) : [],
      }),
      run: (command, output) => this.#run(command, output),
      count: what => {
        this.stats[what] += 1;
      },
      sftp: {
        files: this.files,
        diskBytes: () => traits.diskBytes,
        mayWrite: path => traits.isAdministrator || !isWithin(path, 'C:\\Windows'),
        // The operator uploads agents to folders that no service runs from.
        isInUse: path =>
          path.toLowerCase().endsWith('.exe') &&
          agentProgramHash(path) === undefined &&
          this.#processes.isRunning(programName(path)),
        onUpload: async (bytes, closed) => {
          this.stats.uploadedBytes += bytes;
          await this.#applyMishap(this.#mishaps.onUpload(bytes), closed);
          await pace(bytes);
        },
        onFile: (path, bytes) => recordUpload(this.stats, path, bytes),
        onRename: (from, to) => recordRename(this.stats, from, to),
      },
    });
  }
}
