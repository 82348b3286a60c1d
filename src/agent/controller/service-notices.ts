import type { Log } from '#base/log.ts';
import type { ServiceNotices } from '../services/ensure.ts';

/** Notices for the log alone, while no report can be written. */
export function loggedNotices(log: Log): ServiceNotices {
  return {
    onStarted: services => logStarted(services, log),
    onEnded: (service, pid, limitMs) => logEnded(service, pid, limitMs, log),
  };
}

export function logStarted(services: readonly string[], log: Log): void {
  log.info('Started services that were not running', { services });
}

export function logEnded(service: string, pid: number, limitMs: number, log: Log): void {
  log.warn('Ending the process of a service that does not stop', { service, pid, seconds: limitMs / 1000 });
}
