import { createServer, type IncomingMessage } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { TestCa } from './certificates.ts';

export interface ConnectProxy extends AsyncDisposable {
  readonly port: number;
  readonly seen: { path: string; authorization: string | undefined }[];
  stop(): Promise<void>;
}

/** A proxy that opens tunnels, or answers with a status, or not at all. */
export async function startProxy(answer: 'tunnel' | 'silence' | number = 'tunnel', ca?: TestCa): Promise<ConnectProxy> {
  const seen: ConnectProxy['seen'] = [];
  const sockets = new Set<Socket>();
  const identity = ca?.issue({ commonName: 'proxy', names: ['127.0.0.1'] });
  const server = identity === undefined ? createServer() : createTlsServer(identity);
  const track = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).once('close', () => sockets.delete(socket));
  };
  server.on('connection', track);
  server.on('connect', ({ url = '', headers }: IncomingMessage, near: Socket) => {
    seen.push({ path: url, authorization: headers['proxy-authorization'] });
    near.on('error', () => undefined);
    if (answer !== 'tunnel') {
      if (answer !== 'silence') near.end(`HTTP/1.1 ${answer} No\r\n\r\n`);
      return;
    }
    const { hostname, port } = new URL(`http://${url}`);
    const far = connect(Number(port), hostname.replaceAll(/[[\]]/g, ''));
    track(far);
    far.once('connect', () => {
      near.write('HTTP/1.1 200 Connection established\r\n\r\n');
      near.pipe(far).pipe(near);
    });
    near.once('close', () => far.destroy());
    far.once('close', () => near.destroy());
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const stop = async () => {
    const closed = new Promise(resolve => server.close(resolve));
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  return { port: (server.address() as AddressInfo).port, seen, stop, [Symbol.asyncDispose]: stop };
}
