import { createServer, type Server } from 'node:net';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { dialTcp } from './dial-tcp.ts';

async function listening(): Promise<{ server: Server; port: number }> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return { server, port: typeof address === 'object' && address !== null ? address.port : 0 };
}
const never = new AbortController().signal;

test('connects to an open port and closes the connection', async () => {
  const { server, port } = await listening();
  const accepted = once(server, 'connection') as Promise<[{ resume(): void; once: unknown } & NodeJS.EventEmitter]>;
  await dialTcp('127.0.0.1', port, never);
  const [socket] = await accepted;
  socket.resume();
  await once(socket, 'close');
  server.close();
});

test('rejects with the code of the system when the port is closed', async () => {
  const { server, port } = await listening();
  server.close();
  await once(server, 'close');
  await expect(dialTcp('127.0.0.1', port, never)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});

test('ends when it is aborted', async () => {
  const { server, port } = await listening();
  await expect(dialTcp('127.0.0.1', port, AbortSignal.abort(new Error('over')))).rejects.toThrow('over');
  const later = new AbortController();
  const dialing = dialTcp('127.0.0.1', port, later.signal);
  later.abort(new Error('too late'));
  await expect(dialing).rejects.toThrow('too late');
  server.close();
});
