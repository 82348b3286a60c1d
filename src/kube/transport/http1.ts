import { once } from 'node:events';
import { Agent, type ClientRequest, type IncomingMessage, request as send } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type Channel, type Exchange, Interrupted, type Request } from './exchange.ts';

/** Concurrent connections; each watch needs one. */
const maxSockets = 256;
/** Kept for the next request; API servers close idle connections after some minutes. */
const maxFreeSockets = 8;

/** HTTP/1.1 for servers and proxies without HTTP/2: one exchange per connection at a time, with keep-alive. */
export class Http1Channel implements Channel {
  readonly #agent: DialingAgent;
  readonly #host: string;
  #retired = false;

  constructor(server: URL, first: Socket, dialSocket: () => Promise<Socket>) {
    this.#host = server.host;
    this.#agent = new DialingAgent(first, dialSocket);
  }

  get isUsable(): boolean {
    return !this.#retired;
  }

  get isClosed(): boolean {
    return this.#retired && this.#agent.openSockets().length === 0;
  }

  get free(): number {
    return Number.POSITIVE_INFINITY;
  }

  open({ method, path, headers, body }: Request, signal: AbortSignal): Promise<Exchange> {
    return new Promise((resolve, reject) => {
      const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
      const call = send({
        agent: this.#agent,
        method,
        path,
        headers: { ...headers, host: this.#host, ...length },
      });
      const abort = () => call.destroy();
      const end = () => signal.removeEventListener('abort', abort);
      call.once('response', response => {
        end();
        resolve(exchangeOf(call, response));
      });
      call.on('error', error => {
        end();
        reject(signal.aborted ? signal.reason : interruption(call, error));
      });
      if (signal.aborted) abort();
      else signal.addEventListener('abort', abort, { once: true });
      call.end(body);
    });
  }

  retire(): void {
    this.#retired = true;
    this.#agent.retire();
  }

  async destroy(): Promise<void> {
    this.#retired = true;
    await this.#agent.end();
  }
}

function exchangeOf(call: ClientRequest, response: IncomingMessage): Exchange {
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    body: response,
    cancel: () => call.destroy(),
  };
}

/** A server may close an idle connection just when it is reused, before it has processed the request. */
function interruption(call: ClientRequest, error: Error): Interrupted | Error {
  if (error instanceof DialFailure) return error.reason;
  return new Interrupted(call.reusedSocket ? 'if idempotent' : 'never', error);
}

class DialFailure extends Error {
  readonly reason: Error;

  constructor(reason: Error) {
    super(reason.message);
    this.reason = reason;
  }
}

/** Uses the socket that negotiated the protocol, then dials further ones. */
class DialingAgent extends Agent {
  #first: Socket | undefined;
  readonly #dial: () => Promise<Socket>;

  constructor(first: Socket, dialSocket: () => Promise<Socket>) {
    super({ keepAlive: true, maxSockets, maxFreeSockets });
    this.#dial = dialSocket;
    this.#first = first;
    first.on('error', () => undefined).once('close', () => this.#takeFirst());
  }

  override createConnection(_: unknown, callback?: (error: Error | null, stream: Duplex) => void): Duplex | null {
    const first = this.#takeFirst();
    if (first !== undefined && !first.destroyed) return first;
    void this.#connect(callback ?? (() => undefined));
    return null;
  }

  async #connect(done: (error: Error | null, stream: Duplex) => void): Promise<void> {
    try {
      done(null, await this.#dial());
    } catch (error) {
      done(new DialFailure(error as Error), undefined as never);
    }
  }

  retire(): void {
    this.#takeFirst()?.destroy();
    for (const socket of Object.values(this.freeSockets).flat()) socket?.destroy();
    this.maxFreeSockets = 0;
  }

  openSockets(): Socket[] {
    const groups = [this.sockets, this.freeSockets].flatMap(group => Object.values(group).flat());
    return [this.#first, ...groups].filter(socket => socket !== undefined && !socket.closed) as Socket[];
  }

  async end(): Promise<void> {
    const closed = this.openSockets().map(socket => once(socket, 'close'));
    this.#takeFirst()?.destroy();
    this.destroy();
    await Promise.allSettled(closed);
  }

  #takeFirst(): Socket | undefined {
    const first = this.#first;
    this.#first = undefined;
    return first;
  }
}
