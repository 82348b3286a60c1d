import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import type { Client } from '../client.ts';
import type { Metrics } from './metrics.ts';
import type { EventRecorder } from '../events/events.ts';
import type { Informers } from '../informer/informers.ts';

/** Dependencies of controllers. */
export interface ControllerParts {
  client: Client;
  /** Shared: one informer per resource and scope. */
  informers: Informers;
  recorder: Pick<EventRecorder, 'record'>;
  /** Of the operator. */
  namespace: string;
  /** Of the operator. */
  version: string;
  clock: Clock;
  log: Log;
  metrics: Metrics;
}
