import type { Client } from '../../../src/kube/client.ts';

/** The client of a process that can be killed: from then on no request reaches the server. */
export function mortal(client: Client, death: AbortSignal): Client {
  return new Proxy(client, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]) => {
        if (death.aborted) throw death.reason;
        return (member as (...given: unknown[]) => unknown).apply(target, args);
      };
    },
  });
}
