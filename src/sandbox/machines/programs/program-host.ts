import type { HostPorts } from '#agent/ports.ts';
import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import type { HostState } from '../host/state.ts';
import type { Times } from '../times.ts';
import type { Traits } from '../traits.ts';

/** Access of a program to its simulated host. */
export interface ProgramHost {
  ports: HostPorts;
  /** ID of its process. */
  pid: number;
  state: HostState;
  /** The clock of the host. */
  clock: Clock;
  /** Clock of simulated delays. */
  delays: Clock;
  times: Times;
  traits: Traits;
  log: Log;
}
