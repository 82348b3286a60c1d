import { Command as Commander, CommanderError } from 'commander';
import type { ErrorCode } from '#base/error-codes.ts';
import { AppError } from '#base/errors.ts';
import { versionLine } from '#contract/version.ts';
import { checks } from './check/all.ts';
import { type Command, type Options, optionTexts } from './command.ts';
import { readInput } from './input.ts';
import { errorText, parseOutputForm, show } from './output.ts';
import { renders } from './render/all.ts';
import { commanderOutput, oneLine, safe } from './safe-text.ts';
import type { ExitCode, Terminal } from './terminal.ts';

/** A command that reads its words itself; it is handed in, because the command line knows nothing of what it needs. */
export interface Program {
  name: string;
  summary: string;
  run: (words: readonly string[]) => Promise<ExitCode>;
}

/** Runs one command line and gives the exit code: 0 good, 1 something was found, 2 wrong use. */
export async function main(
  words: readonly string[],
  terminal: Terminal,
  programs: readonly Program[] = [],
): Promise<ExitCode> {
  let exitCode: ExitCode = 0;
  const done = (code: ExitCode) => {
    exitCode = code;
  };
  const program = build(terminal, done);
  for (const each of programs) addProgram(program, each, done);
  try {
    await program.parseAsync([...words], { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    if (!(error instanceof AppError)) throw error;
    terminal.err(safe`${errorText(error)}\n`);
    return wrongUses.includes(error.code) ? 2 : 1;
  }
  return exitCode;
}

/** Errors about the command line, not about what it was given to look at. */
const wrongUses: readonly ErrorCode[] = ['USAGE', 'OUTPUT_UNWRITABLE'];

function build(terminal: Terminal, done: (code: ExitCode) => void): Commander {
  const program = new Commander('wmco')
    .description('Windows nodes for OpenShift, OKD and Kubernetes clusters')
    .exitOverride()
    .configureOutput(commanderOutput(terminal))
    .showHelpAfterError('(add --help for what is possible)');
  program
    .command('version')
    .description('print the version')
    .action(() => terminal.out(safe`${oneLine(versionLine('wmco', terminal.version(), terminal.runtime))}\n`));
  for (const group of groups) {
    addGroup(program, group, async (command, options) => done(await runCommand(command, options, terminal)));
  }
  return program;
}

function addProgram(parent: Commander, { name, summary, run }: Program, done: (code: ExitCode) => void): void {
  parent
    .command(name)
    .description(summary)
    .helpOption(false)
    .allowUnknownOption()
    .argument('[flags...]')
    .action(async (words: string[]) => done(await run(words)));
}

interface Group {
  name: 'render' | 'check';
  summary: string;
  commands: readonly Command[];
}

const groups: readonly Group[] = [
  { name: 'render', summary: 'show, without a cluster, what the operator would write', commands: renders },
  { name: 'check', summary: 'say, without a cluster, what is wrong and how to mend it', commands: checks },
];

function addGroup(program: Commander, group: Group, run: (command: Command, options: Options) => Promise<void>): void {
  const parent = program.command(group.name).description(group.summary);
  for (const command of group.commands) {
    const child = parent.command(command.name).description(command.summary);
    if (command.reads !== '')
      child.option('-f, --filename <file...>', 'files or folders of objects, or - for standard input');
    child.option('-o, --output <form>', 'text, json, yaml or dir=PATH', 'text');
    for (const option of command.options) child.option(optionTexts[option][0], optionTexts[option][1]);
    child.addHelpText('after', helpText(command));
    child.action((options: Options) => run(command, options));
  }
}

function helpText(command: Command): string {
  const reads = command.reads === '' ? '' : `\nReads: ${command.reads}\n`;
  return `${reads}\nExample:\n  ${command.example}\n\nExit code: 0 good, 1 something was found, 2 wrong use.`;
}

async function runCommand(command: Command, options: Options, terminal: Terminal): Promise<ExitCode> {
  const form = parseOutputForm(String(options['output']));
  const names = (options['filename'] as string[] | undefined) ?? [];
  if (command.reads !== '' && names.length === 0 && command.standsAlone?.(options) !== true) {
    throw new AppError('USAGE', 'no input was given', {
      remedy: `Give files with -f; ${command.name} reads ${command.reads}.`,
    });
  }
  const input = await readInput(names, terminal);
  // Told first: when the command cannot go on, they are often the reason.
  for (const problem of input.problems) terminal.err(safe`${errorText(problem)}\n`);
  const { shown, findings } = await command.run(input, options);
  await show(command.name, shown, form, terminal);
  for (const finding of findings) terminal.err(safe`${errorText(finding)}\n`);
  return input.problems.length + findings.length === 0 ? 0 : 1;
}
