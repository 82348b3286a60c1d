import { once } from 'node:events';
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2';
import type { Socket } from 'node:net';
import type { Clock } from '#base/clock.ts';
import { notNeeded, orAborted } from '#base/waiting/abort.ts';
import { type Channel, type Exchange, Interrupted, type Request } from './exchange.ts';

export interface SessionOptions {
  clock: Clock;
  /** Concurrent exchanges; API servers allow 100 or 250 and close sessions that exceed it. */
  maxStreams: number;
  pingIntervalMs: number;
  pingTimeoutMs: number;
}

const streamWindowBytes = 512 * 1024;
/** For all streams of a session: one that is not read must not block the others. */
const sessionWindowBytes = 64 * 1024 * 1024;

const { NGHTTP2_CANCEL, NGHTTP2_REFUSED_STREAM } = constants;

/** An HTTP/2 session. Pings detect a dead peer, which TCP alone would notice only after minutes. */
export class Session implements Channel {
  readonly #session: ClientHttp2Session;
  readonly #socket: Socket;
  readonly #options: SessionOptions;
  readonly #closed = new AbortController();
  #streams = 0;
  #answered = false;
  #retired = false;
  #error: Error | undefined;

  /** Resolves once the server has sent its stream limit; a burst before that would be refused. */
  static async start(
    authority: string,
    socket: Socket,
    options: SessionOptions,
    signal: AbortSignal,
  ): Promise<Session> {
    const session = new Session(authority, socket, options);
    try {
      await orAborted(session.#hasSettings(), signal);
      return session;
    } catch (error) {
      await session.destroy(error as Error);
      throw error;
    }
  }

  private constructor(authority: string, socket: Socket, options: SessionOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#session = connect(authority, {
      createConnection: () => socket,
      settings: { enablePush: false, initialWindowSize: streamWindowBytes },
    });
    this.#session.on('error', (error: Error) => {
      this.#error ??= error;
    });
    this.#session.once('connect', () => this.#session.setLocalWindowSize(sessionWindowBytes));
    this.#session.once('goaway', () => this.retire());
    this.#session.once('close', () => this.#closed.abort());
    void this.#watchPeer();
  }

  get isUsable(): boolean {
    return !this.#retired && !this.#session.closed && !this.#session.destroyed;
  }

  get isClosed(): boolean {
    return this.#closed.signal.aborted;
  }

  get free(): number {
    const announced = this.#session.remoteSettings?.maxConcurrentStreams ?? this.#options.maxStreams;
    return Math.min(this.#options.maxStreams, announced) - this.#streams;
  }

  open(request: Request, signal: AbortSignal): Promise<Exchange> {
    let stream: ClientHttp2Stream;
    try {
      stream = this.#session.request(
        { ':method': request.method, ':path': request.path, ...request.headers },
        { endStream: request.body === undefined },
      );
    } catch (error) {
      // The session was closed after it was chosen.
      return Promise.reject(new Interrupted('always', this.#error ?? error));
    }
    this.#streams += 1;
    stream.once('close', () => {
      this.#streams -= 1;
    });
    if (request.body !== undefined) stream.end(request.body);
    return this.#head(stream, signal);
  }

  retire(): void {
    this.#retired = true;
    if (!this.#session.destroyed) this.#session.close();
  }

  async destroy(reason: Error): Promise<void> {
    this.#retired = true;
    if (this.isClosed) return;
    const closed = once(this.#closed.signal, 'abort');
    this.#cut(reason);
    await closed;
  }

  /** Closes everything. Streams need the error; without it they would end as if complete. */
  #cut(error: Error): void {
    this.#session.destroy(error, NGHTTP2_CANCEL);
    // A closing session waits for its peer, and a dead peer never answers.
    this.#socket.destroy();
  }

  #hasSettings(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#session.once('remoteSettings', () => resolve());
      this.#session.once('close', () => reject(this.#error ?? new Error('the server closed the connection')));
    });
  }

  #head(stream: ClientHttp2Stream, signal: AbortSignal): Promise<Exchange> {
    const cancel = () => stream.close(NGHTTP2_CANCEL);
    return new Promise((resolve, reject) => {
      const end = () => {
        signal.removeEventListener('abort', abort);
        stream.off('close', fail);
      };
      const abort = () => {
        end();
        cancel();
        reject(signal.reason);
      };
      const fail = () => {
        end();
        reject(this.#interruption(stream, failure));
      };
      let failure: Error | undefined;
      // 'close' follows every error; without a listener an error would end the process.
      stream.on('error', (error: Error) => {
        failure = error;
      });
      stream.once('close', fail);
      stream.once('response', headers => {
        end();
        this.#answered = true;
        const { ':status': status = 0, ...rest } = headers;
        resolve({ status, headers: rest, body: stream, cancel });
      });
      if (signal.aborted) abort();
      else signal.addEventListener('abort', abort, { once: true });
    });
  }

  #interruption(stream: ClientHttp2Stream, failure: Error | undefined): Interrupted {
    const what = this.#session.destroyed ? 'closed the connection' : 'ended the stream';
    const cause = this.#error ?? failure ?? new Error(`the server ${what}`);
    // The protocol guarantees that a refused stream was not processed.
    if (stream.rstCode === NGHTTP2_REFUSED_STREAM) return new Interrupted('always', cause);
    // On a session that has worked before, the server probably stopped while the request was in transit.
    return new Interrupted(this.#answered && this.#session.destroyed ? 'if idempotent' : 'never', cause);
  }

  async #watchPeer(): Promise<void> {
    const { clock, pingIntervalMs, pingTimeoutMs } = this.#options;
    try {
      for (;;) {
        await clock.sleep(pingIntervalMs, this.#closed.signal);
        if (!(await this.#isAlive(pingTimeoutMs))) {
          this.#error ??= new Error(`the server did not answer a ping within ${pingTimeoutMs / 1000} s`);
          this.#cut(this.#error);
        }
      }
    } catch {
      // The session is closed.
      this.#socket.destroy();
    }
  }

  async #isAlive(timeoutMs: number): Promise<boolean> {
    const waiting = new AbortController();
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const answered = (error: Error | null) => resolve(!error);
    // A closing session rejects pings but still acknowledges settings.
    if (this.#session.closed) this.#session.settings({ enablePush: false }, answered);
    else this.#session.ping(answered);
    this.#options.clock.sleep(timeoutMs, waiting.signal).then(
      () => resolve(false),
      () => undefined,
    );
    const alive = await promise;
    waiting.abort(notNeeded);
    return alive || this.#session.destroyed;
  }
}
