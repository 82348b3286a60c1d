import { withHostLock } from '../lock/host-lock.ts';
import { parseTerm } from '../lock/leader.ts';
import type { HostPorts } from '../ports.ts';
import { verbs } from './all.ts';
import { parseArguments, wantsJson } from './arguments.ts';
import { asAppError, failureData, failureText } from './failure.ts';
import type { FlagValues } from './flags.ts';
import type { Answer, Verb, VerbDeps } from './verb.ts';

export interface Terminal {
  out(text: string): void;
  err(text: string): void;
}

/** Runs one command line and gives the exit code. Never rejects. */
export async function runAgent(words: readonly string[], deps: VerbDeps, terminal: Terminal): Promise<0 | 1> {
  const isJson = wantsJson(words);
  let host: HostPorts | undefined;
  try {
    const parsed = parseArguments(words, verbs);
    if (parsed.is === 'help') {
      terminal.out(parsed.text);
      return 0;
    }
    const answer = await runVerb(parsed.verb, parsed.values, { ...deps, host: () => (host ??= deps.host()) });
    if (answer !== undefined) terminal.out(isJson ? json(answer.data) : `${answer.text}\n`);
    return 0;
  } catch (thrown) {
    const error = asAppError(thrown, deps.signal.aborted);
    terminal.err(`${failureText(error)}\n`);
    if (isJson) terminal.out(json(failureData(error)));
    return 1;
  }
}

/** A Windows service takes the lock itself: it has to answer the service manager before it may wait. */
async function runVerb(verb: Verb, values: FlagValues, deps: VerbDeps): Promise<Answer | undefined> {
  if (verb.changesHost !== true || values['windows-service'] === 'true') return verb.run(values, deps);
  const leader = parseTerm(values.leader);
  return withHostLock({ what: verb.name, leader }, { ...deps, ports: deps.host() }, () => verb.run(values, deps));
}

function json(data: unknown): string {
  return `${JSON.stringify(data, undefined, 2)}\n`;
}
