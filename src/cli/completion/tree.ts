import type { CommandLine, Flag } from '#base/command-line.ts';
import type { Program } from '../program.ts';

/** How a shell completes a value. */
export type Value =
  | { is: 'words'; words: readonly string[] }
  /** `any` has no completion. */
  | { is: 'files' | 'folders' | 'faults' | 'hosts' | 'any' };

export interface CompletedFlag {
  name: string;
  short: string | undefined;
  help: string;
  /** Undefined for a switch. */
  value: Value | undefined;
  /** All words up to the next flag are its values. */
  isList: boolean;
}

export interface CompletedCommand {
  /** `render services`; empty for the program itself. */
  path: string;
  commands: readonly { name: string; summary: string }[];
  flags: readonly CompletedFlag[];
  argument: Value | undefined;
}

/** Every command with all that can follow it, parents first. */
export async function completedCommands(programs: readonly Program[], path = ''): Promise<CompletedCommand[]> {
  const visible = programs.filter(({ isHidden }) => !isHidden);
  const below = await Promise.all(visible.map(program => commandsOf(program, `${path} ${program.name}`.trim())));
  const help = { name: 'help', summary: 'print help' };
  const hasVersion = visible.some(({ name }) => name === 'version');
  const flags = hasVersion ? [helpFlag, versionFlag] : [helpFlag];
  return [{ path, commands: [...visible, help], flags, argument: undefined }, ...below.flat()];
}

async function commandsOf(program: Program, path: string): Promise<CompletedCommand[]> {
  if (program.programs !== undefined) return completedCommands(program.programs, path);
  return [lineCommand(path, await program.line?.())];
}

const helpFlag: CompletedFlag = { name: 'help', short: 'h', help: 'print help', value: undefined, isList: false };
const versionFlag = { ...helpFlag, name: 'version', short: undefined, help: 'print the version' };

function lineCommand(path: string, line: CommandLine | undefined): CompletedCommand {
  const flags = Object.entries(line?.flags ?? {}).map(([name, flag]) => completedFlag(name, flag));
  const argument = line?.argument?.name === 'host' ? ({ is: 'hosts' } as const) : undefined;
  return { path, commands: [], flags: [...flags, helpFlag], argument };
}

function completedFlag(name: string, flag: Flag): CompletedFlag {
  return { name, short: flag.short, help: flag.help, value: valueOf(flag), isList: flag.isList === true };
}

/** Placeholders of values say what they are. */
const placeholders: Readonly<Record<string, 'files' | 'folders' | 'faults'>> = {
  file: 'files',
  'file...': 'files',
  folder: 'folders',
  'FAULT@HOST,...': 'faults',
};

function valueOf({ value, values }: Flag): Value | undefined {
  if (value === undefined) return undefined;
  return values === undefined ? { is: placeholders[value] ?? 'any' } : { is: 'words', words: values };
}
