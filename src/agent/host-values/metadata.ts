import { Agent, request } from 'node:http';
import type { Clock } from '#base/clock.ts';
import { withDeadline } from '#base/waiting/deadline.ts';

export interface MetadataRequest {
  method: 'GET' | 'PUT';
  url: string;
  headers: Readonly<Record<string, string>>;
}

export interface MetadataAnswer {
  status: number;
  /** With lower-case names. */
  headers: Readonly<Record<string, string | undefined>>;
  text: string;
}

/** The metadata service of a cloud. */
export interface Metadata {
  /** Rejects when there is no response in time. */
  ask(question: MetadataRequest, signal: AbortSignal): Promise<MetadataAnswer>;
}

const answerLimitMs = 2000;
const maxBytes = 16 * 1024;

/** By HTTP, never through a proxy: the address is link-local. */
export function httpMetadata(clock: Clock): Metadata {
  return {
    ask: (question, signal) => {
      const error = () => new Error(`no answer from ${question.url} within ${answerLimitMs / 1000} s`);
      return withDeadline({ clock, ms: answerLimitMs, error, signal }, deadline => send(question, deadline));
    },
  };
}

function send({ method, url, headers }: MetadataRequest, signal: AbortSignal): Promise<MetadataAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<MetadataAnswer>();
  // The global agent may use a proxy of the environment.
  const sending = request(url, { method, headers, signal, agent: new Agent() }, response => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    response.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > maxBytes) response.destroy(new Error(`the response from ${url} has more than ${maxBytes} bytes`));
      else chunks.push(chunk);
    });
    response.on('error', reject);
    response.on('end', () => {
      const single = Object.entries(response.headers).map(([name, value]) => [name, String(value)]);
      const text = Buffer.concat(chunks).toString('utf8');
      resolve({ status: response.statusCode ?? 0, headers: Object.fromEntries(single), text });
    });
  });
  sending.on('error', reject);
  sending.end();
  return promise;
}
