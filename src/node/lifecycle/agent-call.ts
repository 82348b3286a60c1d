import { type ErrorCode, errorCodes } from '#base/error-codes.ts';
import { AppError, attempt, shown } from '#base/errors.ts';
import { Fields } from '#base/fields.ts';
import type { CommandResult } from '#host/host.ts';
import type { HostSession } from './host-session.ts';

export interface AgentCall {
  host: HostSession;
  /** How messages name the host. */
  address: string;
  command: string;
  signal: AbortSignal;
  timeoutMs: number;
}

/** A whole inventory with all its hashes is a tenth of it. */
const maxOutputBytes = 8 * 1024 * 1024;

/** Runs a command of the agent and gives what it printed. Its failure is told in its own words. */
export async function callAgent({ host, address, command, signal, timeoutMs }: AgentCall): Promise<string> {
  const result = await host.exec(command, { signal, timeoutMs, maxOutputBytes });
  if (result.exitCode !== 0) throw failureOf(result, address, verbOf(command));
  return result.stdout;
}

/** As callAgent, for commands that answer with one JSON document. */
export async function askAgent(call: AgentCall): Promise<Fields> {
  const { address, command } = call;
  const text = await callAgent(call);
  const answer = attempt(() => new Fields(parseJson(text), `answer of ${verbOf(command)} on ${address}`));
  if (answer.ok) return answer.value;
  throw new AppError('AGENT_ANSWER_INVALID', `${address}: ${verbOf(command)} did not answer with a JSON document`, {
    remedy: `Run ${shown(command)} on the host to see what it prints.`,
  });
}

/** What the agent says of a failure, in JSON on standard output or in words on standard error; otherwise the exit code. */
function failureOf({ exitCode, stdout, stderr }: CommandResult, address: string, verb: string): AppError {
  const told = fromJson(stdout) ?? fromWords(stderr);
  if (told !== undefined) {
    return new AppError(told.code, `${address}: ${verb}: ${told.message}`, { remedy: told.remedy });
  }
  const words = stderr.trim() || stdout.trim();
  const said = words === '' ? '' : ` and said ${shown(words)}`;
  return new AppError('AGENT_COMMAND_FAILED', `${address}: ${verb} ended with exit code ${exitCode}${said}`, {
    remedy: `Run the agent with ${verb} on the host to see more.`,
  });
}

interface Told {
  code: ErrorCode;
  message: string;
  remedy: string;
}

function fromJson(text: string): Told | undefined {
  const read = attempt(() => {
    const error = new Fields(parseJson(text), 'answer').object('error');
    return {
      code: error.requiredString('code'),
      message: error.requiredString('message'),
      remedy: error.requiredString('remedy'),
    };
  });
  return read.ok ? known(read.value) : undefined;
}

function fromWords(text: string): Told | undefined {
  const [, code = '', message = '', remedy = ''] =
    /^(?:error: )?([A-Z][A-Z0-9_]+): (.*)\n {2}-> (.*)$/m.exec(text.replaceAll('\r', '')) ?? [];
  return known({ code, message, remedy });
}

/** Words of something that is not our agent are not passed on as if they were. */
function known({ code, message, remedy }: Record<keyof Told, string>): Told | undefined {
  return Object.hasOwn(errorCodes, code) ? { code: code as ErrorCode, message, remedy } : undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return '';
  }
}

function verbOf(command: string): string {
  return command.split(' ')[1] ?? command;
}
