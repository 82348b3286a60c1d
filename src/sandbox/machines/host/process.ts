/** What a running program knows about its own life. */
export interface ProgramLife {
  /** Aborted when it has to end. */
  signal: AbortSignal;
  /** Tells the service manager that it does its work now. */
  ready(): void;
}

/** A program on a simulated host: resolves with its exit code. */
export type Program = (life: ProgramLife) => Promise<number>;

/** A process of a simulated host. */
export class SimulatedProcess {
  readonly pid: number;
  /** Of the programs that run in it, as the Task Manager shows them: `kubelet.exe`. */
  readonly names: readonly string[];
  /** Resolves when it has told that it does its work. */
  readonly ready: Promise<void>;
  /** Resolves with the exit code, or with undefined for a process that was killed. */
  readonly ended: Promise<number | undefined>;
  /** Resolves when nothing of it goes on any more, which for a killed one is a moment later. */
  readonly gone: Promise<void>;
  readonly #stopping = new AbortController();
  readonly #killed = Promise.withResolvers<undefined>();
  #isAlive = true;

  constructor(
    pid: number,
    names: readonly string[],
    program: (life: ProgramLife, self: SimulatedProcess) => Promise<number>,
  ) {
    this.pid = pid;
    this.names = names;
    const ready = Promise.withResolvers<void>();
    this.ready = ready.promise;
    const end = program({ signal: this.#stopping.signal, ready: () => ready.resolve() }, this).catch(() => 1);
    this.gone = end.then(() => undefined);
    this.ended = Promise.race([end, this.#killed.promise]).finally(() => {
      this.#isAlive = false;
    });
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  /** Asks it to end. */
  stop(): void {
    this.#stopping.abort(new Error('the process was told to end'));
  }

  /** Ends it at once. What it still tries to do has no effect: see `whileAlive`. */
  kill(): void {
    this.#isAlive = false;
    this.#killed.resolve(undefined);
    this.stop();
  }
}

/** Nobody may be left who would hear of it. */
function dead(): Promise<never> {
  const refused = Promise.reject(new Error('this process is dead'));
  refused.catch(() => undefined);
  return refused;
}

/** Ports for one process: once it is dead, nothing that is left of it gets through to the host. */
export function whileAlive<T extends object>(port: T, process: Pick<SimulatedProcess, 'isAlive'>): T {
  return new Proxy(port, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      return (...inputs: unknown[]) => (process.isAlive ? (member.apply(target, inputs) as unknown) : dead());
    },
  });
}
