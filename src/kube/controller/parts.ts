import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import type { Client } from '../client.ts';
import type { Metrics } from './metrics.ts';
import type { EventRecorder } from '../events/events.ts';
import type { Informers } from '../informer/informers.ts';

/** What every controller is given; each takes from it what it needs. */
export interface ControllerParts {
  client: Client;
  /** Shared: whoever asks for the same resource and scope gets the same informer. */
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
