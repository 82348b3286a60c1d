/** The world as a command sees it; handed in by the program, so that a test can hand in its own. */
export interface Terminal {
  out: (text: string) => void;
  err: (text: string) => void;
  /** All of standard input. */
  stdin: () => Promise<string>;
  /** Version of this program, and what it runs on. */
  version: () => string;
  runtime: string;
}

/** 0 good, 1 something was found, 2 the command was used wrongly. */
export type ExitCode = 0 | 1 | 2;
