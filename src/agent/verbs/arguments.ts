import {
  commandHelp,
  type CommandLine,
  type Flag,
  parseCommandLine,
  pickCommand,
  programHelp,
} from '#base/command-line.ts';
import { agentName } from '#contract/names.ts';
import { type FlagName, type FlagValues, flagOf, flags } from './flags.ts';

/** What the command line knows about a verb. */
export interface VerbLine {
  name: string;
  summary: string;
  required: readonly FlagName[];
  optional: readonly FlagName[];
  /** Only one such verb runs at a time, and none for an operator that leads no more. */
  changesHost?: true;
}

export type Parsed<T extends VerbLine> = { is: 'help'; text: string } | { is: 'run'; verb: T; values: FlagValues };

const program = `${agentName}.exe`;
const exitCodes = 'Exit code: 0 success, 1 failure; the error and its remedy are printed to standard error.';

/** Anything unknown is rejected before the verb runs. */
export function parseArguments<T extends VerbLine>(words: readonly string[], verbs: readonly T[]): Parsed<T> {
  const picked = pickCommand(program, verbs, words);
  if (picked === undefined) return { is: 'help', text: programHelp(program, about, verbs, [exitCodes]) };
  const [verb, rest] = picked;
  const line = lineOf(verb);
  const parsed = parseCommandLine(line, rest);
  if (parsed === undefined) return { is: 'help', text: commandHelp(line) };
  return { is: 'run', verb, values: { ...defaults, ...parsed.values } };
}

/** Asked before anything is parsed: an error about the command line is printed in the requested form, too. */
export function wantsJson(words: readonly string[]): boolean {
  return /(^| )(-o[ =]?|--?output[ =])json( |$)/.test(words.join(' '));
}

const about = 'configures this Windows host as its cluster requests';

/** Flags that a verb does not have read as not given. */
const defaults = Object.fromEntries(
  (Object.keys(flags) as FlagName[]).map(name => [
    name,
    flagOf(name).value === undefined ? 'false' : (flagOf(name).default ?? ''),
  ]),
) as FlagValues;

function lineOf({ name, summary, required, optional, changesHost }: VerbLine): CommandLine {
  const names: FlagName[] = [...required, ...optional, ...(changesHost ? (['leader'] as const) : []), 'output'];
  const own: Record<string, Flag> = Object.fromEntries(names.map(flag => [flag, flagOf(flag)]));
  return { name: `${program} ${name}`, summary, flags: own, required, details: exitCodes };
}
