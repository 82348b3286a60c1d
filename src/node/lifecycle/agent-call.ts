import { type ErrorCode, errorCodes } from '#base/error-codes.ts';
import { backoffMs } from '#base/waiting/backoff.ts';
import { AppError, attempt, shown } from '#base/errors.ts';
import { Fields, jsonIn } from '#base/fields.ts';
import type { CommandResult } from '#host/host.ts';
import type { HostSession } from './host-session.ts';
import type { StepTurn } from './step.ts';

export interface AgentCall {
  host: HostSession;
  /** How messages name the host. */
  address: string;
  command: string;
  signal: AbortSignal;
  timeoutMs: number;
  /** Reports that another command runs on the host. */
  note?: StepTurn['note'];
}

/** Ten times a full inventory. */
const maxOutputBytes = 8 * 1024 * 1024;

const busyPauses = { firstMs: 1000, maxMs: 5000 } as const;

/**
 * Runs a command of the agent and returns its standard output. Fails with the error that the agent reports. While another command changes
 * the host, it waits, until the signal is aborted: a former leader may have started that one, or a connection that broke.
 */
export async function callAgent(call: AgentCall): Promise<string> {
  const { host, address, command, signal, timeoutMs, note } = call;
  for (let tries = 1; ; tries += 1) {
    const result = await host.exec(command, { signal, timeoutMs, maxOutputBytes });
    const failure = result.exitCode === 0 ? undefined : failureOf(result, address, verbOf(command));
    if (failure?.code === 'HOST_BUSY') {
      note?.(`waiting for another command on the host (${failure.message})`, failure);
      await host.pause(backoffMs(busyPauses, tries), signal);
      continue;
    }
    if (tries > 1) note?.(undefined);
    if (failure !== undefined) throw failure;
    return result.stdout;
  }
}

/** Like callAgent, for commands that print one JSON document. */
export async function askAgent(call: AgentCall): Promise<Fields> {
  const { address, command } = call;
  const text = await callAgent(call);
  const answer = attempt(() => new Fields(documentIn(text), `answer of ${verbOf(command)} on ${address}`));
  if (answer.ok) return answer.value;
  throw new AppError('AGENT_ANSWER_INVALID', `${address}: ${verbOf(command)} did not print a JSON document`, {
    remedy: `Run ${shown(command)} on the host to see what it prints.`,
  });
}

/** The error that the agent reports, as JSON on standard output or as text on standard error; otherwise the exit code. */
function failureOf({ exitCode, stdout, stderr }: CommandResult, address: string, verb: string): AppError {
  const reported = errorInJson(stdout) ?? errorInText(stderr);
  if (reported !== undefined) {
    return new AppError(reported.code, `${address}: ${verb}: ${reported.message}`, { remedy: reported.remedy });
  }
  const output = stderr.trim() || stdout.trim();
  const printed = output === '' ? '' : ` and printed ${shown(output)}`;
  return new AppError('AGENT_COMMAND_FAILED', `${address}: ${verb} failed with exit code ${exitCode}${printed}`, {
    remedy: `Run the agent with ${verb} on the host to see its output.`,
  });
}

interface ReportedError {
  code: ErrorCode;
  message: string;
  remedy: string;
}

function errorInJson(text: string): ReportedError | undefined {
  const read = attempt(() => {
    const error = new Fields(documentIn(text), 'answer').object('error');
    return {
      code: error.requiredString('code'),
      message: error.requiredString('message'),
      remedy: error.requiredString('remedy'),
    };
  });
  return read.ok ? checkCode(read.value) : undefined;
}

function errorInText(text: string): ReportedError | undefined {
  const [, code = '', message = '', remedy = ''] =
    /^(?:error: )?([A-Z][A-Z0-9_]+): (.*)\n {2}-> (.*)$/m.exec(text.replaceAll('\r', '')) ?? [];
  return checkCode({ code, message, remedy });
}

/** An unknown code is not from the agent. */
function checkCode({ code, message, remedy }: Record<keyof ReportedError, string>): ReportedError | undefined {
  return Object.hasOwn(errorCodes, code) ? { code: code as ErrorCode, message, remedy } : undefined;
}

/** An empty string, which is no object, when the text is not JSON. */
function documentIn(text: string): unknown {
  const value = jsonIn(text);
  return value === undefined ? '' : value;
}

function verbOf(command: string): string {
  return command.split(' ')[1] ?? command;
}
