import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { appendFile, copyFile, mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Outcome, run, type RunOptions, runToEnd } from './command.ts';
import { Drive } from './drive.ts';
import { writeHostFiles } from './host-files.ts';
import { LabFiles } from './lab-files.ts';
import type { WindowsLab } from './lab.ts';

export interface HostOptions {
  /** `win-1`, `win-2` … when absent; at most 15 characters, as on Windows. */
  name?: string;
  /** Names the host can resolve, beside its own, `gateway` and `apiserver.test`, which are this machine. */
  hosts?: Readonly<Record<string, string>>;
  /** How long the host stays off in a reboot; 500 when absent. */
  bootDelayMs?: number;
  /** State of the Windows feature Containers; a bare Windows Server does not have it. */
  containers?: 'Enabled' | 'Disabled';
}

type Identity = HostOptions & { name: string; address: string; link: string };

/** Also on a busy machine. */
const bootTimeoutMs = 180_000;

/** A simulated Windows Server: Wine and OpenSSH in their own namespaces, with a power switch. */
export class WindowsHost {
  readonly name: string;
  readonly address: string;
  readonly privateKeyFile: string;
  readonly user = 'Administrator';
  /** Drive C, seen from Linux. */
  readonly drive: Drive;
  /** Logs and settings of the doubles on this host. */
  readonly lab: LabFiles;
  readonly #lab: WindowsLab;
  readonly #options: Identity;
  readonly #folder: string;
  #process: ChildProcess | undefined;
  #ended: Promise<unknown> = Promise.resolve();

