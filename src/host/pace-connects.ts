import type { Clock } from '#base/clock.ts';
import type { Connect } from './host.ts';

/**
 * Begins connections one after another, so long apart. A handshake takes a few milliseconds of work that cannot be put off; of hundreds
 * at once nobody else would get his turn meanwhile. How long a host takes to answer delays no other.
 */
export function paceConnects(connect: Connect, everyMs: number, clock: Pick<Clock, 'sleep'>): Connect {
  let free = Promise.resolve();
  return async (target, options = {}) => {
    const turn = free;
    free = turn.then(() => clock.sleep(everyMs));
    await turn;
    options.signal?.throwIfAborted();
    return connect(target, options);
  };
}
