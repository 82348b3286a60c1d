/** Input and output of service-lab.ts; the input is base64 of JSON in the second argument. */

/** Behavior of a service of the program; it writes its events to the file. */
export interface Behavior {
  name: string;
  log: string;
  /** It never gets ready when not set. */
  readyAfterMs?: number;
  /** Time to stop; negative means never. */
  stopsAfterMs?: number;
  failsAfterMs?: number;
  endsAfterMs?: number;
  /** Leaves a native call running on a thread of Node. */
  holdsThread?: boolean;
}

/** A chain of child processes; each writes how many are below it, and its process id. */
export interface Family {
  log: string;
  children: number;
}

export type Call = [name: string, ...args: unknown[]];
export type CallResult = { value: unknown; ms: number } | { code: string; message: string; remedy: string };

export interface CycleOptions {
  name: string;
  times: number;
  runMs: readonly number[];
}

export interface Cycles {
  failures: string[];
  startMs: number[];
  stopMs: number[];
}
