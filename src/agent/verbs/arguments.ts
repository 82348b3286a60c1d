import { AppError, shown } from '#base/errors.ts';
import { type FlagName, type FlagValues, flagOf, flags } from './flags.ts';

/** The part of a verb that the command line has to do with. */
export interface VerbLine {
  name: string;
  summary: string;
  required: readonly FlagName[];
  optional: readonly FlagName[];
}

export type Parsed<T extends VerbLine> =
  | { is: 'help'; verb: T | undefined }
  | { is: 'run'; verb: T; values: FlagValues };

/**
 * Reads `verb --name value`, also as `--name=value` and in any order. Whatever is not understood is refused before anything
 * is done.
 */
export function parseArguments<T extends VerbLine>(words: readonly string[], verbs: readonly T[]): Parsed<T> {
  const { names, given, help } = split(words);
  const [first, second, ...more] = names[0] === 'help' ? [names[1], names[2], ...names.slice(3)] : names;
  if (second !== undefined) throw usage(`${shown([second, ...more].join(' '))} is one word too many`);
  const verb = verbs.find(({ name }) => name === first);
  if (first !== undefined && verb === undefined) throw usage(`there is no verb ${shown(first)}`);
  if (help || names[0] === 'help' || (verb === undefined && given.size === 0)) return { is: 'help', verb };
  if (verb === undefined) throw usage('no verb is given');
  return { is: 'run', verb, values: valuesFor(verb, given) };
}

/** Asked before anything is parsed: also what is wrong with the command line is told in the form that was wanted. */
export function wantsJson(words: readonly string[]): boolean {
  return words.some((word, index) => {
    const [name, value] = cut(word);
    return (name === '-o' || name === '--output') && (value ?? words[index + 1]) === 'json';
  });
}

interface Split {
  names: string[];
  given: Map<FlagName, string>;
  help: boolean;
}

function split(words: readonly string[]): Split {
  const found: Split = { names: [], given: new Map(), help: false };
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? '';
    if (!word.startsWith('-')) found.names.push(word);
    else if (word === '-h' || word === '--help') found.help = true;
    else if (take(word, words[at + 1], found.given)) at += 1;
  }
  return found;
}

/** True when the next word is the value. */
function take(word: string, next: string | undefined, given: Split['given']): boolean {
  const [spelled, value] = cut(word);
  const name = spelled === '-o' ? 'output' : spelled.slice(2);
  if (!(spelled === '-o' || spelled.startsWith('--')) || !isFlagName(name)) {
    throw usage(`there is no flag ${shown(spelled)}`);
  }
  if (flagOf(name).value === undefined) {
    if (value !== undefined && value !== 'true' && value !== 'false') throw wrong(name, value, 'true or false');
    given.set(name, value ?? 'true');
    return false;
  }
  // A forgotten value must not swallow the flag behind it.
  if (value === undefined && (next === undefined || next.startsWith('-'))) throw usage(`--${name} has no value`);
  given.set(name, value ?? next ?? '');
  return value === undefined;
}

function valuesFor(verb: VerbLine, given: Split['given']): FlagValues {
  const known = new Set<FlagName>([...verb.required, ...verb.optional, 'output']);
  for (const [name, value] of given) {
    if (!known.has(name)) throw usage(`${verb.name} has no flag --${name}`);
    const expected = flagOf(name).wrong?.(value);
    if (expected !== undefined) throw wrong(name, value, expected);
  }
  const missing = verb.required.filter(name => (given.get(name) ?? '') === '');
  if (missing.length > 0) throw usage(`${verb.name} needs ${missing.map(name => `--${name}`).join(' and ')}`);
  const usual = Object.keys(flags).map(name => [name, defaultOf(name as FlagName)]);
  return { ...Object.fromEntries(usual), ...Object.fromEntries(given) } as FlagValues;
}

function defaultOf(name: FlagName): string {
  const { value, usual } = flagOf(name);
  return value === undefined ? 'false' : (usual ?? '');
}

function cut(word: string): [name: string, value: string | undefined] {
  const at = word.indexOf('=');
  return at === -1 ? [word, undefined] : [word.slice(0, at), word.slice(at + 1)];
}

function isFlagName(name: string): name is FlagName {
  return Object.hasOwn(flags, name);
}

function wrong(name: FlagName, value: string, expected: string): AppError {
  return usage(`--${name} is ${shown(value)}, not ${expected}`);
}

function usage(message: string): AppError {
  return new AppError('USAGE', message, { remedy: 'Add --help to see what is possible.' });
}
