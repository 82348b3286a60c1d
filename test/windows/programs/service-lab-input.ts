/** What the test tells the program service-lab.ts, in base64 of JSON as its second argument, and what it hears. */

/** How a service of the program behaves; it writes what happens to it into the file. */
export interface Behaviour {
  name: string;
  log: string;
  /** It never says that it is ready when absent. */
  readyAfterMs?: number;
  /** How long it takes to stop; for ever when negative. */
  stopsAfterMs?: number;
  failsAfterMs?: number;
  endsAfterMs?: number;
  /** Leaves a native call running on a thread of Node. */
  holdsThread?: boolean;
}

/** A process that has a child, which has a child, and so on; each writes how many are below it, and its number. */
export interface Family {
  log: string;
  children: number;
}

export type Call = [name: string, ...args: unknown[]];
export type CallResult = { value: unknown; ms: number } | { code: string; message: string; remedy: string };

export interface CycleWish {
  name: string;
  times: number;
  runMs: readonly number[];
}

export interface Cycles {
  failures: string[];
  startMs: number[];
  stopMs: number[];
}
