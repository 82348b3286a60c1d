import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { createInterface } from 'node:readline';

export interface TargetOptions {
  url: string;
  ca: string;
  cert?: string;
  key?: string;
  token?: string;
}

export interface Sent {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: string;
}

export interface Received {
  code: number;
  body: unknown;
}

/** An API server over plain HTTPS, so that our client cannot hide a difference. */
export class Target {
  readonly #agent: Agent;
  readonly #options: TargetOptions;

  constructor(options: TargetOptions) {
    this.#options = options;
    const { ca, cert, key } = options;
    this.#agent = new Agent({
      keepAlive: true,
      maxSockets: 16,
      ca,
      ...(cert === undefined ? {} : { cert }),
      ...(key === undefined ? {} : { key }),
    });
  }

  async send(sent: Sent): Promise<Received> {
    const response = await this.#open(sent);
    const chunks: Buffer[] = [];
    for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    return { code: response.statusCode ?? 0, body: parsed(text) };
  }

  /** Objects of a stream, one per line, until it ends. */
  async stream(sent: Sent): Promise<{ code: number; lines: Promise<unknown[]> }> {
    const response = await this.#open(sent);
    const collect = async (): Promise<unknown[]> => {
      const lines: unknown[] = [];
      for await (const line of createInterface({ input: response })) if (line !== '') lines.push(parsed(line));
      return lines;
    };
    return { code: response.statusCode ?? 0, lines: collect() };
  }

  close(): void {
    this.#agent.destroy();
  }

  #open({ method, path, headers, body }: Sent): Promise<IncomingMessage> {
    const { url, token } = this.#options;
    return new Promise((resolve, reject) => {
      const call = request(`${url}${path}`, {
        method,
        agent: this.#agent,
        headers: {
          ...headers,
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          // Without it the body of a DELETE would be read as the next request.
          ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }),
        },
        timeout: 30_000,
      });
      call.once('response', resolve);
      call.once('timeout', () => call.destroy(new Error(`no answer to ${method} ${path}`)));
      call.once('error', reject);
      call.end(body);
    });
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
