import type { Clock } from '#base/clock.ts';
import type { SafeText } from './safe-text.ts';

/** The world as a command sees it; handed in by the program, so that a test can hand in its own. */
export interface Terminal {
  out: (text: SafeText) => void;
  err: (text: SafeText) => void;
  /** All of standard input. */
  stdin: () => Promise<string>;
  /** Version of this program, and what it runs on. */
  version: () => string;
  runtime: string;
}

/** A terminal on which something can be followed, and the process around it. */
export interface LiveTerminal extends Pick<Terminal, 'out' | 'err' | 'version'> {
  /** Undefined when the output goes to a file or another program. */
  size: () => TerminalSize | undefined;
  environment: Readonly<Record<string, string | undefined>>;
  /** Aborted when the process is told to stop. */
  signal: AbortSignal;
  clock: Clock;
}

export interface TerminalSize {
  columns: number;
  rows: number;
}

/** 0 good, 1 something was found, 2 the command was used wrongly. */
export type ExitCode = 0 | 1 | 2;
