import type { Traits } from '../traits.ts';
import { programName, wordsOf } from '../programs/command-line.ts';
import { unknownProgram } from './languages.ts';

export interface Output {
  out(bytes: Uint8Array | string): void;
  err(bytes: Uint8Array | string): void;
  /** Aborted when the client disconnects. */
  closed: AbortSignal;
}

export interface ShellHost {
  traits: Pick<Traits, 'shell' | 'language'>;
  hostName(): string;
  /** Runs a program from the disk; undefined if it does not exist. */
  run(path: string, words: readonly string[], output: Output): Promise<number> | undefined;
}

/** Runs a command line in the default shell; returns the exit code. */
export async function runCommand(command: string, host: ShellHost, output: Output): Promise<number> {
  const [program = '', ...words] = wordsOf(command);
  const own = builtIn[programName(program)];
  if (own !== undefined) {
    output.out(own(host, words));
    return 0;
  }
  const running = host.run(program, words, output);
  if (running !== undefined) return running;
  const { shell, language } = host.traits;
  output.err(unknownProgram(program, shell, language));
  return 1;
}

const builtIn: Readonly<Record<string, (host: ShellHost, words: readonly string[]) => string>> = {
  'hostname.exe': host => `${host.hostName()}\r\n`,
  'echo.exe': (_, words) => `${words.join(' ')}\r\n`,
  'whoami.exe': host => `${host.hostName().toLowerCase()}\\administrator\r\n`,
};
