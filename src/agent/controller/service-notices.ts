import type { Log } from '#base/log.ts';
import type { EventText } from '#contract/events.ts';
import type { ServiceNotices } from '../services/ensure.ts';
import { endedEvent, startedEvent } from './events.ts';

/** Logs what happened to services. */
export function loggedNotices(log: Log): ServiceNotices {
  return {
    onStarted: services => log.info('Started services that were not running', { services }),
    onEnded: (service, pid, limitMs) =>
      log.warn('Ending the process of a service that does not stop', { service, pid, seconds: limitMs / 1000 }),
  };
}

/** Logs it and records events. While the host joins, services are started for the first time, which is no event. */
export function recordedNotices(log: Log, record: (event: EventText) => void, isJoining: boolean): ServiceNotices {
  const logged = loggedNotices(log);
  return {
    onStarted: services => {
      logged.onStarted(services);
      if (!isJoining) record(startedEvent(services));
    },
    onEnded: (service, pid, limitMs) => {
      logged.onEnded(service, pid, limitMs);
      record(endedEvent(service, limitMs));
    },
  };
}
