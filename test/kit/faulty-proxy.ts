import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Agent, request } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Connection } from '#kube/transport/connection.ts';
import { connectionTo } from './tls-server.ts';

/** What becomes of a request: passed on, or refused with this code. */
export type Fault = (path: string) => { code: number; retryAfterSeconds?: number } | undefined;

/** A proxy that talks to the server as its administrator, and answers in its place where a test says so. */
export interface FaultyProxy extends AsyncDisposable {
  /** For a client that goes through the proxy. */
  readonly connection: Connection;
  /** How many requests were refused since the start. */
  refused(): number;
  refuse(fault: Fault): void;
  /** Ends all answers under way, watches among them, with an event of type ERROR. */
  endStreams(code: number): void;
  pass(): void;
}

export async function startFaultyProxy(target: Connection): Promise<FaultyProxy> {
  const { clientCertificate } = await target.identity.current(AbortSignal.timeout(5000));
  const agent = new Agent({
    keepAlive: true,
    ca: await target.trusted(),
    cert: clientCertificate?.certificate,
    key: clientCertificate?.key.reveal(),
  });
  const answers = new Set<ServerResponse>();
  let [refused, fault] = [0, (() => undefined) as Fault];
  const server = createServer((incoming, answer) => {
    const refusal = fault(incoming.url ?? '');
    answers.add(answer.once('close', () => answers.delete(answer)));
    if (refusal === undefined) return forward(new URL(incoming.url ?? '', target.server), agent, incoming, answer);
    refused += 1;
    answer.setHeader('content-type', 'application/json');
    if (refusal.retryAfterSeconds !== undefined) answer.setHeader('retry-after', refusal.retryAfterSeconds);
    answer.writeHead(refusal.code);
    answer.end(JSON.stringify(statusOf(refusal.code)));
    return undefined;
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return {
    connection: connectionTo(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, undefined),
    refused: () => refused,
    refuse: next => {
      fault = next;
    },
    pass: () => {
      fault = () => undefined;
    },
    endStreams: code => {
      for (const answer of answers) answer.end(`${JSON.stringify({ type: 'ERROR', object: statusOf(code) })}\n`);
    },
    [Symbol.asyncDispose]: async () => {
      const closed = new Promise(resolve => server.close(resolve));
      server.closeAllConnections();
      agent.destroy();
      await closed;
    },
  };
}

function forward(url: URL, agent: Agent, incoming: IncomingMessage, answer: ServerResponse): void {
  const { host: _, ...headers } = incoming.headers;
  const outgoing = request(url, { agent, method: incoming.method ?? 'GET', headers }, response => {
    answer.writeHead(response.statusCode ?? 502, response.headers);
    // Not by a pipe, which would write on after the proxy has ended the answer.
    response.on('data', chunk => answer.writableEnded || answer.write(chunk));
    response.on('end', () => answer.end()).on('error', () => answer.destroy());
  });
  outgoing.on('error', () => answer.destroy());
  answer.on('close', () => outgoing.destroy());
  incoming.pipe(outgoing);
}

function statusOf(code: number) {
  return { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, message: 'this is a drill', reason: 'Drill' };
}
