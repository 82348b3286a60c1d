import { connect } from 'node:net';

/** Resolves when the address accepts a TCP connection; rejects with the error of the system or the reason of the signal. */
export type DialTcp = (address: string, port: number, signal: AbortSignal) => Promise<void>;

/** Closes the connection at once; nothing is sent. */
export const dialTcp: DialTcp = (host, port, signal) =>
  new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const socket = connect({ host, port, signal });
    socket.once('connect', () => {
      socket.destroy();
      resolve();
    });
    socket.once('error', error => reject(signal.aborted ? signal.reason : error));
  });
