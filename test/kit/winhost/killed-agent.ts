import { setTimeout as delay } from 'node:timers/promises';
import type { Journal } from '../../../src/agent/activation/journal.ts';
import { activationService, agentName } from '../../../src/contract/names.ts';
import { activationFile } from '../../../src/contract/paths.ts';
import { AgentService, parseState, readText } from './agent-service.ts';
import type { WindowsHost } from './host.ts';

/** Services of the agent: what their command lines have. */
const services = new Map([
  [agentName, 'controller'],
  [activationService, 'activate'],
]);

/** A new agent has a minute to report after a swap: killed all the time, it could not. */
const maxKillsOfReport = 2;
const appearanceMs = 120_000;

/** An agent that is killed again and again, and the part of Windows that starts its services again, which Wine lacks. */
export class KilledAgent {
  readonly host: WindowsHost;
  readonly #agent: AgentService;
  /** Processes of services that were seen to run: Wine keeps one that died while it started in that state for ever. */
  readonly #running = new Set<number>();
  #killsOfReport = 0;

  constructor(host: WindowsHost) {
    this.host = host;
    this.#agent = new AgentService(host);
  }

  /** Starts services again that crashed, until the signal. */
  async recover(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      for (const [name, verb] of services) {
        const pids = this.#agent.pids().filter(pid => isService(pid, verb));
        const { state, exitCode } = parseState((await this.host.exec(`sc.exe query ${name}`)).stdout);
        if (state === 'RUNNING') for (const pid of pids) this.#running.add(pid);
        if (state === 'STOPPED' && exitCode === 1067) await this.host.exec(`sc.exe start ${name}`);
      }
      await delay(500, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Kills what runs of it as soon as there is anything: its service, a swap of files, a command of the operator. */
  async kill(): Promise<void> {
    for (const endMs = performance.now() + appearanceMs; ; await delay(50)) {
      const isWatched = this.#isWatched();
      if (!isWatched) this.#killsOfReport = 0;
      if (this.#killsOfReport < maxKillsOfReport && this.#killAll() > 0) {
        if (isWatched) this.#killsOfReport += 1;
        return;
      }
      if (performance.now() > endMs) throw new Error(`no agent runs on ${this.host.name}`);
    }
  }

  #killAll(): number {
    return this.#agent.kill(pid => this.#running.has(pid) || !isService(pid));
  }

  #isWatched(): boolean {
    const text = this.host.drive.read(activationFile) ?? '{}';
    return (JSON.parse(text) as Partial<Journal>).phase === 'watch';
  }
}

function isService(pid: number, verb = ''): boolean {
  const line = readText(`/proc/${pid}/cmdline`);
  return line.includes('--windows-service') && line.includes(verb);
}
