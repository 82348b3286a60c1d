import { randomUUID } from 'node:crypto';
import { agentProgramHash } from '#contract/paths.ts';
import { withDeadline } from '#base/waiting/deadline.ts';
import { offsetClock } from '../clocks.ts';
import { programName } from '../programs/command-line.ts';
import { untilAborted } from '../programs/idle.ts';
import type { Route } from '../routes.ts';
import { type Output, runCommand } from '../ssh/shell.ts';
import { SimulatedSshd } from '../ssh/sshd.ts';
import { isWithin } from './file-rights.ts';
import { SimulatedFiles } from './files.ts';
import { Launcher } from './launcher.ts';
import { Mishaps } from './mishaps.ts';
import { createPace } from './pace.ts';
import { hostPorts } from './ports.ts';
import { SimulatedProcesses } from './processes.ts';
import { SimulatedServices } from './services.ts';
import type { HostSpec, HostStats, HostDeps } from './spec.ts';
import type { Traits } from '../traits.ts';
import { bootState, freshState, type HostState } from './state.ts';

const farewellMs = 15_000;

/** A Windows machine that exists in this process only, but for its SSH server, which is real. */
export class SimulatedHost {
  readonly spec: HostSpec;
  readonly state: HostState;
  readonly files: SimulatedFiles;
  readonly services: SimulatedServices;
  readonly stats: HostStats;
  readonly #world: HostDeps;
  readonly #processes = new SimulatedProcesses();
  readonly #launcher: Launcher;
  #mishaps: Mishaps;
  readonly #sshd: SimulatedSshd;
  /** Aborted when the host is gone for good. */
  readonly #end = new AbortController();
  #isOn = false;
  #isGoingDown = false;

