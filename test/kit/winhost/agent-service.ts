import { readdirSync, readFileSync } from 'node:fs';
import { join, normalize } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { messageOf } from '../../../src/base/errors.ts';
import { agentName } from '../../../src/contract/names.ts';
import { dir } from '../../../src/contract/paths.ts';
import type { WindowsHost } from './host.ts';

/** The agent as an administrator of the host sees it: a Windows service, its processes and its log. */
export class AgentService {
  readonly #host: WindowsHost;

  constructor(host: WindowsHost) {
    this.#host = host;
  }

  /** Returns when Windows has started its process. */
  async start(): Promise<void> {
    await this.#host.run(`sc.exe start ${agentName}`);
  }

  /** Stops it; gives how long it takes until Windows reports it and its process is gone. */
  async stop(limitMs = 40_000): Promise<number> {
    const startMs = performance.now();
    await this.#host.run(`sc.exe stop ${agentName}`);
    await this.ended(limitMs);
    return performance.now() - startMs;
  }

  /** Waits until it has no process and Windows knows. */
  async ended(limitMs = 40_000): Promise<void> {
    for (const endMs = performance.now() + limitMs; performance.now() < endMs; await delay(200)) {
      if (this.pids().length === 0 && (await this.state()) === 'STOPPED') return;
    }
    throw new Error(`the agent on ${this.#host.name} is ${await this.state()} after ${limitMs} ms`);
  }

  async state(): Promise<string> {
    return (await this.#query()).state;
  }

  /** What Windows has as its last exit code; 1067 after a crash. */
  async exitCode(): Promise<number> {
    return (await this.#query()).exitCode;
  }

  /** Ids on this machine of all processes of the agent, those of one-shot commands too. */
  pids(): number[] {
    const prefix = join(this.#host.drive.root, '..');
    return youngProcesses().flatMap(pid => (isAgent(pid, prefix) ? [pid] : []));
  }

  /** Ends them all at once, or those that may be, as a crash would; gives how many there were. */
  kill(mayEnd: (pid: number) => boolean = () => true): number {
    return this.pids().filter(pid => mayEnd(pid) && end(pid)).length;
  }

  log(severity: 'INFO' | 'WARNING' | 'ERROR' = 'INFO'): string[] {
    const text = this.#host.drive.read(`${dir.agentLog}\\${agentName}.exe.${severity}`) ?? '';
    return text.split('\n').filter(Boolean);
  }

  /** Adds the last log lines of the agent to an error. */
  explain(error: unknown): never {
    const lines = this.log().slice(-40).join('\n');
    throw new Error(`${messageOf(error)}; the agent on ${this.#host.name} logged last:\n${lines}`, { cause: error });
  }

  async #query(): Promise<ServiceState> {
    return parseState(await this.#host.run(`sc.exe query ${agentName}`));
  }
}

export interface ServiceState {
  state: string;
  /** 1067 after a crash. */
  exitCode: number;
}

/** From the output of `sc.exe query`. */
export function parseState(text: string): ServiceState {
  const state = /STATE\s+: \d+ +(\w+)/.exec(text)?.[1] ?? '';
  return { state, exitCode: Number(/WIN32_EXIT_CODE\s+: (\d+)/.exec(text)?.[1]) };
}

/** When processes were seen first; those of agents are forgotten. Tests look many times a second, and there are hundreds. */
const others = new Map<number, number>();
/** From then on a process does not become another program. */
const settledMs = 30_000;

/** All processes of this machine that are an agent or may become one. */
function youngProcesses(): number[] {
  const now = performance.now();
  const pids = readdirSync('/proc').flatMap(name => (/^\d+$/.test(name) ? [Number(name)] : []));
  const alive = new Set(pids);
  for (const pid of others.keys()) if (!alive.has(pid)) others.delete(pid);
  return pids.filter(pid => {
    const sinceMs = others.get(pid) ?? now;
    others.set(pid, sinceMs);
    return now - sinceMs < settledMs;
  });
}

function isAgent(pid: number, prefix: string): boolean {
  const [program = ''] = readText(`/proc/${pid}/cmdline`).split('\0');
  if (!program.endsWith(`\\${agentName}.exe`)) return false;
  others.delete(pid);
  const variables = readText(`/proc/${pid}/environ`).split('\0');
  const value = variables.find(text => text.startsWith('WINEPREFIX='))?.slice('WINEPREFIX='.length);
  return value !== undefined && normalize(value) === prefix;
}

function end(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL');
  } catch {
    return false;
  }
}

/** '' for a process that is gone meanwhile. */
export function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
