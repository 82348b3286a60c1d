/** Lifecycle of a running program. */
export interface ProgramLife {
  /** Aborted to stop it. */
  signal: AbortSignal;
  /** Reports to the service manager that it is running. */
  ready(): void;
}

/** A program of a simulated host; resolves with its exit code. */
export type Program = (life: ProgramLife) => Promise<number>;

export class SimulatedProcess {
  readonly pid: number;
  /** Program names as in Task Manager: `kubelet.exe`. */
  readonly names: readonly string[];
  /** Resolves when it reports running. */
  readonly ready: Promise<void>;
  /** Resolves with the exit code; undefined if it was killed. */
  readonly ended: Promise<number | undefined>;
  /** Resolves when its program has returned, also after a kill. */
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

  stop(): void {
    this.#stopping.abort(new Error('process stopped'));
  }

  /** Ends it at once; see `whileAlive` for what it still tries to do. */
  kill(): void {
    this.#isAlive = false;
    this.#killed.resolve(undefined);
    this.stop();
  }
}

/** The rejection may never be handled. */
function dead(): Promise<never> {
  const rejection = Promise.reject(new Error('process has ended'));
  rejection.catch(() => undefined);
  return rejection;
}

/** Ports of one process that reject calls once it is dead. */
export function whileAlive<T extends object>(port: T, process: Pick<SimulatedProcess, 'isAlive'>): T {
  return withCalls(
    port,
    (_, call) =>
      (...inputs) =>
        process.isAlive ? call(...inputs) : dead(),
  );
}

type Call = (...inputs: unknown[]) => unknown;

/** A port whose methods are replaced. */
export function withCalls<T extends object>(port: T, replace: (name: string | symbol, call: Call) => Call): T {
  return new Proxy(port, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === 'function' ? replace(name, member.bind(target) as Call) : member;
    },
  });
}
