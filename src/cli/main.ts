import {
  commandHelp,
  type CommandLine,
  type Flag,
  parseCommandLine,
  type ParsedLine,
  pickCommand,
  programHelp,
} from '#base/command-line.ts';
import type { ErrorCode } from '#base/error-codes.ts';
import { AppError } from '#base/errors.ts';
import { checks } from './check/all.ts';
import { completionPrograms, completionSummary } from './completion/program.ts';
import { type Command, type Options, optionFlags } from './command.ts';
import { readInput } from './input.ts';
import { errorText, outputForms, parseOutputForm, printOutput } from './output.ts';
import type { Program } from './program.ts';
import { redactionNote } from './redaction-note.ts';
import { renders } from './render/all.ts';
import { printable, safe } from './safe-text.ts';
import type { ExitCode, Terminal } from './terminal.ts';
import { versionCommand, versionCommandLine } from './version-command.ts';

/** Runs one command line and returns the exit code: 0 success, 1 problems found, 2 usage error. */
export async function main(
  words: readonly string[],
  terminal: Terminal,
  programs: readonly Program[] = [],
): Promise<ExitCode> {
  const all = allPrograms(terminal, programs);
  try {
    return await runOne({ name: 'wmco', summary: about, programs: all }, words, terminal);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    terminal.err(safe`${errorText(error)}\n`);
    return usageErrors.includes(error.code) ? 2 : 1;
  }
}

/** The commands of `wmco`, with those of `bin`. */
export function allPrograms(terminal: Terminal, programs: readonly Program[]): Program[] {
  const all: Program[] = [
    ...groups.map(({ name, summary, commands }) =>
      groupProgram(name, summary, terminal, [
        ...commands.map(command => commandProgram(name, command, terminal)),
        ...programs.filter(({ group }) => group === name),
      ]),
    ),
    ...programs.filter(({ group }) => group === undefined),
    groupProgram(
      'completion',
      completionSummary,
      terminal,
      completionPrograms(() => all, terminal),
    ),
    versionProgram(terminal),
  ];
  return all;
}

const about = 'runs Windows nodes in OpenShift, OKD and Kubernetes clusters';

/** Errors about the command line, not about its input. */
const usageErrors: readonly ErrorCode[] = ['USAGE', 'OUTPUT_UNWRITABLE'];

interface Group {
  name: 'render' | 'check';
  summary: string;
  commands: readonly Command[];
}

const groups: readonly Group[] = [
  { name: 'render', summary: 'print what the operator would write, offline', commands: renders },
  { name: 'check', summary: 'validate cluster objects offline, or a cluster before its upgrade', commands: checks },
];

interface ProgramList {
  name: string;
  summary: string;
  programs: readonly Program[];
}

async function runOne(
  { name, summary, programs }: ProgramList,
  words: readonly string[],
  terminal: Terminal,
): Promise<ExitCode> {
  const picked = pickCommand(name, programs, words);
  if (picked !== undefined) return picked[0].run(picked[1]);
  const visible = programs.filter(({ isHidden }) => !isHidden);
  const help = printable(programHelp(name, summary, visible));
  // Help that was not requested is a usage error.
  const isRequested = words.length > 0;
  (isRequested ? terminal.out : terminal.err)(help);
  return isRequested ? 0 : 2;
}

function versionProgram(terminal: Terminal): Program {
  const { summary } = versionCommandLine;
  return { name: 'version', summary, line: () => versionCommandLine, run: words => versionCommand(words, terminal) };
}

function groupProgram(name: string, summary: string, terminal: Terminal, programs: readonly Program[]): Program {
  const run = (words: readonly string[]) => runOne({ name: `wmco ${name}`, summary, programs }, words, terminal);
  return { name, summary, programs, run };
}

function commandProgram(group: string, command: Command, terminal: Terminal): Program {
  const line = lineOf(`wmco ${group} ${command.name}`, command);
  const run = async (words: readonly string[]): Promise<ExitCode> => {
    const parsed = parseCommandLine(line, words);
    if (parsed !== undefined) return runCommand(command, parsed, terminal);
    terminal.out(printable(commandHelp(line)));
    return 0;
  };
  return { name: command.name, summary: command.summary, line: () => line, run };
}

const inputFlag: Flag = {
  value: 'file...',
  short: 'f',
  isList: true,
  help: 'files or folders of objects, or - for standard input',
};
const outputFlag: Flag = {
  value: 'format',
  short: 'o',
  default: 'text',
  values: outputForms,
  help: 'text, json, yaml or dir=PATH',
};

function lineOf(name: string, { summary, reads, options, example }: Command): CommandLine {
  const own = options.map(option => [flagName(option), optionFlags[option]] as const);
  const readsText = reads === '' ? '' : `Reads: ${reads}\n\n`;
  return {
    name,
    summary,
    flags: { ...(reads !== '' && { filename: inputFlag }), output: outputFlag, ...Object.fromEntries(own) },
    details: `${readsText}Example:\n  ${example}\n\nExit code: 0 success, 1 problems found, 2 usage error.`,
  };
}

/** `showSecrets` is `--show-secrets`. */
function flagName(option: string): string {
  return option.replaceAll(/[A-Z]/g, letter => `-${letter.toLowerCase()}`);
}

function optionsOf({ options }: Command, { given }: ParsedLine, version: () => string): Options {
  const entries = options.map(option => {
    const { value, isList }: Flag = optionFlags[option];
    const values = given.get(flagName(option));
    return [option, isList ? values && [...values] : value === undefined ? values?.at(-1) === 'true' : values?.at(-1)];
  });
  const known = Object.fromEntries(entries) as Options;
  // Reading the version starts git when run from source.
  return options.includes('operatorVersion')
    ? { ...known, operatorVersion: known['operatorVersion'] ?? version() }
    : known;
}

async function runCommand(command: Command, parsed: ParsedLine, terminal: Terminal): Promise<ExitCode> {
  const form = parseOutputForm(parsed.values['output'] ?? '');
  const options = optionsOf(command, parsed, terminal.version);
  const names = parsed.given.get('filename') ?? [];
  if (command.reads !== '' && names.length === 0 && command.needsNoInput?.(options) !== true) {
    throw new AppError('USAGE', 'missing -f', {
      remedy: `Pass files with -f; ${command.name} reads ${command.reads}.`,
    });
  }
  const input = await readInput([...names], terminal);
  // Printed first: they are often the reason why the command fails.
  for (const problem of input.problems) terminal.err(safe`${errorText(problem)}\n`);
  const { output, findings } = await command.run(input, options);
  const content = await printOutput(command.name, output, form, terminal);
  const note = redactionNote(content, command, options);
  if (note !== undefined) terminal.err(safe`${note}\n`);
  for (const finding of findings) terminal.err(safe`${errorText(finding)}\n`);
  return input.problems.length + findings.length === 0 ? 0 : 1;
}
