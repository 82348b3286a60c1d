import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import type { ClientOptions } from '#kube/http-client.ts';
import type { HostPorts, ServiceLife } from '../ports.ts';
import type { HashOf } from '../stage/hash-cache.ts';
import type { VerbLine } from './arguments.ts';
import type { FlagValues } from './flags.ts';

/** Provided by the program on Windows, and by the sandbox for a simulated host. */
export interface VerbDeps {
  /** Called once, and only when needed: help and version need no native code. */
  host(): HostPorts;
  client: ClientOptions;
  /** Runs the body as a Windows service. */
  asService(body: (life: ServiceLife) => Promise<void>): Promise<void>;
  /** A log in files, for the controller. */
  openLog(directory: string, maxBytes: number): Log;
  /** The log of one-shot verbs. */
  log: Log;
  clock: Clock;
  /** Aborted by Ctrl-C. */
  signal: AbortSignal;
  version: string;
  runtime: string;
  /** Path of the running program. */
  program: string;
  /** ID of the process. */
  pid: number;
  /** Set when one command needs the same hashes twice; reads the files by default. */
  hashOf?: HashOf;
}

/** The output of a verb, as text and as JSON. */
export interface Answer {
  text: string;
  data: unknown;
}

/** A command of the agent. All can be repeated and interrupted without harm. */
export interface Verb extends VerbLine {
  /** Undefined for no output. */
  run(values: FlagValues, deps: VerbDeps): Promise<Answer | undefined>;
}
