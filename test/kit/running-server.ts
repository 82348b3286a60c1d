import { request as httpRequest, type Server } from 'node:http';
import { request as httpsRequest, type RequestOptions } from 'node:https';
import { onTestFinished } from 'vitest';
import type { Runnable } from '../../src/kube/controller/manager.ts';
import type { WebServerOptions } from '../../src/operator/serve/web-server.ts';

export interface HttpAnswer {
  code: number;
  type: string;
  text: string;
}

/** Starts a server, waits until it is ready, and stops it at the end of the test. */
export async function running(server: Runnable): Promise<{ stop: () => Promise<void> }> {
  const stop = new AbortController();
  const { promise: isReady, resolve } = Promise.withResolvers<void>();
  const over = server.run(stop.signal, resolve);
  const end = async () => {
    stop.abort();
    await over;
  };
  onTestFinished(end);
  await Promise.race([isReady, over]);
  return { stop: end };
}

/** Records the port of a server. */
export function portOf(): { port: number; server?: Server; onListening: NonNullable<WebServerOptions['onListening']> } {
  const found: ReturnType<typeof portOf> = {
    port: 0,
    onListening: (server, port) => {
      Object.assign(found, { server, port });
      return () => undefined;
    },
  };
  return found;
}

/** One request on its own connection. */
export function ask(url: string, options: RequestOptions & { text?: string } = {}): Promise<HttpAnswer> {
  const send = url.startsWith('https:') ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const call = send(url, { agent: false, ...options }, response => {
      let text = '';
      response.setEncoding('utf8').on('data', chunk => (text += String(chunk)));
      response.once('end', () =>
        resolve({ code: response.statusCode ?? 0, type: response.headers['content-type'] ?? '', text }),
      );
    });
    call.once('error', reject);
    call.end(options.text);
  });
}
