import type { Environment } from '#cluster/proxy.ts';
import { extraArguments } from '#cluster/settings.ts';
import { versionLine } from '#contract/version.ts';

export interface About {
  /** As it was called. */
  program: string;
  version: string;
  /** Version and platform of Node.js. */
  runtime: string;
}

export type SubcommandResult = { code: 0; out: string } | { code: 1; err: string };

/**
 * The command line of the program `windows-machine-config-operator`, as the Go operator has it: flags, or the sub-command
 * `version`. Undefined for flags.
 */
export function operatorSubcommand(
  words: readonly string[],
  environment: Environment,
  about: About,
): SubcommandResult | undefined {
  const [first] = [...words, ...extraArguments(environment)];
  if (first === undefined || first.startsWith('-')) return undefined;
  if (first === 'version') return { code: 0, out: `${versionLine(about.program, about.version, about.runtime)}\n` };
  return { code: 1, err: `unknown sub-command: ${printable(first)}\navailable sub-commands:\n\tversion\n` };
}

/** A word cannot control the terminal. */
function printable(word: string): string {
  return word.replaceAll(/\p{C}/gu, character => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}
