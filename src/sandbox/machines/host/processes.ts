import type { HeldProcess, Processes } from '#agent/ports.ts';
import { type ProgramLife, SimulatedProcess } from './process.ts';

export class SimulatedProcesses implements Processes {
  readonly #alive = new Map<number, SimulatedProcess>();
  #lastPid = 600;

  /** `names` are program names as in Task Manager. */
  start(
    names: readonly string[],
    program: (life: ProgramLife, self: SimulatedProcess) => Promise<number>,
  ): SimulatedProcess {
    // Windows PIDs are multiples of four.
    this.#lastPid += 4;
    const process = new SimulatedProcess(this.#lastPid, names, program);
    this.#alive.set(process.pid, process);
    void process.ended.then(() => this.#alive.delete(process.pid));
    return process;
  }

  find(pid: number): SimulatedProcess | undefined {
    return this.#alive.get(pid);
  }

  async hold(pid: number): Promise<HeldProcess | undefined> {
    const process = this.#alive.get(pid);
    if (process === undefined) return undefined;
    return {
      hasExited: async () => !process.isAlive,
      killTree: async () => process.kill(),
      release: () => undefined,
    };
  }

  async killByName(name: string): Promise<void> {
    for (const process of this.#alive.values()) if (runs(process, name)) process.kill();
  }

  isRunning(name: string): boolean {
    return [...this.#alive.values()].some(process => process.isAlive && runs(process, name));
  }

  killAll(): void {
    for (const process of this.#alive.values()) process.kill();
    this.#alive.clear();
  }
}

function runs(process: SimulatedProcess, name: string): boolean {
  const plain = (text: string) => text.toLowerCase().replace(/\.exe$/, '');
  return process.names.some(each => plain(each) === plain(name));
}
