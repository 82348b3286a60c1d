import { mkdir } from 'node:fs/promises';
import type { Drive } from './drive.ts';

/** What happened to a service double, as it wrote it down itself. */
export interface ServiceEvent {
  time: string;
  event: 'start' | 'running' | 'fails' | 'crash' | 'ignores-stop' | 'stopping' | 'stopped';
  pid: number;
  command: string;
  /** Names of the variables of interest that were set. */
  environment: string[];
}

export type Fault = 'fail-start' | 'slow-start' | 'slow-stop' | 'ignore-stop' | 'crash-after';

export interface ScriptAnswer {
  /** A part of the script that this answer is for. */
  match: string;
  out?: string;
  err?: string;
  code?: number;
  delayMs?: number;
}

/** The folder C:\lab of a host, through which tests and doubles talk to each other. */
export class LabFiles {
  readonly #drive: Drive;

  constructor(drive: Drive) {
    this.#drive = drive;
  }

  async create(features: Readonly<Record<string, string>>): Promise<void> {
    for (const folder of ['host', 'services', 'faults', 'hns\\networks', 'hns\\endpoints', 'powershell', 'features']) {
      await mkdir(this.#drive.path(`C:\\lab\\${folder}`), { recursive: true });
    }
    for (const [name, state] of Object.entries(features)) await this.#drive.write(`C:\\lab\\features\\${name}`, state);
  }

  /** Calls of programs and functions without a double; a test asserts that there are none. */
  unexpected(): string[] {
    return this.#lines('unexpected.log');
  }

  serviceEvents(service: string): ServiceEvent[] {
    return this.#lines(`services\\${service}.log`).map(line => JSON.parse(line) as ServiceEvent);
  }

  async setFault(service: string, fault: Fault, ms: number): Promise<void> {
    await this.#drive.write(`C:\\lab\\faults\\${service}.${fault}`, `${ms}`);
  }

  async clearFaults(): Promise<void> {
    for (const name of this.#drive.list('C:\\lab\\faults')) await this.#drive.remove(`C:\\lab\\faults\\${name}`);
  }

  /** Command lines of shutdown.exe. */
  shutdowns(): string[] {
    return this.#lines('host\\shutdown.log');
  }

  /** Scripts that PowerShell was asked to run. */
  scripts(): string[] {
    return this.#lines('powershell\\calls.log');
  }

  async answerScript(name: string, answer: ScriptAnswer): Promise<void> {
    const parts = { match: answer.match, out: answer.out, err: answer.err, code: answer.code, delay: answer.delayMs };
    for (const [part, value] of Object.entries(parts)) {
      if (value !== undefined) await this.#drive.write(`C:\\lab\\powershell\\${name}.${part}`, `${value}`);
    }
  }

  /** Calls of the Host Networking Service, as `METHOD PATH REQUEST`. */
  networkCalls(): string[] {
    return this.#lines('hns\\calls.log');
  }

  /** Makes every call of the Host Networking Service fail with this text. */
  async failNetworkCalls(error: string | undefined): Promise<void> {
    const path = 'C:\\lab\\faults\\hns.error';
    await (error === undefined ? this.#drive.remove(path) : this.#drive.write(path, error));
  }

  /** Subnet of the network that the double of hybrid-overlay-node makes, and how long it takes to do so. */
  async setOverlay(subnet: string, delayMs = 0): Promise<void> {
    await this.#drive.write('C:\\lab\\hns\\subnet', subnet);
    await this.#drive.write('C:\\lab\\hns\\delay', `${delayMs}`);
  }

  #lines(name: string): string[] {
    return (this.#drive.read(`C:\\lab\\${name}`) ?? '').split('\n').filter(Boolean);
  }
}
