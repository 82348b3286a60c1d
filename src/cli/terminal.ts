import type { Clock } from '#base/clock.ts';
import type { SafeText } from './safe-text.ts';
import type { BuildFacts } from './version.ts';

/** Standard streams and version, passed in so that tests can replace them. */
export interface Terminal {
  /** Data for programs is printed in UTF-8 in every locale. */
  out: (text: SafeText, is?: 'message' | 'data') => void;
  err: (text: SafeText) => void;
  /** All of standard input. */
  stdin: () => Promise<string>;
  version: () => string;
  /** Node.js version and platform. */
  runtime: string;
  /** Only of a built program. */
  build?: BuildFacts;
}

/** A terminal that can be redrawn, and the process around it. */
export interface LiveTerminal extends Pick<Terminal, 'out' | 'err' | 'version'> {
  /** Undefined when standard output is not a terminal. */
  size: () => TerminalSize | undefined;
  environment: Readonly<Record<string, string | undefined>>;
  /** Runs this program when pasted into a shell. */
  command: () => string;
  /** Aborted by SIGINT, SIGTERM or SIGHUP. */
  signal: AbortSignal;
  clock: Clock;
}

/** A terminal at which a user can answer. */
export interface AskingTerminal extends LiveTerminal {
  /** Prints the question and reads one line; undefined when there is no user to ask. */
  ask: ((question: SafeText) => Promise<string>) | undefined;
}

export interface TerminalSize {
  columns: number;
  rows: number;
}

/** 0 success, 1 problems found, 2 usage error. */
export type ExitCode = 0 | 1 | 2;
