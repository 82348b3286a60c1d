import { closestWord } from './closest.ts';
import { AppError, shown } from './errors.ts';

/** One flag of a command; parser and help are generated from it. */
export interface Flag {
  /** Placeholder of the value in help; a flag without one is a switch. */
  value?: string;
  /** `o` for `-o`. */
  short?: string;
  help: string;
  default?: string;
  /** Accepts all words up to the next flag, and can be repeated. */
  isList?: true;
  /** Can be given without a value, which is '' then. */
  isValueOptional?: true;
  /** The only allowed values; `dir=` allows any text after it. */
  values?: readonly string[];
  /** Returns what was expected when the value is invalid. */
  expected?: (value: string) => string | undefined;
}

export type Flags = Readonly<Record<string, Flag>>;

/** For `expected`: a variable of a script that is not set must not count as a flag that was not given. */
export function notEmpty(what: string): (value: string) => string | undefined {
  return value => (value === '' ? what : undefined);
}

interface PositionalArgument {
  name: string;
  help: string;
  /** Can be given several times. */
  isList?: true;
}

export interface CommandLine<F extends Flags = Flags> {
  /** As typed: `wmco status`. */
  name: string;
  /** Completes "This command ...": `shows the hosts`. */
  summary: string;
  flags: F;
  required?: readonly string[];
  /** Its positional argument, always optional. */
  argument?: PositionalArgument;
  /** Examples and exit codes, printed at the end of help. */
  details?: string;
}

export interface ParsedLine<Name extends string = string> {
  args: readonly string[];
  /** Of every flag: given or default, '' if neither; `true` or `false` for a switch. */
  values: Readonly<Record<Name, string>>;
  /** All values given, for flags that can be repeated. */
  given: ReadonlyMap<string, readonly string[]>;
}

const helpFlag = { short: 'h', help: 'print this help' } as const satisfies Flag;

/**
 * Parses `--name value`, `--name=value`, `-n value` and `-nvalue`, also long names with one dash, as in Go; words after
 * `--` are arguments. Undefined when help is requested.
 */
export function parseCommandLine<F extends Flags>(
  line: CommandLine<F>,
  words: readonly string[],
): ParsedLine<keyof F & string> | undefined {
  const given = new Map<string, string[]>();
  const end = [...words, '--'].indexOf('--');
  const rest = words.slice(0, end);
  const args: string[] = [];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (!isFlag(word)) {
      args.push(word);
      continue;
    }
    const [name, flag, value] = flagIn(word, line);
    if (flag === helpFlag) return undefined;
    const values = flag.value === undefined ? [value ?? 'true'] : valuesOf(flag, value, rest);
    if (values.length === 0) throw usage(line, `flag --${name} needs a value`);
    for (const each of values) check(line, name, flag, each);
    given.set(name, flag.isList ? [...(given.get(name) ?? []), ...values] : values);
  }
  args.push(...words.slice(end + 1));
  const unexpected = args[maxArguments(line)];
  if (unexpected !== undefined) throw usage(line, `unexpected argument ${shown(unexpected)}`);
  const missing = (line.required ?? []).filter(name => (given.get(name)?.[0] ?? '') === '');
  if (missing.length > 0) throw usage(line, `missing ${missing.map(name => `--${name}`).join(' and ')}`);
  const values = Object.entries<Flag>(line.flags).map(([name, flag]) => [
    name,
    given.get(name)?.at(-1) ?? defaultOf(flag),
  ]);
  return { args, given, values: Object.fromEntries(values) as Record<keyof F & string, string> };
}

function maxArguments({ argument }: CommandLine): number {
  if (argument === undefined) return 0;
  return argument.isList === true ? Infinity : 1;
}

/** The command named by the first word, and the remaining words; undefined when help is requested. */
export function pickCommand<C extends { name: string; isHidden?: true }>(
  program: string,
  commands: readonly C[],
  words: readonly string[],
): [command: C, rest: readonly string[]] | undefined {
  const [first, ...rest] = words[0] === 'help' ? [...words.slice(1), '--help'] : words;
  if (first === undefined || ['-h', '--help', 'help'].includes(first)) return undefined;
  const wanted = first === '--version' ? 'version' : first;
  const command = commands.find(({ name }) => name === wanted);
  if (command !== undefined) return [command, rest];
  const names = ['help', ...commands.filter(({ isHidden }) => !isHidden).map(({ name }) => name)];
  throw unknownCommand(program, first, names);
}

