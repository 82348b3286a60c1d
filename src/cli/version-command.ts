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
  const { runtime: nodeVersion, build } = terminal;
  const data = {
    version: terminal.version(),
    nodeVersion,
    ...(build && { commit: build.commit, buildDate: build.date }),
  };
  if (form === undefined) terminal.out(printable(commandHelp(versionCommandLine)));
  else if (form === 'text') {
    const built = build === undefined ? '' : `, commit: "${build.commit}", built: "${build.date}"`;
    terminal.out(safe`${oneLine(`${versionLine('wmco', data.version, nodeVersion)}${built}`)}\n`, 'data');
  } else terminal.out(form === 'json' ? jsonText(data) : yamlText(data), 'data');
  return 0;
}
