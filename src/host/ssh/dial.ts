import { connect, type Socket } from 'node:net';
import { dialFailure, dialTimeout, type Peer } from './dial-failures.ts';
import { limited } from './limits.ts';

export interface DialOptions {
  at: Peer;
  timeoutMs: number;
  signal: AbortSignal | undefined;
}

/** A TCP connection to the host. Small packets are sent at once: waiting for more costs 40 ms for each question. */
export function dial(peer: Peer, { at, timeoutMs, signal }: DialOptions): Promise<Socket> {
  const limits = { signals: [signal], timeoutMs, overdue: (_: unknown, ms: number) => dialTimeout(peer, ms) };
  return limited(limits, ({ end }) => open(peer, at, end));
}

function open(peer: Peer, at: Peer, end: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: at.address, port: at.port, noDelay: true });
    const giveUp = () => socket.destroy();
    end.addEventListener('abort', giveUp, { once: true });
    socket.once('connect', () => {
      end.removeEventListener('abort', giveUp);
      socket.removeAllListeners('error');
      resolve(socket);
    });
    socket.once('error', error => reject(dialFailure(peer, error)));
  });
}
