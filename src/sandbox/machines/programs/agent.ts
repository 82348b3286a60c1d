import { createLineLog } from '#agent/log/file-log.ts';
import { runAgent, type Terminal } from '#agent/verbs/run.ts';
import { win32, windowsError } from '#agent/win32/win32-errors.ts';
import { agentName } from '#contract/names.ts';
import type { Program } from '../host/process.ts';
import type { ProgramHost } from './program-host.ts';

export interface AgentRun {
  path: string;
  /** Arguments. */
  words: readonly string[];
  version: string;
  startedBy: 'service manager' | 'user';
  terminal: Terminal;
}

/** Connections within one process do not fail silently. */
const pingIntervalMs = 60_000;

/** The real agent, on a simulated host. */
export function agentProgram({ path, words, version, startedBy, terminal }: AgentRun, host: ProgramHost): Program {
  return life => {
    const { ports, clock } = host;
    const log = createLineLog((_, line) => terminal.err(`${line}\n`), clock);
    return runAgent(
      words,
      {
        host: () => ports,
        client: { userAgent: `${agentName}/${version}`, pingIntervalMs },
        asService: async body => {
          if (startedBy === 'user')
            throw windowsError('StartServiceCtrlDispatcherW', `service ${agentName}`, win32.notStartedByManager);
          await body(life);
        },
        openLog: () => host.log,
        log,
        clock,
        signal: life.signal,
        version,
        runtime: 'sandbox windows/amd64',
        program: path,
        pid: host.pid,
      },
      terminal,
    );
  };
}
