import { type ApiServer, type ApiServerOptions, startApiServer } from '../../src/sandbox/apiserver/server.ts';
import { StatusError } from '../../src/sandbox/apiserver/status.ts';
import { mergePatch } from './parity-cases/case.ts';
import { type Received, Target } from './parity-cases/target.ts';

/** An API server of the sandbox with a plain HTTP client. */
export interface Sandbox extends AsyncDisposable {
  server: ApiServer;
  target: Target;
  /** Method and path, and a body that is sent as JSON unless it is a text. */
  send(request: string, body?: unknown, headers?: Record<string, string>): Promise<Received>;
  /** The same for preparing steps: fails when the server rejects the request. */
  make(request: string, body?: unknown, headers?: Record<string, string>): Promise<Json>;
}

export type Json = Record<string, unknown>;

export async function startSandbox(options: ApiServerOptions = {}): Promise<Sandbox> {
  const server = await startApiServer(options);
  const target = new Target({ url: server.url, ca: server.ca });
  const send: Sandbox['send'] = (request, body, headers = {}) => {
    const [method = 'GET', path = '/'] = request.split(' ');
    const type = method === 'PATCH' ? mergePatch : 'application/json';
    return target.send({
      method,
      path,
      headers: { ...(body === undefined ? {} : { 'content-type': type }), ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  };
  return {
    server,
    target,
    send,
    make: async (request, body, headers) => {
      const received = await send(request, body, headers);
      if (received.code >= 300) throw new Error(`${request}: ${received.code} ${JSON.stringify(received.body)}`);
      return received.body as Json;
    },
    [Symbol.asyncDispose]: async () => {
      target.close();
      await server.close();
    },
  };
}

/** Code and message of a StatusError; any other error is rethrown. */
export function refusal(act: () => unknown): [code: number, message: string] | undefined {
  try {
    act();
    return undefined;
  } catch (error) {
    if (error instanceof StatusError) return [error.status.code, error.status.message];
    throw error;
  }
}
