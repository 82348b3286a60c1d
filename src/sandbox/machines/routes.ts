import type { Clock } from '#base/clock.ts';
import type { Connect } from '#host/host.ts';
import { dialFailure, dialTimeout } from '#host/ssh/dial-failures.ts';

/** How to reach a simulated host: at a loopback port, or not at all. */
export type Route = { port: number } | 'refused' | 'silent';

/** Finds the route to an address; undefined if no host has it. */
export type FindRoute = (address: string) => Promise<Route | 'unknown name' | undefined>;

const lookEveryMs = 250;
const defaultDialMs = 10_000;

/** Connects to simulated hosts by their sandbox addresses. The SSH connection is real. */
export function routedConnect(find: FindRoute, connect: Connect, clock: Clock): Connect {
  return async (target, options = {}) => {
    const { address, port = 22 } = target;
    const { dialTimeoutMs = defaultDialMs, signal } = options;
    const peer = { address, port };
    const endMs = clock.monotonicMs() + dialTimeoutMs;
    for (;;) {
      // Uses the address that the name was resolved to.
      const route = await find(target.dialAt?.address ?? address);
      if (route === 'unknown name') throw dialFailure(peer, systemError('ENOTFOUND'));
      if (route === 'refused') throw dialFailure(peer, systemError('ECONNREFUSED'));
      if (typeof route === 'object')
        return connect({ ...target, dialAt: { address: '127.0.0.1', port: route.port } }, options);
      // A silent host is retried until the timeout.
      if (clock.monotonicMs() + lookEveryMs >= endMs) throw dialTimeout(peer, dialTimeoutMs);
      await clock.sleep(lookEveryMs, signal);
    }
  };
}

function systemError(code: string): Error {
  return Object.assign(new Error(code), { code });
}
