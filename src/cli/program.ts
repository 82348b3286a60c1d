import type { CommandLine } from '#base/command-line.ts';
import type { ExitCode } from './terminal.ts';

/** A command that parses its own arguments; those of `bin` are passed in, because `cli` must not import what they need. */
export interface Program {
  name: string;
  summary: string;
  run: (words: readonly string[]) => Promise<ExitCode>;
  /** Its flags, for completion; loaded only there, because it may import much. */
  line?: () => CommandLine | Promise<CommandLine>;
  /** Its subcommands. */
  programs?: readonly Program[];
  /** The group that it is a subcommand of, beside offline commands. */
  group?: 'check';
  /** Not in help, not completed. */
  isHidden?: true;
}
