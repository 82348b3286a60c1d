import type { Clock } from '#base/clock.ts';
import type { Connect } from './host.ts';

/**
 * Starts connections at intervals. A handshake takes a few milliseconds of CPU; hundreds at once would block the event
 * loop. A slow host does not delay the others.
 */
export function paceConnects(connect: Connect, everyMs: number, clock: Pick<Clock, 'sleep'>): Connect {
  let next = Promise.resolve();
  return async (target, options = {}) => {
    const start = next;
    next = start.then(() => clock.sleep(everyMs));
    await start;
    options.signal?.throwIfAborted();
    return connect(target, options);
  };
}
