import { createLineLog } from '#agent/log/file-log.ts';
import type { HostPorts } from '#agent/ports.ts';
import { logPathOf } from '#agent/services/service-log.ts';
import { type Clock, timestamp } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import { agentName } from '#contract/names.ts';
import { agentProgramHash } from '#contract/paths.ts';
import { agentProgram } from '../programs/agent.ts';
import { serviceProgram } from '../programs/all.ts';
import { programName, programsOf } from '../programs/command-line.ts';
import { idleProgram } from '../programs/idle.ts';
import type { ProgramHost } from '../programs/program-host.ts';
import { goAgentStamp, readStamp, stampBytes, type Stamped } from '../programs/stamp.ts';
import type { Output } from '../ssh/shell.ts';
import type { SimulatedFiles } from './files.ts';
import { type ProgramLife, type SimulatedProcess, whileAlive } from './process.ts';
import type { SimulatedProcesses } from './processes.ts';
import type { SimulatedPorts } from './ports.ts';
import { restrictedPorts } from './restricted-ports.ts';
import type { HostSpec, HostDeps } from './spec.ts';
import type { HostState } from './state.ts';

export interface LauncherParts {
  spec: HostSpec;
  deps: HostDeps;
  /** Clock of the host. */
  clock: Clock;
  state: HostState;
  files: SimulatedFiles;
  processes: SimulatedProcesses;
  /** Ports of the host; each process gets its own view. */
  ports(): SimulatedPorts;
  /** Called when an agent verb starts; rejects to make it fail. */
  onVerb(verb: string, closed: AbortSignal): Promise<void>;
}

const maxLogLines = 500;
const failureMs = 50;

/** Starts programs from the disk of a simulated host. */
export class Launcher {
  readonly #parts: LauncherParts;
  readonly #running = new Set<Promise<void>>();
  /** Latest log lines of programs. */
  readonly logLines: string[] = [];

  constructor(parts: LauncherParts) {
    this.#parts = parts;
  }

  /** Resolves when all programs have ended. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  /** Starts the process of a service; undefined if a program is missing. */
  launch(command: string, name: string): SimulatedProcess | undefined {
    const programs = programsOf(command);
    const main = programs.at(-1);
    if (main === undefined || !programs.every(({ path }) => this.#isProgram(path))) return undefined;
    const names = programs.map(({ path }) => programName(path));
    return this.#start(names, async (life, self) => {
      const { spec, deps } = this.#parts;
      if (spec.traits.failingServices.includes(name)) {
        await deps.delays.sleep(failureMs, life.signal);
        await this.#writeFailure(command);
        return 1;
      }
      const { name: stampedName, ...stamped } = await this.#stampOf(main.path);
      if (stampedName === goAgentStamp) return idleProgram(life);
      const run = { ...main, ...stamped };
      return serviceProgram(run, this.#hostFor(self, this.#parts.ports()))(life);
    });
  }

  /** Runs a program for an SSH user; undefined if it is missing. */
  run(path: string, words: readonly string[], output: Output): Promise<number> | undefined {
    const { files, spec } = this.#parts;
    const program = [path, `${path}.exe`].find(each => files.has(each));
    if (program === undefined) return undefined;
    // Other programs just succeed.
    if (programName(program) !== `${agentName}.exe`) return Promise.resolve(0);
    const process = this.#start([programName(program)], async (life, self) => {
      await this.#parts.onVerb(words[0] ?? '', output.closed);
      const run = {
        path: program,
        words: spec.traits.reachesApi ? words : words.map(misdirectApiUrl),
        version: (await this.#stampOf(program)).version,
        startedBy: 'user',
        terminal: output,
      } as const;
      const ports = this.#parts.ports();
      const visible = spec.traits.isAdministrator ? ports : restrictedPorts(ports);
      return agentProgram(run, this.#hostFor(self, visible))(life);
    });
    return process.ended.then(exitCode => exitCode ?? 1);
  }

  #start(
    names: readonly string[],
    program: (life: ProgramLife, self: SimulatedProcess) => Promise<number>,
  ): SimulatedProcess {
    const process = this.#parts.processes.start(names, program);
    const gone = process.gone.finally(() => this.#running.delete(gone));
    this.#running.add(gone);
    return process;
  }

  /** As containerd logs it when another program has its pipe. */
  async #writeFailure(command: string): Promise<void> {
    const { files, clock } = this.#parts;
    const path = logPathOf(command);
    const reason = 'failed to get listener: open //./pipe/containerd-containerd: Access is denied.';
    const line = `time="${timestamp(clock.now())}" level=fatal msg="${reason}"\n`;
    if (path !== undefined) await files.write(path, line);
  }

  /** Programs of Windows itself are always there. */
  #isProgram(path: string): boolean {
    const isOfWindows = /^C:\\Windows\\/i.test(path) && agentProgramHash(path) === undefined;
    return isOfWindows || this.#parts.files.has(path);
  }

  /** What the content of a file says about the program. */
  async #stampOf(path: string): Promise<Stamped> {
    const { files, deps } = this.#parts;
    const content = files.content(path);
    const head = content === undefined ? new Uint8Array() : await files.readAt(content, 0, stampBytes);
    return readStamp(head) ?? { name: '', version: deps.agentVersion };
  }

  #hostFor(process: SimulatedProcess, ports: SimulatedPorts): ProgramHost {
    const { spec, deps, clock, state } = this.#parts;
    return {
      ports: portsFor(process, ports),
      pid: process.pid,
      state,
      clock,
      delays: deps.delays,
      times: spec.times,
      traits: spec.traits,
      log: this.#log(),
    };
  }

  #log(): Log {
    return createLineLog((_, line) => {
      this.logLines.push(line);
      if (this.logLines.length > maxLogLines) this.logLines.shift();
    }, this.#parts.clock);
  }
}

function portsFor(process: SimulatedProcess, { locks, ...ports }: SimulatedPorts): HostPorts {
  return {
    services: whileAlive(ports.services, process),
    processes: whileAlive(ports.processes, process),
    environment: whileAlive(ports.environment, process),
    certificates: whileAlive(ports.certificates, process),
    files: whileAlive(ports.files, process),
    scripts: whileAlive(ports.scripts, process),
    system: whileAlive(ports.system, process),
    network: whileAlive(ports.network, process),
    locks: whileAlive(locks.of(process), process),
    routes: whileAlive(ports.routes, process),
  };
}

/** Replaces the URL of the API server on a host that cannot reach it. */
function misdirectApiUrl(word: string): string {
  return word.startsWith('https://') ? 'https://127.0.0.1:1' : word;
}
