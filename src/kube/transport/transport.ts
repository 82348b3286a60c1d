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
  readonly #options: Required<TransportOptions>;
  readonly #closing = new AbortController();
  #channels: Channel[] = [];
  #material: Material;
  #opening: Promise<void> | undefined;

  constructor(connection: Connection, options: TransportOptions = {}) {
    this.#connection = connection;
    this.#material = materialOf(connection, undefined, undefined);
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
    this.#use(materialOf(this.#connection, await this.#connection.trusted(), credential.clientCertificate));
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

  /** Connections made with an old certificate or address take no new requests; those under way end in their own time. */
  #use(material: Material): void {
    if (isSame(this.#material, material)) return;
    if (this.#channels.length > 0)
      this.#options.log.info('Certificates changed, opening new connections', { server: material.server });
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
    else await channel.destroy(clientClosed(material.server));
  }

  #dialChannel(material: Material): Promise<Channel> {
    const target: DialTarget = { ...material, server: new URL(material.server) };
    const dialled = (signal: AbortSignal) => dial(target, signal);
    return this.#connecting(material.server, async signal => {
      const { socket, protocol } = await dialled(signal);
      if (protocol === 'h2') return Session.start(target.server.origin, socket, this.#options, signal);
      const dialMore = () => this.#connecting(material.server, async within => (await dialled(within)).socket);
      return new Http1Channel(target.server, socket, dialMore);
    });
  }

  /** Runs something that connects, within the time for it. */
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

/** What a connection is made from; a change of any of it needs another one. */
interface Material extends Omit<DialTarget, 'server'> {
  server: string;
}

function materialOf(
  { server, serverName, skipTlsVerify, proxyUrl }: Connection,
  trusted: string | undefined,
  clientCertificate: ClientCertificate | undefined,
): Material {
  return { server, serverName, skipTlsVerify, proxyUrl, trusted, clientCertificate };
}

function isSame(one: Material, other: Material): boolean {
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
