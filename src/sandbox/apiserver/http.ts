import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ServerHttp2Stream } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import type { Log } from '#base/log.ts';
import { type Body, maxBodyBytes, tooLarge } from './body.ts';
import type { Core } from './core.ts';
import { admitRequest, answerRequest, type Incoming, type RequestHook, type ServerFacts } from './pipeline.ts';
import { viewOfMessage } from './representation.ts';
import type { Answer } from './router.ts';
import { internal, StatusError, statusBody } from './status.ts';
import { startWatch } from './watch.ts';

/** Buffer limit of a slow watch client. */
const maxPendingBytes = 32 * 1024 * 1024;

export interface Responder {
  handle(request: IncomingMessage, response: ServerResponse): void;
  /** Ends all watches. */
  stop(): void;
}

/** Connects HTTP to the request pipeline. */
export function createResponder(core: Core, facts: ServerFacts, log: Log, beforeRequest?: RequestHook): Responder {
  const watches = new Set<() => void>();
  const certificates = new WeakMap<object, { raw: Buffer | undefined }>();
  /** Read once for each connection. */
  const certificateOf = (request: IncomingMessage): Buffer | undefined => {
    const socket = request.socket as TLSSocket;
    // Every HTTP/2 request has another object for its socket.
    const connection = (request as { stream?: ServerHttp2Stream }).stream?.session ?? socket;
    const known = certificates.get(connection) ?? { raw: socket.getPeerX509Certificate()?.raw };
    certificates.set(connection, known);
    return known.raw;
  };
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const incoming = readIncoming(request, certificateOf(request));
    const admitted = admitRequest(core, incoming);
    const body = await readBody(request);
    await beforeRequest?.(admitted);
    const result = answerRequest(core, facts, admitted, body);
    if (result.is === 'watch') streamWatch(core, result, response, watches);
    else writeAnswer(response, result);
  };
  return {
    handle: (request, response) => {
      // Clients may disconnect at any time.
      request.on('error', () => undefined);
      response.on('error', () => undefined);
      // The time of its clock, which clients compare with that of hosts.
      response.setHeader('date', new Date(core.clock.now()).toUTCString());
      answer(request, response).catch((error: unknown) => reject(response, error, log));
    },
    stop: () => {
      for (const end of watches) end();
    },
  };
}

function readIncoming(request: IncomingMessage, clientCertificate: Buffer | undefined): Incoming {
  const url = new URL(`https://localhost${request.url ?? '/'}`);
  return {
    method: request.method ?? 'GET',
    path: url.pathname,
    query: url.searchParams,
    credentials: { authorization: request.headers.authorization, clientCertificate },
    rawHeaders: request.rawHeaders,
    accept: request.headers.accept ?? '',
    userAgent: request.headers['user-agent'] ?? '',
  };
}

async function readBody(request: IncomingMessage): Promise<Body> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length <= maxBodyBytes) chunks.push(chunk);
  }
  if (length > maxBodyBytes) throw tooLarge();
  return { contentType: request.headers['content-type'] ?? '', bytes: Buffer.concat(chunks) };
}

type Written = Exclude<Answer, { is: 'watch' }>;

function writeAnswer(response: ServerResponse, answer: Written): void {
  if (answer.is === 'body') {
    write(response, answer.code, 'application/json', Buffer.from(JSON.stringify(answer.body)));
  } else if (answer.is === 'text') write(response, answer.code, 'text/plain; charset=utf-8', Buffer.from(answer.text));
  else write(response, answer.code, answer.contentType, answer.bytes);
}

function write(response: ServerResponse, code: number, contentType: string, bytes: Buffer): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(code, {
    'content-type': contentType,
    'content-length': bytes.length,
    'cache-control': 'no-cache, private',
  });
  response.end(bytes);
}

function reject(response: ServerResponse, error: unknown, log: Log): void {
  // The client has disconnected.
  if (response.destroyed) return;
  if (!(error instanceof StatusError)) log.error('Request failed', { error });
  const rejection =
    error instanceof StatusError
      ? error
      : internal(`Internal error occurred: ${error instanceof Error ? error.message : 'unknown'}`);
  const { status } = rejection;
  const seconds = status.details?.retryAfterSeconds;
  if (seconds !== undefined && !response.headersSent) response.setHeader('retry-after', String(seconds));
  writeAnswer(response, { is: 'body', code: status.code, body: statusBody(status) });
}

function streamWatch(
  core: Core,
  { scope, options, view }: Extract<Answer, { is: 'watch' }>,
  response: ServerResponse,
  watches: Set<() => void>,
): void {
  response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-cache, private' });
  response.flushHeaders();
  let first = true;
  let isTooSlow = false;
  const end = (): void => {
    stop();
    watches.delete(end);
    if (!response.writableEnded) response.end();
  };
  let stop = (): void => undefined;
  watches.add(end);
  response.on('close', end);
  stop = startWatch(core, scope, options, {
    send: message => {
      if (isTooSlow) return;
      const shown = viewOfMessage({ ...view, now: core.clock.now() }, message, first);
      first = false;
      response.write(`${JSON.stringify(shown)}\n`);
      // A client that reads too slowly must list again.
      isTooSlow = response.writableLength > maxPendingBytes;
      if (isTooSlow) queueMicrotask(end);
    },
    end,
  });
}
