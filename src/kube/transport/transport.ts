import { type Clock, systemClock } from '#base/clock.ts';
import { type Log, silentLog } from '#base/log.ts';
import type { ClientCertificate, Connection, Credential } from './connection.ts';
import { orAborted, startDeadline } from './deadline.ts';
import { dial, type DialTarget } from './dial.ts';
import { type Channel, type Exchange, Interrupted, type Request } from './exchange.ts';
import { broken, clientClosed, requestName, tooLate, unreachable } from './failures.ts';
import { Http1Channel } from './http1.ts';
import { Session } from './session.ts';

export interface TransportOptions {
  clock?: Clock;
  log?: Log;
  /** For everything from the name of the host to the end of the TLS handshake. */
  connectTimeoutMs?: number;
  /** How long a session may be left without a sign of life, and how long to wait for one. */
  pingIntervalMs?: number;
  pingTimeoutMs?: number;
  /** Exchanges on one HTTP/2 session before another is opened. */
  maxStreams?: number;
  maxSessions?: number;
}

/** How often a request is sent again that the server cannot have seen. */
const maxRepeats = 10;

/** Sends requests over as few connections as it can, and over new ones when the old ones break or their certificates change. */
export class Transport {
  readonly #connection: Connection;
  readonly #server: URL;
  readonly #options: Required<TransportOptions>;
  readonly #closing = new AbortController();
  #channels: Channel[] = [];
  #material: Material = { trusted: undefined, certificate: undefined };
  #opening: Promise<void> | undefined;

  constructor(connection: Connection, options: TransportOptions = {}) {
    this.#connection = connection;
    this.#server = new URL(connection.server);
    this.#options = {
      clock: systemClock,
      log: silentLog,
      connectTimeoutMs: 10_000,
      // A dead connection is found within 10 s, so that informers are up to date again within 15.
      pingIntervalMs: 5_000,
      pingTimeoutMs: 5_000,
      maxStreams: 90,
      maxSessions: 16,
      ...options,
    };
  }

  /** Resolves with the head of the answer. The signal ends the call until then; afterwards the exchange is the caller's. */
  async send(request: Request, credential: Credential, signal: AbortSignal): Promise<Exchange> {
    const name = requestName(request.method, request.path);
    this.#use({ trusted: await this.#connection.trusted(), certificate: credential.clientCertificate });
    for (let repeats = 0; ; ) {
      if (this.#closing.signal.aborted) throw clientClosed(name);
      signal.throwIfAborted();
      // Choosing and using are one step: whoever waits for a connection may find it full when it is there.
      const channel = this.#pick();
      if (channel === undefined) {
        this.#opening ??= this.#startOpening(this.#material);
        await orAborted(this.#opening, signal);
        continue;
      }
      try {
        return await channel.open(request, signal);
      } catch (error) {
        if (!(error instanceof Interrupted)) throw error;
        if (this.#closing.signal.aborted) throw clientClosed(name);
        if (repeats === maxRepeats || !mayRepeat(error, request, repeats)) throw broken(name, error);
        this.#options.log.debug('Repeating a request on another connection', { request: name, error: error.cause });
        repeats += 1;
      }
    }
  }

  /** Ends all connections at once; what is under way fails. */
  async close(): Promise<void> {
    const reason = clientClosed(this.#connection.server);
    this.#closing.abort(reason);
    const channels = this.#channels;
    this.#channels = [];
    await Promise.allSettled([this.#opening, ...channels.map(channel => channel.destroy(reason))]);
  }

  /** Connections made with an old certificate take no new requests; those under way end in their own time. */
  #use(material: Material): void {
    if (isSame(this.#material, material)) return;
    if (this.#channels.length > 0)
      this.#options.log.info('Certificates changed, opening new connections', { server: this.#connection.server });
    for (const channel of this.#channels) channel.retire();
    this.#opening = undefined;
    this.#material = material;
  }

  #pick(): Channel | undefined {
    this.#channels = this.#channels.filter(channel => !channel.isClosed);
    const usable = this.#channels.filter(channel => channel.isUsable);
    const free = usable.find(channel => channel.free > 0);
    if (free !== undefined || usable.length < this.#options.maxSessions) return free;
    // Beyond the bound requests wait in the session that has the fewest; their deadline ends a wait that is too long.
    return usable.reduce((best, channel) => (channel.free > best.free ? channel : best));
  }

  /** One connection is opened at a time, whoever waits for it. */
  #startOpening(material: Material): Promise<void> {
    const opening = this.#open(material).finally(() => {
      if (this.#opening === opening) this.#opening = undefined;
    });
    // Those who waited may all have given up by the time it fails.
    opening.catch(() => undefined);
    return opening;
  }

  async #open(material: Material): Promise<void> {
    const channel = await this.#dialChannel(material);
    if (isSame(this.#material, material) && !this.#closing.signal.aborted) this.#channels.push(channel);
    else await channel.destroy(clientClosed(this.#connection.server));
  }

  #dialChannel(material: Material): Promise<Channel> {
    return this.#connecting(async signal => {
      const { socket, protocol } = await dial(this.#target(material), signal);
      if (protocol === 'h2') return Session.start(this.#server.origin, socket, this.#options, signal);
      const dialMore = () => this.#connecting(async within => (await dial(this.#target(material), within)).socket);
      return new Http1Channel(this.#server, socket, dialMore);
    });
  }

  /** Runs something that connects, within the time for it. */
  async #connecting<T>(run: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { clock, connectTimeoutMs } = this.#options;
    const { server } = this.#connection;
    const late = () => tooLate(`connecting to ${server}`, connectTimeoutMs);
    const deadline = startDeadline(clock, connectTimeoutMs, late, this.#closing.signal);
    try {
      return await run(deadline.signal);
    } catch (error) {
      throw unreachable(server, error);
    } finally {
      deadline.end();
    }
  }

  #target({ trusted, certificate }: Material): DialTarget {
    const { serverName, skipTlsVerify, proxyUrl } = this.#connection;
    return { server: this.#server, serverName, skipTlsVerify, proxyUrl, trusted, clientCertificate: certificate };
  }
}

interface Material {
  trusted: string | undefined;
  certificate: ClientCertificate | undefined;
}

function isSame(one: Material, other: Material): boolean {
  return one.trusted === other.trusted && one.certificate?.certificate === other.certificate?.certificate;
}

function mayRepeat({ repeatable }: Interrupted, { method }: Request, repeats: number): boolean {
  if (repeatable === 'always') return true;
  return repeatable === 'if idempotent' && method === 'GET' && repeats === 0;
}
