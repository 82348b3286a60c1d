import { commandHelp, type CommandLine, pickCommand, programHelp } from '#base/command-line.ts';
import { apiRefused } from '../api-refused.ts';
import { printable } from '../safe-text.ts';
import { withCluster } from '../status/cluster-session.ts';
import type { AskingTerminal, ExitCode } from '../terminal.ts';
import { rolloutCommands } from './commands.ts';
import { readRolloutOptions, type RolloutCommandName, rolloutCommandLines, rolloutSummary } from './options.ts';

interface NamedLine {
  name: RolloutCommandName;
  summary: string;
}

const commands = Object.entries(rolloutCommandLines).map(
  ([name, { summary }]): NamedLine => ({ name: name as RolloutCommandName, summary }),
);

/** Runs `wmco rollout`; without a command it prints the roll-out. */
export async function rolloutProgram(words: readonly string[], terminal: AskingTerminal): Promise<ExitCode> {
  const [first] = words;
  const isDefault = first === undefined || (first.startsWith('-') && first !== '-h' && first !== '--help');
  const picked = isDefault ? ([{ name: 'show' }, words] as const) : pickCommand('wmco rollout', commands, words);
  if (picked === undefined) {
    const note = 'Without a command it prints the roll-out, as `wmco rollout show` does.';
    terminal.out(printable(programHelp('wmco rollout', rolloutSummary, commands, [note])));
    return 0;
  }
  const [{ name }, rest] = picked;
  return runCommand(name, rest, terminal);
}

async function runCommand(
  name: RolloutCommandName,
  words: readonly string[],
  terminal: AskingTerminal,
): Promise<ExitCode> {
  const line: CommandLine = rolloutCommandLines[name];
  const options = readRolloutOptions(line, words, terminal.environment);
  if (options === undefined) {
    terminal.out(printable(commandHelp(line)));
    return 0;
  }
  try {
    return await withCluster(options, terminal, session => rolloutCommands[name]({ session, options, terminal }));
  } catch (error) {
    throw apiRefused(error, options);
  }
}
