import type { Clock } from '../../../../src/base/clock.ts';
import type { Log } from '../../../../src/base/log.ts';
import type { KubeletFlags } from './flags.ts';
import type { KubeletHost, Places } from './host.ts';

/** What the parts of one running kubelet share. */
export interface Running {
  flags: KubeletFlags;
  host: KubeletHost;
  places: Places;
  clock: Clock;
  log: Log;
  /** Aborted when it has to stop. */
  signal: AbortSignal;
}
