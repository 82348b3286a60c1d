import type { IncomingMessage, ServerResponse } from 'node:http';
import { Agent, createServer, request } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { TestCa } from './certificates.ts';

/** An API server that says another version than it has; everything else is passed on. Clients need a token. */
export interface VersionProxy extends AsyncDisposable {
  readonly url: string;
  readonly ca: string;
  /** Such as v1.22.1. */
  version: string;
}

export async function startVersionProxy(target: { url: string; ca: string }, version: string): Promise<VersionProxy> {
  const ca = new TestCa('version-proxy');
  const agent = new Agent({ ca: target.ca, keepAlive: true });
  const sockets = new Set<Socket>();
  const proxy = { version };
  const server = createServer(ca.issue({ commonName: 'proxy', names: ['127.0.0.1'] }), (near, answer) => {
    if (near.url === '/version') answerVersion(proxy.version, answer);
    else pass(near, answer, target.url, agent);
  });
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).once('close', () => sockets.delete(socket));
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ca: ca.cert,
    get version() {
      return proxy.version;
    },
    set version(next) {
      proxy.version = next;
    },
    async [Symbol.asyncDispose]() {
      const closed = new Promise(resolve => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
      agent.destroy();
    },
  };
}

function answerVersion(gitVersion: string, answer: ServerResponse): void {
  const [major = '1', minor = '0'] = gitVersion.slice(1).split('.');
  answer.writeHead(200, { 'content-type': 'application/json' });
  answer.end(JSON.stringify({ major, minor, gitVersion }));
}

function pass(near: IncomingMessage, answer: ServerResponse, url: string, agent: Agent): void {
  const far = request(`${url}${near.url}`, { agent, method: near.method, headers: near.headers });
  // A server that restarts breaks the connections of its clients.
  const end = () => answer.destroy();
  far.on('error', end).on('response', response => {
    answer.writeHead(response.statusCode ?? 502, response.headers);
    answer.flushHeaders();
    response.on('error', end).pipe(answer);
  });
  answer.on('close', () => far.destroy());
  near.on('error', () => far.destroy()).pipe(far);
}
