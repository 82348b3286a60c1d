import { commandHelp, type CommandLine, parseCommandLine, pickCommand, programHelp } from '#base/command-line.ts';
import { printable } from '../safe-text.ts';
import type { ExitCode, LiveTerminal } from '../terminal.ts';
import { payloadCommands } from './commands.ts';
import { type PayloadCommandName, payloadCommandLines, payloadSummary } from './options.ts';

interface NamedLine {
  name: PayloadCommandName;
  summary: string;
}

const commands = Object.entries<CommandLine>(payloadCommandLines).map(
  ([name, { summary }]): NamedLine => ({ name: name as PayloadCommandName, summary }),
);

/** Runs `wmco payload`. */
export async function payloadProgram(words: readonly string[], terminal: LiveTerminal): Promise<ExitCode> {
  const picked = pickCommand('wmco payload', commands, words);
  if (picked === undefined) {
    // Help that was not requested is a usage error.
    const isRequested = words.length > 0;
    (isRequested ? terminal.out : terminal.err)(printable(programHelp('wmco payload', payloadSummary, commands)));
    return isRequested ? 0 : 2;
  }
  const [{ name }, rest] = picked;
  const line: CommandLine = payloadCommandLines[name];
  const parsed = parseCommandLine(line, rest);
  if (parsed !== undefined) return payloadCommands[name]({ line, parsed, terminal });
  terminal.out(printable(commandHelp(line)));
  return 0;
}