function unknownCommand(program: string, word: string, names: readonly string[]): AppError {
  if (!isFlag(word)) return usage({ name: program }, `unknown command ${shown(word)}`, closestWord(word, names));
  const closest = closestWord(
    withoutDashes(word),
    names.filter(name => name === 'help' || name === 'version'),
  );
  return usage({ name: program }, `unknown flag ${shown(word)}`, closest && `--${closest}`);
}

export function commandHelp({ name, summary, flags, required = [], argument, details }: CommandLine): string {
  const needed = required.map(flag => ` --${flag} <${flags[flag]?.value}>`).join('');
  const rows = Object.entries({ ...flags, help: helpFlag }).map(flagRow);
  return [
    sentence(summary),
    '',
    `Usage: ${name}${argument === undefined ? '' : ` [${argument.name}${argument.isList === true ? '...' : ''}]`}${needed} [flags]`,
    ...(argument === undefined ? [] : ['', 'Arguments:', ...columns([[argument.name, argument.help]])]),
    '',
    'Flags:',
    ...columns(rows),
    ...(details === undefined ? [] : ['', details]),
    '',
  ].join('\n');
}

export function programHelp(
  program: string,
  summary: string,
  commands: readonly { name: string; summary: string }[],
  details: readonly string[] = [],
): string {
  return [
    sentence(summary),
    '',
    `Usage: ${program} <command> [flags]`,
    '',
    'Commands:',
    ...columns(commands.map(command => [command.name, command.summary])),
    '',
    `Run \`${program} <command> --help\` for the flags of a command.`,
    ...details,
    '',
  ].join('\n');
}

/** A lone dash (standard input) and a negative number are arguments, not flags. */
function isFlag(word: string): boolean {
  return /^-[^\d]/.test(word);
}

function flagIn(word: string, line: CommandLine): [name: string, flag: Flag, value: string | undefined] {
  const dashes = word.startsWith('--') ? '--' : '-';
  const equals = word.indexOf('=');
  const spelled = word.slice(dashes.length, equals === -1 ? undefined : equals);
  for (const [name, flag] of Object.entries({ ...line.flags, help: helpFlag })) {
    const isShort = dashes === '-' && flag.short === spelled;
    if (name === spelled || isShort) return [name, flag, equals === -1 ? undefined : word.slice(equals + 1)];
  }
  // As in `-oyaml`.
  const attached = Object.entries(line.flags).find(([, { short, value }]) => value !== undefined && short === word[1]);
  if (dashes === '-' && attached !== undefined) return [...attached, word.slice(2)];
  const closest = closestWord(withoutDashes(spelled), [...Object.keys(line.flags), 'help']);
  throw usage(line, `unknown flag ${shown(`${dashes}${spelled}`)}`, closest && `--${closest}`);
}

function withoutDashes(word: string): string {
  return word.replace(/^-{1,3}/, '');
}

function defaultOf({ value, default: preset = '' }: Flag): string {
  return value === undefined ? 'false' : preset;
}

/** The next flag is never used as a value. */
function valuesOf(flag: Flag, value: string | undefined, rest: string[]): string[] {
  if (value !== undefined) return [value];
  const end = rest.findIndex(isFlag);
  const free = end === -1 ? rest.length : end;
  if (free === 0) return flag.isValueOptional ? [''] : [];
  return rest.splice(0, flag.isList ? free : 1);
}

function check(line: CommandLine, name: string, flag: Flag, value: string): void {
  const isSwitch = flag.value === undefined;
  const expected = isSwitch && !['true', 'false'].includes(value) ? 'true or false' : flag.expected?.(value);
  if (expected !== undefined) throw usage(line, `--${name} is ${shown(value)}, not ${expected}`);
  if (flag.values === undefined || flag.values.some(known => isAllowed(value, known))) return;
  const listed = `${flag.values.slice(0, -1).join(', ')} or ${flag.values.at(-1)}`;
  const message = `--${name} is ${shown(value)}, not ${listed}`;
  throw usage(line, message, closestWord(value, flag.values));
}

function isAllowed(value: string, known: string): boolean {
  return known.endsWith('=') ? value.startsWith(known) && value.length > known.length : value === known;
}

function flagRow([name, { short, value, help, default: preset }]: [string, Flag]): [string, string] {
  const spelled = `${short === undefined ? '    ' : `-${short}, `}--${name}${value === undefined ? '' : ` <${value}>`}`;
  return [spelled, preset === undefined ? help : `${help} (default ${preset})`];
}

function columns(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`);
}

function sentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;
}

/** An error about the command line itself. */
export function usage({ name }: Pick<CommandLine, 'name'>, message: string, meant?: string): AppError {
  const question = meant === undefined ? '' : `Did you mean \`${meant}\`? `;
  return new AppError('USAGE', message, { remedy: `${question}Run \`${name} --help\` for usage.` });
}
