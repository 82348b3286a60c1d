import { oneLine, safe } from '../safe-text.ts';
import type { Program } from '../program.ts';
import type { ExitCode, LiveTerminal } from '../terminal.ts';
import { faultCandidates, hostCandidates } from './candidates.ts';
import { spellings } from './case-functions.ts';
import { type CompletedCommand, completedCommands, type CompletedFlag, type Value } from './tree.ts';

/**
 * Completion for kubectl 1.26 and later and oc, which run `kubectl_complete-wmco WORD... TYPED`: one candidate for each
 * line with its description after a tab, and at the end a colon and a number that tells the shell what to do.
 */
export async function pluginCompletion(
  words: readonly string[],
  programs: readonly Program[],
  terminal: LiveTerminal,
  faultNames: () => Promise<readonly string[]>,
): Promise<ExitCode> {
  const typed = words.at(-1) ?? '';
  const before = words.slice(0, -1);
  const place = placeOf(await completedCommands(programs), before, typed);
  const { candidates, directive } = await offered(place, before, terminal, faultNames);
  const fitting = candidates.filter(({ word }) => word.startsWith(place.value));
  const isOpen = fitting.length > 0 && fitting.every(({ word }) => /[=@]$/.test(word));
  for (const { word, help } of fitting.slice(0, maxCandidates))
    terminal.out(help === '' ? safe`${oneLine(word)}\n` : safe`${oneLine(word)}\t${oneLine(help)}\n`, 'data');
  terminal.out(safe`:${directive + (isOpen ? noSpace : 0)}\n`, 'data');
  return 0;
}

const maxCandidates = 1000;

/** Numbers of Cobra, the command line library of kubectl. */
const noSpace = 2;
const noFiles = 4;
const files = 0;
const onlyFolders = 16;

interface Candidate {
  word: string;
  help: string;
}

interface Place {
  command: CompletedCommand;
  /** What is completed: `flags`, a command, or a value. */
  kind: 'flags' | 'commands' | Value;
  /** The part of the typed word that candidates continue. */
  value: string;
}

/** By the same rules as the script for bash. */
function placeOf(commands: readonly CompletedCommand[], before: readonly string[], typed: string): Place {
  const walked = walk(commands, before);
  const { command } = walked;
  const equals = typed.indexOf('=');
  if (typed.startsWith('-') && equals !== -1) {
    const kind = flagOf(command, typed.slice(0, equals))?.value ?? nothing;
    return { command, kind, value: typed.slice(equals + 1) };
  }
  if (typed.startsWith('-')) return { command, kind: 'flags', value: typed };
  if (walked.value !== undefined) return { command, kind: walked.value, value: typed };
  return { command, kind: command.commands.length > 0 ? 'commands' : (command.argument ?? nothing), value: typed };
}

const nothing: Value = { is: 'any' };

/** The command that the words name, and the value that is due after them. */
function walk(commands: readonly CompletedCommand[], before: readonly string[]) {
  let command = at(commands, '');
  let due: CompletedFlag | undefined;
  let hasValue = false;
  let isFlagSeen = false;
  for (const word of before) {
    if (word.startsWith('-')) {
      due = word.includes('=') ? undefined : flagOf(command, word);
      hasValue = false;
      isFlagSeen = true;
    } else if (due?.value !== undefined) {
      hasValue = true;
    } else if (!isFlagSeen && word !== 'help' && command.commands.some(({ name }) => name === word)) {
      command = at(commands, `${command.path} ${word}`.trim());
    }
    if (hasValue && due?.isList !== true) due = undefined;
  }
  return { command, value: due?.value };
}

function at(commands: readonly CompletedCommand[], path: string): CompletedCommand {
  return commands.find(command => command.path === path) ?? { path, commands: [], flags: [], argument: undefined };
}

function flagOf({ flags }: CompletedCommand, word: string): CompletedFlag | undefined {
  return flags.find(flag => spellings(flag).includes(word));
}

async function offered(
  { command, kind, value }: Place,
  before: readonly string[],
  terminal: LiveTerminal,
  faultNames: () => Promise<readonly string[]>,
): Promise<{ candidates: Candidate[]; directive: number }> {
  const plain = (words: readonly string[]) => words.map(word => ({ word, help: '' }));
  if (kind === 'commands')
    return {
      candidates: command.commands.map(({ name, summary }) => ({ word: name, help: summary })),
      directive: noFiles,
    };
  if (kind === 'flags') {
    const candidates = command.flags.flatMap(flag => spellings(flag).map(word => ({ word, help: flag.help })));
    return { candidates, directive: noFiles };
  }
  if (kind.is === 'words') return { candidates: plain(kind.words), directive: noFiles };
  if (kind.is === 'faults')
    return { candidates: plain(faultCandidates(value, await faultNames())), directive: noFiles };
  if (kind.is === 'hosts')
    return { candidates: plain(await hostCandidates(before.slice(1), terminal)), directive: noFiles };
  return { candidates: [], directive: { files, folders: onlyFolders, any: noFiles }[kind.is] };
}
