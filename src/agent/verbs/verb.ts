import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import type { ClientOptions } from '#kube/http-client.ts';
import type { HostPorts, ServiceLife } from '../ports.ts';
import type { HashOf } from '../stage/hash-cache.ts';
import type { VerbLine } from './arguments.ts';
import type { FlagValues } from './flags.ts';

/** What verbs run in: made by the program from Windows itself, and by the sandbox from a simulated host. */
export interface VerbDeps {
  /** Called once, and only when it is needed: neither help nor a version takes native code. */
  host(): HostPorts;
  /** For all clients of the API server. */
  client: ClientOptions;
  /** Runs the body under the service manager of the host. */
  asService(body: (life: ServiceLife) => Promise<void>): Promise<void>;
  /** A log in files, for what runs long. */
  openLog(directory: string, maxBytes: number): Log;
  /** Where verbs that end by themselves tell what they do. */
  log: Log;
  clock: Clock;
  /** Aborted when somebody wants the command to end early. */
  signal: AbortSignal;
  version: string;
  runtime: string;
  /** Path of the program that runs. */
  program: string;
  /** How files are hashed where one command needs the same hash twice; by reading them when missing. */
  hashOf?: HashOf;
}

/** What a verb has to say, for people and for programs. */
export interface Answer {
  text: string;
  data: unknown;
}

/** One thing the agent can be told to do. All can be repeated and cut short without harm. */
export interface Verb extends VerbLine {
  /** Undefined when there is nothing to say. */
  run(values: FlagValues, world: VerbDeps): Promise<Answer | undefined>;
}
