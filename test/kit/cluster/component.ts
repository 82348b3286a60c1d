import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

export interface ComponentSpec {
  name: string;
  binary: string;
  args: readonly string[];
  /** Throws or gives false until the component can be used. */
  ready(): Promise<boolean>;
}

/** Kills the components by their process ids and removes the folder when this process ends, however it ends. */
export class Guard {
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;

  constructor(folder: string) {
    // Detached, so that Ctrl-C in the terminal does not reach it before its input ends.
    this.#child = spawn('/bin/sh', [join(import.meta.dirname, 'guard.sh'), folder], {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    this.#ended = once(this.#child, 'exit');
    this.#child.stdin?.on('error', () => undefined);
    this.#child.unref();
  }

  watch(pid: number): void {
    this.#child.stdin?.write(`${pid}\n`);
  }

  async release(): Promise<void> {
    this.#child.ref();
    this.#child.stdin?.end();
    await this.#ended;
  }
}

/** One program of the cluster: started, killed and started again with the same arguments. */
export class Component {
  readonly #spec: ComponentSpec;
  readonly #folder: string;
  readonly #guard: Guard;
  #child: ChildProcess | undefined;
  #exited: Promise<unknown> = Promise.resolve();

  constructor(spec: ComponentSpec, folder: string, guard: Guard) {
    this.#spec = spec;
    this.#folder = folder;
    this.#guard = guard;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  async start(timeoutMs: number): Promise<void> {
    const { name, binary, args } = this.#spec;
    const child = spawn(binary, [...args], { detached: true, stdio: ['ignore', 'pipe', 'pipe'], cwd: this.#folder });
    this.#child = child;
    this.#exited = new Promise(resolve => child.once('exit', resolve).once('error', resolve));
    if (child.pid === undefined) throw new Error(`${name} cannot be started from ${binary}`);
    this.#guard.watch(child.pid);
    const log = createWriteStream(this.#logPath, { flags: 'a' });
    child.stdout?.pipe(log, { end: false });
    child.stderr?.pipe(log, { end: false });
    child.once('close', () => log.end());
    await this.#untilReady(performance.now() + timeoutMs);
  }

  /** Sends SIGKILL; resolves when the process is gone. */
  async kill(): Promise<void> {
    this.#child?.kill('SIGKILL');
    await this.#exited;
  }

  async #untilReady(deadlineMs: number): Promise<void> {
    while (performance.now() < deadlineMs) {
      if (this.#child?.exitCode !== null) throw new Error(`${this.#spec.name} ended at once:\n${this.#lastLines()}`);
      if (await this.#spec.ready().catch(() => false)) return;
      await delay(50);
    }
    throw new Error(`${this.#spec.name} was not ready in time:\n${this.#lastLines()}`);
  }

  get #logPath(): string {
    return join(this.#folder, `${this.#spec.name}.log`);
  }

  #lastLines(): string {
    return readFileSync(this.#logPath, 'utf8').split('\n').slice(-15).join('\n');
  }
}
