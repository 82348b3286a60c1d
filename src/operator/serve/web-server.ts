import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import { AppError } from '#base/errors.ts';
import type { Log } from '#base/log.ts';
import type { Runnable } from '#kube/controller/manager.ts';
import { whenAborted } from '#base/waiting/deadline.ts';
import type { ListenAddress } from '../settings.ts';

export interface WebAnswer {
  code: number;
  text: string;
  contentType?: string;
}

/** Handles a GET request; undefined for an unknown path. */
export type WebHandler = (
  path: string,
  authorization: string,
) => Promise<WebAnswer | undefined> | WebAnswer | undefined;

export interface WebServerOptions {
  /** For messages. */
  name: string;
  address: ListenAddress;
  handle: WebHandler;
  log: Log;
  /** Plain HTTP if not set. */
  tls?: ServerOptions;
  /** Called with the server and its port; returns the function to call at the end. */
  onListening?: (server: Server, port: number) => () => void;
}

const requestMs = 10_000;
const maxConnections = 100;

/** A small HTTP server for health and metrics. */
export function webServer(options: WebServerOptions): Runnable {
  const { name, tls } = options;
  return {
    name,
    run: async (signal, ready) => {
      const answer = (request: IncomingMessage, response: ServerResponse) => void respond(request, response, options);
      const server = tls === undefined ? createHttpServer(answer) : createHttpsServer(tls, answer);
      Object.assign(server, { requestTimeout: requestMs, headersTimeout: requestMs, maxConnections });
      const port = await listen(server, options);
      const atEnd = options.onListening?.(server, port);
      options.log.info(`Starting ${name}`, { address: `${options.address.host}:${port}`, tls: tls !== undefined });
      ready();
      await whenAborted(signal);
      atEnd?.();
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}

function listen(server: Server, { name, address }: WebServerOptions): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  server.once('error', (cause: NodeJS.ErrnoException) =>
    reject(
      new AppError('LISTEN_FAILED', `${name} cannot listen at ${address.host}:${address.port} (${cause.code})`, {
        remedy: 'Set another address, or stop the program that uses this one.',
        cause,
      }),
    ),
  );
  server.listen({ port: address.port, ...(address.host !== '' && { host: address.host }) }, () => {
    // Later errors concern single connections.
    server.removeAllListeners('error').on('error', () => undefined);
    resolve((server.address() as AddressInfo).port);
  });
  return promise;
}

async function respond(request: IncomingMessage, response: ServerResponse, { handle, log, name }: WebServerOptions) {
  const {
    code,
    text,
    contentType = 'text/plain; charset=utf-8',
  } = await answerTo(request, handle).catch((error: unknown): WebAnswer => {
    log.warn('Request failed', { server: name, error });
    return { code: 500, text: 'internal error\n' };
  });
  response.writeHead(code, { 'content-type': contentType, 'content-length': Buffer.byteLength(text) });
  response.end(request.method === 'HEAD' ? undefined : text);
}

async function answerTo({ method, url = '', headers }: IncomingMessage, handle: WebHandler): Promise<WebAnswer> {
  if (method !== 'GET' && method !== 'HEAD') return { code: 405, text: 'only GET and HEAD are allowed\n' };
  const [path = ''] = url.split('?', 1);
  return (await handle(path, headers.authorization ?? '')) ?? { code: 404, text: 'not found\n' };
}
