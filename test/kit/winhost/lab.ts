import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from './command.ts';
import { type HostOptions, WindowsHost } from './host.ts';
import { makeParts, type Parts } from './parts.ts';

/** One run of tests with simulated Windows hosts in its own network. It is removed completely, whatever happens to the test. */
export class WindowsLab implements AsyncDisposable {
  readonly parts: Parts;
  /** Where the files of the hosts are while the lab runs. */
  readonly folder: string;
  readonly bridge: string;
  /** This machine as the hosts see it. */
  readonly address: string;
  readonly privateKeyFile: string;
  readonly #guard: ChildProcess;
  readonly #ended: Promise<unknown>;
  readonly #subnet: string;
  readonly #hosts: WindowsHost[] = [];

  private constructor(parts: Parts, guard: ChildProcess, number: string) {
    this.parts = parts;
    this.folder = join(parts.runs, number);
    this.bridge = `wmcow${number}`;
    this.#subnet = `10.99.${number}`;
    this.address = `${this.#subnet}.1`;
    this.privateKeyFile = join(this.folder, 'id_ed25519');
    this.#guard = guard;
    this.#ended = once(guard, 'exit');
  }

  static async start(): Promise<WindowsLab> {
    const parts = await makeParts();
    // Detached, so that Ctrl-C in the terminal does not reach it before its input ends.
    const guard = spawn(join(import.meta.dirname, 'guard.sh'), [parts.runs], {
      detached: true,
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    guard.stdin.on('error', () => undefined);
    const [printed] = (await Promise.race([once(guard.stdout, 'data'), once(guard, 'exit')])) as [Buffer | number];
    if (!Buffer.isBuffer(printed)) throw new Error('the Windows lab got no network, see the lines above');
    guard.unref();
    const lab = new WindowsLab(parts, guard, printed.toString().trim());
    await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', lab.privateKeyFile]);
    // Copies: a checkout may be edited, rebased or removed while its tests run, and sshd rejects a user without a shell.
    for (const script of ['supervisor.sh', 'shell.sh']) {
      await copyFile(join(import.meta.dirname, script), join(lab.folder, script));
    }
    return lab;
  }

  /** The process that cleans up when this one is gone. */
  get guardPid(): number | undefined {
    return this.#guard.pid;
  }

  /** A host that is switched on and answers. */
  async createHost(options: HostOptions = {}): Promise<WindowsHost> {
    const number = this.#hosts.length + 1;
    const host = new WindowsHost(this, {
      name: `win-${number}`,
      ...options,
      address: `${this.#subnet}.${10 + number}`,
      link: `${this.bridge}h${number}`,
    });
    this.#hosts.push(host);
    await host.create();
    await host.start();
    return host;
  }

  get hosts(): readonly WindowsHost[] {
    return this.#hosts;
  }

  /** Ends the hosts and removes everything; a second time is fine. */
  async stop(): Promise<void> {
    this.#guard.ref();
    this.#guard.stdin?.end();
    await this.#ended;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}
