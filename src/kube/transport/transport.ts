import { type Clock, systemClock } from '#base/clock.ts';
import { type Log, silentLog } from '#base/log.ts';
import type { ClientCertificate, Connection, Credential } from './connection.ts';
import { orAborted, startDeadline } from '#base/waiting/abort.ts';
import { dial, type DialTarget } from './dial.ts';
import { type Channel, type Exchange, Interrupted, type Request } from './exchange.ts';
import { broken, clientClosed, requestName, tooLate, unreachable } from './failures.ts';
import { Http1Channel } from './http1.ts';
import { Session } from './session.ts';

export interface TransportOptions {
  clock?: Clock;
  log?: Log;
  /** From the DNS lookup to the end of the TLS handshake. */
  connectTimeoutMs?: number;
  pingIntervalMs?: number;
  pingTimeoutMs?: number;
  /** Exchanges on one HTTP/2 session before another one is opened. */
  maxStreams?: number;
  maxSessions?: number;
}

/** How often a request is repeated that the server did not process. */
const maxRepeats = 10;

/** Sends requests over few connections, and over new ones when those fail or certificates change. */
export class Transport {
  readonly #connection: Connection;
  readonly #options: Required<TransportOptions>;
  readonly #closing = new AbortController();
  #channels: Channel[] = [];
  #settings: ConnectionSettings;
  #opening: Promise<void> | undefined;

  constructor(connection: Connection, options: TransportOptions = {}) {
    this.#connection = connection;
    this.#settings = settingsOf(connection, undefined, undefined);
    this.#options = {
      clock: systemClock,
      log: silentLog,
      connectTimeoutMs: 10_000,
      // A dead connection is detected within 10 s, so that informers are current again within 15 s.
      pingIntervalMs: 5_000,
      pingTimeoutMs: 5_000,
      maxStreams: 90,
      maxSessions: 16,
      ...options,
    };
  }

  /** Resolves with the head of the response. The signal applies until then; afterwards the caller owns the exchange. */
  async send(request: Request, credential: Credential, signal: AbortSignal): Promise<Exchange> {
    const name = requestName(request.method, request.path);
    this.#use(settingsOf(this.#connection, await this.#connection.trusted(), credential.clientCertificate));
    for (let repeats = 0; ; ) {
      if (this.#closing.signal.aborted) throw clientClosed(name);
      signal.throwIfAborted();
      // Picked again after every wait: a new connection may be full already.
      const channel = this.#pick();
      if (channel === undefined) {
        this.#opening ??= this.#startOpening(this.#settings);
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

  /** Closes all connections; pending requests fail. */
  async close(): Promise<void> {
    const reason = clientClosed(this.#connection.server);
    this.#closing.abort(reason);
    const channels = this.#channels;
    this.#channels = [];
    await Promise.allSettled([this.#opening, ...channels.map(channel => channel.destroy(reason))]);
  }

  /** Connections with old settings accept no new requests, but finish the pending ones. */
  #use(settings: ConnectionSettings): void {
    if (isSame(this.#settings, settings)) return;
    if (this.#channels.length > 0)
      this.#options.log.info('Connection settings changed; opening new connections', { server: settings.server });
    for (const channel of this.#channels) channel.retire();
    this.#opening = undefined;
    this.#settings = settings;
  }

  #pick(): Channel | undefined {
    this.#channels = this.#channels.filter(channel => !channel.isClosed);
    const usable = this.#channels.filter(channel => channel.isUsable);
    const free = usable.find(channel => channel.free > 0);
    if (free !== undefined || usable.length < this.#options.maxSessions) return free;
    // Beyond the limit requests wait in the session with the most room, up to their deadline.
    return usable.reduce((best, channel) => (channel.free > best.free ? channel : best));
  }

  /** Opens one connection at a time. */
  #startOpening(settings: ConnectionSettings): Promise<void> {
    const opening = this.#open(settings).finally(() => {
      if (this.#opening === opening) this.#opening = undefined;
    });
    // All waiting callers may have been aborted by the time it fails.
    opening.catch(() => undefined);
    return opening;
  }

  async #open(settings: ConnectionSettings): Promise<void> {
    const channel = await this.#dialChannel(settings);
    if (isSame(this.#settings, settings) && !this.#closing.signal.aborted) this.#channels.push(channel);
    else await channel.destroy(clientClosed(settings.server));
  }

  #dialChannel(settings: ConnectionSettings): Promise<Channel> {
    const target: DialTarget = { ...settings, server: new URL(settings.server) };
    const dialTarget = (signal: AbortSignal) => dial(target, signal);
    return this.#connecting(settings.server, async signal => {
      const { socket, protocol } = await dialTarget(signal);
      if (protocol === 'h2') return Session.start(target.server.origin, socket, this.#options, signal);
      const dialMore = () => this.#connecting(settings.server, async within => (await dialTarget(within)).socket);
      return new Http1Channel(target.server, socket, dialMore);
    });
  }

  /** Applies the connect timeout. */
  async #connecting<T>(server: string, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { clock, connectTimeoutMs } = this.#options;
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
}

/** Settings of a connection; a change requires a new one. */
interface ConnectionSettings extends Omit<DialTarget, 'server'> {
  server: string;
}

function settingsOf(
  { server, serverName, skipTlsVerify, proxyUrl }: Connection,
  trusted: string | undefined,
  clientCertificate: ClientCertificate | undefined,
): ConnectionSettings {
  return { server, serverName, skipTlsVerify, proxyUrl, trusted, clientCertificate };
}

function isSame(one: ConnectionSettings, other: ConnectionSettings): boolean {
  return (
    one.server === other.server &&
    one.serverName === other.serverName &&
    one.skipTlsVerify === other.skipTlsVerify &&
    one.proxyUrl?.reveal() === other.proxyUrl?.reveal() &&
    one.trusted === other.trusted &&
    one.clientCertificate?.certificate === other.clientCertificate?.certificate
  );
}

function mayRepeat({ repeatable }: Interrupted, { method }: Request, repeats: number): boolean {
  if (repeatable === 'always') return true;
  return repeatable === 'if idempotent' && method === 'GET' && repeats === 0;
}