  constructor(lab: WindowsLab, options: Identity) {
    this.#lab = lab;
    this.#options = options;
    this.#folder = join(lab.folder, options.name);
    this.name = options.name;
    this.address = options.address;
    this.privateKeyFile = lab.privateKeyFile;
    this.drive = new Drive(join(this.#folder, 'prefix', 'drive_c'));
    this.lab = new LabFiles(this.drive);
  }

  /** The public host key of its SSH server, as it stands in known_hosts behind the address. */
  get hostKey(): string {
    return readFileSync(join(this.#folder, 'hostkey.pub'), 'utf8').split(' ').slice(0, 2).join(' ');
  }

  /** How often it has booted. */
  get boots(): number {
    return Number(this.#read('boots') || 0);
  }

  /** Wine's messages about calls that it does not implement, such as failure actions of a service. */
  get fixmes(): string[] {
    return this.#read('wine.log')
      .split('\n')
      .filter(line => line.includes(':fixme:'));
  }

  async create(): Promise<void> {
    const { template, doubles } = this.#lab.parts;
    const prefix = join(this.#folder, 'prefix');
    await mkdir(this.#folder);
    // Hard links: 30 ms instead of half a second. Only the registry is written in place.
    await run('cp', ['-al', template, prefix]);
    await run('cp', [
      '--remove-destination',
      ...['system.reg', 'user.reg', 'userdef.reg'].map(name => join(template, name)),
      prefix,
    ]);
    await run('cp', ['-al', '--remove-destination', `${doubles}/.`, this.drive.root]);
    await this.lab.create({ Containers: this.#options.containers ?? 'Disabled' });
    await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(this.#folder, 'hostkey')]);
    await appendFile(join(this.#lab.folder, 'known_hosts'), `${this.address} ${this.hostKey}\n`);
    await writeHostFiles({
      ...this.#options,
      folder: this.#folder,
      gateway: this.#lab.address,
      wine: this.#lab.parts.wine,
      shell: join(this.#lab.folder, 'shell.sh'),
      publicKeyFile: `${this.privateKeyFile}.pub`,
    });
  }

  /** Switches it on; resolves when SSH answers. */
  async start(): Promise<void> {
    if (this.#process !== undefined) throw new Error(`${this.name} is already on`);
    const before = this.boots;
    await rm(join(this.#folder, 'waits-for-link'), { force: true });
    const log = openSync(join(this.#folder, 'supervisor.log'), 'a');
    const namespaces = ['--mount', '--uts', '--pid', '--net', '--fork', '--kill-child', '--mount-proc'];
    // The guard knows the process by the folder. The host must not get variables of this process, such as a proxy.
    const child = spawn('unshare', [...namespaces, join(this.#lab.folder, 'supervisor.sh'), `${this.#folder}/`], {
      detached: true,
      stdio: ['ignore', log, log],
      env: { PATH: process.env['PATH'] },
    });
    closeSync(log);
    this.#process = child;
    this.#ended = new Promise(resolve => child.once('exit', resolve).once('error', resolve));
    await this.#until(() => existsSync(join(this.#folder, 'waits-for-link')), 'its network');
    const { link } = this.#options;
    const peer = ['peer', 'name', 'eth0', 'address', macOf(this.address), 'netns', `${child.pid}`];
    await run('ip', ['link', 'add', link, 'type', 'veth', ...peer]);
    await run('ip', ['link', 'set', link, 'master', this.#lab.bridge, 'up']);
    await this.waitForBoot(before + 1);
  }

  /** Resolves when it has booted that often. */
  async waitForBoot(count: number): Promise<void> {
    await this.#until(() => this.boots >= count, `boot ${count}`);
  }

  /** A clean reboot by shutdown.exe. */
  async reboot(): Promise<void> {
    const before = this.boots;
    await this.exec('shutdown.exe /r /t 0');
    await this.waitForBoot(before + 1);
  }

  /** A power cut: all processes are gone at once, and what the registry had not written yet is lost. */
  async cut(): Promise<void> {
    if (this.#process === undefined) return;
    const { pid, exitCode } = this.#process;
    // Killing the first process inside ends all others before the one outside does.
    const first = exitCode === null ? readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ')[0] : '';
    if (first) process.kill(Number(first), 'SIGKILL');
    await this.#ended;
    this.#process = undefined;
    // Linux removes the link with the namespace, but later than we may want to make it again.
    await runToEnd('ip', ['link', 'del', this.#options.link]);
  }

  async destroy(): Promise<void> {
    await this.cut();
    await rm(this.#folder, { recursive: true, force: true });
  }

  /** Runs a command by cmd.exe through SSH, as the operator does. */
  exec(command: string, options?: RunOptions): Promise<Outcome> {
    return runToEnd('ssh', [...this.#sshOptions, `${this.user}@${this.address}`, command], options);
  }

  /** The same for a command that must succeed; gives its output with plain line ends and without blanks around. */
  async run(command: string, options?: RunOptions): Promise<string> {
    const { code, stdout, stderr } = await this.exec(command, options);
    if (code !== 0) throw new Error(`${command} on ${this.name} ended with ${code}: ${stderr.trim() || stdout.trim()}`);
    return stdout.replaceAll('\r\n', '\n').trim();
  }

  /** Runs a program of Linux in its network, with its names, e.g. to play a service that only this host reaches. */
  enter(program: string, args: readonly string[], options?: RunOptions): Promise<Outcome> {
    const pid = this.#process?.pid;
    if (pid === undefined) throw new Error(`${this.name} is off`);
    return runToEnd('nsenter', ['--target', `${pid}`, '--mount', '--uts', '--net', program, ...args], options);
  }

  /** Copies a file of this machine to it, by SFTP as the operator does. */
  async upload(file: string, windowsPath: string): Promise<void> {
    const target = `${this.user}@${this.address}:${windowsPath.replaceAll('\\', '/')}`;
    await run('scp', [...this.#sshOptions, file, target]);
  }

  /** The command line for a login. */
  get sshLine(): string {
    return ['ssh', ...this.#sshOptions, `${this.user}@${this.address}`].join(' ');
  }

  /** Installs a double, e.g. `service.exe` as `C:\k\kubelet.exe`. */
  async install(double: string, windowsPath: string): Promise<void> {
    const target = this.drive.path(windowsPath);
    await mkdir(dirname(target), { recursive: true });
    await rm(target, { force: true });
    await copyFile(join(this.#lab.parts.doubles, 'lab', 'programs', double), target);
  }

  get #sshOptions(): string[] {
    const options = {
      UserKnownHostsFile: join(this.#lab.folder, 'known_hosts'),
      StrictHostKeyChecking: 'yes',
      BatchMode: 'yes',
      ConnectTimeout: '10',
      // Cheap to compute: hundreds of connections per run.
      KexAlgorithms: 'curve25519-sha256',
      // A host that was switched off does not close connections.
      ServerAliveInterval: '5',
      // Errors of the connection itself, so that a 255 in a test report has its reason beside it.
      LogLevel: 'ERROR',
    };
    return [
      '-F',
      'none',
      '-i',
      this.privateKeyFile,
      ...Object.entries(options).flatMap(([key, value]) => ['-o', `${key}=${value}`]),
    ];
  }

  #read(name: string): string {
    const path = join(this.#folder, name);
    return existsSync(path) ? readFileSync(path, 'utf8') : '';
  }

  async #until(isReached: () => boolean, what: string): Promise<void> {
    const deadline = performance.now() + bootTimeoutMs;
    while (!isReached()) {
      if (this.#process?.exitCode !== null || performance.now() > deadline) {
        const logs = `${this.#read('supervisor.log')}${this.#read('sshd.log')}`.split('\n').slice(-15).join('\n');
        throw new Error(`${this.name} did not reach ${what}:\n${logs}`);
      }
      await delay(50);
    }
  }
}

/** The same in every boot, because others cache it. */
function macOf(address: string): string {
  const bytes = address
    .split('.')
    .slice(2)
    .map(part => Number(part).toString(16).padStart(2, '0'));
  return `02:99:00:01:${bytes.join(':')}`;
}
