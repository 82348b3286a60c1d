import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';

/** Of the output, for the error of a program that has exited. */
const lastCharacters = 2000;

/** A program in a child process that answers requests. */
export class Child implements AsyncDisposable {
  readonly #process: ChildProcess;
  readonly #name: string;
  readonly #printed: string;
  readonly #ended: Promise<unknown>;

  /** File for its output. */
  constructor(program: string, options: object, printed: string) {
    const output = openSync(printed, 'a');
    this.#printed = printed;
    this.#name = program.slice(program.lastIndexOf('/') + 1);
    const stdio = ['ignore', output, output, 'ipc'] as const;
    this.#process = fork(program, [JSON.stringify(options)], {
      stdio: [...stdio],
      execArgv: profiling(this.#name),
    });
    this.#ended = once(this.#process, 'exit');
    closeSync(output);
  }

  /** Sends the word, if any, and resolves with the next message. */
  async hear<T>(word?: string | object): Promise<T> {
    const ended = this.#ended.then(() => {
      throw new Error(`${this.#name} has exited: ${readFileSync(this.#printed, 'utf8').slice(-lastCharacters)}`);
    });
    const answer = once(this.#process, 'message');
    if (word !== undefined) this.#process.send(word);
    const [said] = (await Promise.race([answer, ended])) as [T];
    return said;
  }

  get hasEnded(): boolean {
    return this.#process.exitCode !== null || this.#process.signalCode !== null;
  }

  async kill(signal: 'SIGKILL' | 'SIGTERM' = 'SIGKILL'): Promise<void> {
    if (this.hasEnded) return;
    this.#process.kill(signal);
    await this.#ended;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.kill();
  }
}

/** With `PROFILE=FOLDER` each process writes a CPU profile when it is stopped. */
function profiling(name: string): string[] {
  const folder = process.env['PROFILE'];
  return folder === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${folder}/${name}`];
}