  constructor(spec: HostSpec, world: HostDeps) {
    const { traits, times } = spec;
    const { delays, store } = world;
    this.spec = spec;
    this.#world = world;
    this.stats = noStats();
    this.#mishaps = new Mishaps(traits.mishaps);
    this.state = freshState({ ...spec, hostName: spec.name, id: randomUUID().slice(0, 13) }, traits);
    const clock = offsetClock(world.clock, () => traits.clockOffsetMs);
    const pace = createPace(times.diskBytesPerSecond, delays);
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
      world,
      clock,
      state: this.state,
      files: this.files,
      processes: this.#processes,
      ports: () => ports,
      onVerb: (verb, closed) => this.#onVerb(verb, closed),
    });
    this.#sshd = this.#createSshd();
  }

  /** How it is reached at present. */
  route(): Route {
    const { network } = this.spec.traits;
    if (network === 'silent') return 'silent';
    return this.#isOn && network !== 'refuses' ? { port: this.#sshd.port } : 'refused';
  }

  get isOn(): boolean {
    return this.#isOn;
  }

  get openConnections(): number {
    return this.#sshd.connections;
  }

  /** What the programs on it have said last. */
  get logLines(): readonly string[] {
    return this.#launcher.logLines;
  }

  /** Switches it on; one that has yet to boot answers only when it has. */
  async start(how: 'booted' | 'booting' = 'booted'): Promise<void> {
    await this.#sshd.listen();
    if (how === 'booting') void this.#boot();
    else this.#powerOn();
  }

  /** As if somebody pulled the plug and put it in again. */
  cutPower(): void {
    if (!this.#isOn) return;
    this.#powerOff();
    this.#changeBoot();
    void this.#boot();
  }

  /** Switches on a host that is off, as somebody does who finds it so. */
  switchOn(): void {
    if (this.#isOn) return;
    this.#changeBoot();
    void this.#boot();
  }

  /** Puts right what was wrong with it, or the other way round. What it began with, such as its services, is in its state. */
  change(traits: Partial<Traits>): void {
    Object.assign(this.spec.traits, traits);
    if (traits.mishaps !== undefined) this.#mishaps = new Mishaps(traits.mishaps);
    this.#world.onChange();
  }

  /** Breaks all connections to it. */
  cutConnections(): void {
    this.#sshd.cut();
  }

  /** Ends it for good; nothing of it is left. */
  async stop(): Promise<void> {
    this.#end.abort(new Error('the host is gone'));
    this.#powerOff();
    await this.#sshd.close();
    const limit = { clock: this.#world.clock, ms: farewellMs, error: () => new Error('late') };
    await withDeadline(limit, () => this.#launcher.settled()).catch(() => undefined);
    await this.files.wipe();
  }

  /** Of several orders to reboot the first one counts. */
  async #reboot(delayMs: number): Promise<void> {
    if (this.#isGoingDown) return;
    this.#isGoingDown = true;
    const { delays } = this.#world;
    try {
      await delays.sleep(delayMs + this.spec.times.shutdownMs, this.#end.signal);
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
    try {
      await this.#world.delays.sleep(this.spec.times.bootMs, this.#end.signal);
      this.#powerOn();
    } catch {
      // It is gone before it was up.
    }
  }

  #powerOn(): void {
    this.#isOn = true;
    this.#isGoingDown = false;
    this.services.powerOn();
    this.#sshd.up();
    this.#world.onChange();
  }

  #powerOff(): void {
    this.#isOn = false;
    this.#sshd.down();
    this.services.powerOff();
    this.#processes.killAll();
    this.#world.onChange();
  }

  async #onVerb(verb: string, closed: AbortSignal): Promise<void> {
    this.stats.verbs.push(verb);
    await this.#suffer(this.#mishaps.onVerb(verb), closed);
  }

  /** Rejects when something has happened; what hangs does so until nobody waits for it any more. */
  async #suffer(mishap: ReturnType<Mishaps['onVerb']>, closed: AbortSignal): Promise<void> {
    if (mishap === undefined) return;
    if (mishap === 'drop') this.cutConnections();
    else if (mishap === 'power cut') this.cutPower();
    else await untilAborted(closed);
    throw new Error(mishap);
  }

  async #run(command: string, output: Output): Promise<number> {
    const { traits, times } = this.spec;
    await this.#world.delays.sleep(times.commandMs);
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

  #createSshd(): SimulatedSshd {
    const { traits, times, user, authorizedKeys } = this.spec;
    const { delays } = this.#world;
    const pace = createPace(times.uploadBytesPerSecond, delays);
    return new SimulatedSshd({
      traits,
      greetingMs: times.greetingMs,
      delays,
      loginRules: () => ({ login: traits.login, user, authorizedKeys: traits.acceptsKey ? authorizedKeys : [] }),
      run: (command, output) => this.#run(command, output),
      count: what => {
        this.stats[what] += 1;
      },
      sftp: {
        files: this.files,
        diskBytes: () => traits.diskBytes,
        mayWrite: path => traits.isAdministrator || !isWithin(path, 'C:\\Windows'),
        // No service runs from the folders that the operator uploads the agent to.
        isInUse: path =>
          path.toLowerCase().endsWith('.exe') &&
          agentProgramHash(path) === undefined &&
          this.#processes.isRunning(programName(path)),
        onUpload: async (bytes, closed) => {
          this.stats.uploadedBytes += bytes;
          await this.#suffer(this.#mishaps.onUpload(bytes), closed);
          await pace(bytes);
        },
        onFile: (path, bytes) => {
          this.stats.uploads += 1;
          this.stats.received.push({ path, bytes });
        },
        onRename: (from, to) => {
          const received = this.stats.received.findLast(({ path }) => path === from);
          if (received !== undefined) received.path = to;
        },
      },
    });
  }
}

function noStats(): HostStats {
  return {
    connections: 0,
    execSessions: 0,
    sftpSessions: 0,
    uploads: 0,
    received: [],
    uploadedBytes: 0,
    reboots: 0,
    verbs: [],
    programs: [],
  };
}
