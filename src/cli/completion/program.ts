import { commandHelp, type CommandLine, parseCommandLine } from '#base/command-line.ts';
import type { Program } from '../program.ts';
import { printable } from '../safe-text.ts';
import type { Terminal } from '../terminal.ts';
import { bashScript } from './bash.ts';
import { fishScript } from './fish.ts';
import { type CompletedCommand, completedCommands } from './tree.ts';
import { zshScript } from './zsh.ts';

interface Shell {
  name: string;
  script: (commands: readonly CompletedCommand[]) => string;
  /** How to load the script. */
  load: string;
}

const shells: readonly Shell[] = [
  { name: 'bash', script: bashScript, load: 'source <(wmco completion bash)' },
  { name: 'zsh', script: zshScript, load: 'source <(wmco completion zsh)' },
  { name: 'fish', script: fishScript, load: 'wmco completion fish | source' },
];

export const completionSummary = 'print the completion script of a shell';

/** One command for each shell; `programs` are all commands of wmco. */
export function completionPrograms(programs: () => readonly Program[], terminal: Terminal): Program[] {
  return shells.map(shell => {
    const line = lineOf(shell);
    const run = async (words: readonly string[]) => {
      const isHelp = parseCommandLine(line, words) === undefined;
      const text = isHelp ? commandHelp(line) : shell.script(await completedCommands(programs()));
      terminal.out(printable(text), isHelp ? 'message' : 'data');
      return 0 as const;
    };
    return { name: shell.name, summary: line.summary, line: () => line, run };
  });
}

function lineOf({ name, load }: Shell): CommandLine {
  return {
    name: `wmco completion ${name}`,
    summary: `print the completion script of ${name}`,
    flags: {},
    details: `Load it in this shell, or in its startup file, with:\n  ${load}`,
  };
}
