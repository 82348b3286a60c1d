import { createServer as createPlainServer, type IncomingMessage, type ServerResponse } from 'node:http';
import {
  createSecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
  type ServerHttp2Stream,
  type Settings,
} from 'node:http2';
import { createServer as createHttp1Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { Secret } from '../../src/base/secret.ts';
import type { ClientCertificate, Connection } from '../../src/kube/transport/connection.ts';
import { TestCa } from './certificates.ts';

/** A request as the server saw it. */
export interface SeenRequest {
  method: string;
  path: string;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: string;
  /** Name in the client certificate, if one was shown. */
  client: string | undefined;
  /** Which of the server's connections it came by, counted from 1. */
  socket: number;
}

/** HTTP/2 answers have the same methods. */
export type Answer = ServerResponse;
export type Handler = (request: SeenRequest, answer: Answer, turn: number) => void | Promise<void>;

export interface ServerOptions {
  protocol?: 'h2' | 'http/1.1' | 'plain';
  /** Names in the server's certificate. */
  names?: readonly string[];
  /** Asks for client certificates of the same CA. */
  askCertificate?: boolean;
  settings?: Settings;
  ca?: TestCa;
}

/** A server on loopback with the answers of a test; it can stop answering or close connections. */
export interface TestServer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly ca: TestCa;
  readonly seen: SeenRequest[];
  readonly sockets: Set<Socket>;
  readonly sessions: Set<ServerHttp2Session>;
  /** Connections since the start. */
  accepted(): number;
  /** Handshakes that failed. */
  refused(): number;
  connection(more?: Partial<Connection>): Connection;
  stop(): Promise<void>;
}

export async function startServer(handler: Handler, options: ServerOptions = {}): Promise<TestServer> {
  const ca = options.ca ?? new TestCa();
  const server = makeServer(ca, options);
  const seen: SeenRequest[] = [];
  const sockets = new Set<Socket>();
  const sessions = new Set<ServerHttp2Session>();
  const numbers = new Map<unknown, number>();
  let accepted = 0;
  let refused = 0;
  server.on('connection', (socket: Socket) => {
    accepted += 1;
    numbers.set(socket.remotePort, accepted);
    sockets.add(socket);
    socket.on('error', () => undefined).once('close', () => sockets.delete(socket));
  });
  server.on('session', (session: ServerHttp2Session) => {
    sessions.add(session);
    session.on('error', () => undefined).once('close', () => sessions.delete(session));
  });
  server.on('tlsClientError', () => {
    refused += 1;
  });
  server.on('request', (request: IncomingMessage | Http2ServerRequest, answer: Answer) => {
    request.on('error', () => undefined);
    answer.on('error', () => undefined);
    void receive(request).then(body => {
      const socket = request.socket as TLSSocket;
      const item: SeenRequest = {
        method: request.method ?? '',
        path: request.url ?? '',
        headers: request.headers,
        body,
        client: commonNameOf(socket),
        socket: numbers.get(socket.remotePort) ?? 0,
      };
      seen.push(item);
      return handler(item, answer, seen.length);
    });
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const url = `${options.protocol === 'plain' ? 'http' : 'https'}://127.0.0.1:${port}`;
  const stop = async () => {
    const closed = new Promise(resolve => server.close(resolve));
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  return {
    url,
    port,
    ca,
    seen,
    sockets,
    sessions,
    accepted: () => accepted,
    refused: () => refused,
    connection: more => connectionTo(url, ca.cert, more),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

export function json(answer: Answer, status: number, body: unknown, headers: Record<string, string> = {}): void {
  answer.writeHead(status, { 'content-type': 'application/json', ...headers });
  answer.end(JSON.stringify(body));
}

/** The HTTP/2 stream under an answer, for faults that HTTP has no words for. */
export function streamOf(answer: Answer): ServerHttp2Stream {
  return (answer as unknown as Http2ServerResponse).stream;
}

/** A connection without a kubeconfig. */
export function connectionTo(server: string, trusted: string | undefined, more: Partial<Connection> = {}): Connection {
  return {
    server,
    skipTlsVerify: false,
    trusted: () => Promise.resolve(trusted),
    identity: { current: () => Promise.resolve({}), renew: () => Promise.resolve(false) },
    ...more,
  };
}

export function clientCertificate(ca: TestCa, commonName: string): ClientCertificate {
  const { cert, key } = ca.issue({ commonName });
  return { certificate: cert, key: new Secret(key) };
}

function makeServer(ca: TestCa, { protocol = 'h2', names = ['127.0.0.1', 'localhost'], ...options }: ServerOptions) {
  if (protocol === 'plain') return createPlainServer();
  const { cert, key } = ca.issue({ commonName: 'server', names });
  const tls = { cert, key, ca: ca.cert, requestCert: options.askCertificate === true, rejectUnauthorized: false };
  if (protocol === 'http/1.1') return createHttp1Server({ ...tls, ALPNProtocols: ['http/1.1'] });
  return createSecureServer({ ...tls, ...(options.settings && { settings: options.settings }) });
}

async function receive(request: IncomingMessage | Http2ServerRequest): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

function commonNameOf(socket: TLSSocket): string | undefined {
  const name = socket.getPeerCertificate?.().subject?.CN;
  return typeof name === 'string' ? name : undefined;
}
