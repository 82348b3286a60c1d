import { commandHelp, type CommandLine, type Flags, parseCommandLine } from '#base/command-line.ts';
import { versionLine } from '#contract/version.ts';
import { jsonText, oneLine, printable, safe, yamlText } from './safe-text.ts';
import type { ExitCode, Terminal } from './terminal.ts';

const flags = {
  output: {
    short: 'o',
    value: 'format',
    default: 'text',
    values: ['text', 'json', 'yaml'],
    help: 'text, json or yaml',
  },
} as const satisfies Flags;

export const versionCommandLine: CommandLine<typeof flags> = {
  name: 'wmco version',
  summary: 'print the version',
  flags,
};

/** Runs `wmco version`. */
export async function versionCommand(words: readonly string[], terminal: Terminal): Promise<ExitCode> {
  const form = parseCommandLine(versionCommandLine, words)?.values.output;
  const data = { version: terminal.version(), nodeVersion: terminal.runtime };
  if (form === undefined) terminal.out(printable(commandHelp(versionCommandLine)));
  else if (form === 'text') terminal.out(safe`${oneLine(versionLine('wmco', data.version, data.nodeVersion))}\n`);
  else terminal.out(form === 'json' ? jsonText(data) : yamlText(data), 'data');
  return 0;
}
