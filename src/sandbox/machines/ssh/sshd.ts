import { once } from 'node:events';
import { type AddressInfo, createServer, type Server as TcpServer, type Socket } from 'node:net';
import ssh2, { type AuthContext, type Connection, type ServerChannel, type Session } from 'ssh2';
import type { Clock } from '#base/clock.ts';
import { freeMemory } from '#base/free-memory.ts';
import { joinWrites } from '#host/ssh/packet-writes.ts';
import type { Traits } from '../traits.ts';
import { newHostKey } from './host-key.ts';
import { decideLogin, type LoginRules } from './login.ts';
import { PacketAssembler } from './sftp-packets.ts';
import { type SftpHost, SftpServer } from './sftp-server.ts';
import type { Output } from './shell.ts';

export interface SshdHost {
  traits: Pick<Traits, 'network' | 'changesHostKey' | 'hasSftp'>;
  greetingMs: number;
  /** Clock of simulated delays. */
  delays: Clock;
  loginRules(): Promise<LoginRules>;
  sftp: SftpHost;
  /** Runs a command; one that hangs ends when the client disconnects. */
  run(command: string, output: Output): Promise<number>;
  /** Counts connections and sessions. */
  count(what: 'connections' | 'execSessions' | 'sftpSessions'): void;
}

const otherProtocol = 'HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n';

/** The SSH server of a simulated host: ssh2 on a fixed loopback port, created on demand. */
export class SimulatedSshd {
  readonly #host: SshdHost;
  readonly #sockets = new Set<Socket>();
  readonly #tcp: TcpServer;
  readonly #servers = new Map<string, ssh2.Server>();
  #isUp = false;
  #accepted = 0;
  #hostKey: 'first' | 'other' = 'first';

  constructor(host: SshdHost) {
    this.#host = host;
    this.#tcp = createServer({ noDelay: true }, socket => void this.#accept(socket));
  }

  async listen(): Promise<void> {
    this.#tcp.listen(0, '127.0.0.1');
    await once(this.#tcp, 'listening');
  }

  get port(): number {
    return (this.#tcp.address() as AddressInfo | null)?.port ?? 0;
  }

  get connections(): number {
    return this.#sockets.size;
  }

  up(): void {
    this.#isUp = true;
  }

  /** Breaks all connections and rejects new ones. */
  down(): void {
    this.#isUp = false;
    this.cut();
  }

  cut(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  async close(): Promise<void> {
    const closed = new Promise(resolve => {
      this.#tcp.close(resolve);
    });
    this.down();
    await closed;
  }

  async #accept(socket: Socket): Promise<void> {
    const { traits, delays, greetingMs } = this.#host;
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket)).on('error', () => undefined);
    if (!this.#isUp || traits.network === 'refuses' || traits.network === 'silent') {
      socket.resetAndDestroy();
      return;
    }
    if (traits.network === 'other protocol') {
      socket.end(otherProtocol);
      return;
    }
    this.#host.count('connections');
    this.#accepted += 1;
    // A changed key stays when the fault ends, as on a reinstalled host.
    if (traits.changesHostKey && this.#accepted > 1) this.#hostKey = 'other';
    const hostKey = this.#hostKey;
    if (greetingMs > 0) await delays.sleep(greetingMs);
    if (socket.destroyed) return;
    joinWrites(socket);
    this.#server(hostKey).injectSocket(socket);
  }

  /** Each has its own host key. */
  #server(which: 'first' | 'other'): ssh2.Server {
    const present = this.#servers.get(which);
    if (present !== undefined) return present;
    const config = { hostKeys: [newHostKey()], ident: 'OpenSSH_for_Windows_9.5' };
    const made = new ssh2.Server(config, connection => this.#serve(connection));
    this.#servers.set(which, made);
    return made;
  }

  #serve(connection: Connection): void {
    // A client error only ends its connection.
    connection.on('error', () => undefined);
    connection.on('authentication', context => void this.#answerLogin(context));
    connection.on('session', accept => this.#serveSession(accept()));
  }

  async #answerLogin(context: AuthContext): Promise<void> {
    const rules = await this.#host.loginRules().catch(() => undefined);
    if (rules === undefined) context.reject();
    else decideLogin(context, rules);
  }

  #serveSession(session: Session): void {
    session.on('exec', (accept, _reject, { command }) => {
      this.#host.count('execSessions');
      void this.#exec(accept(), command);
    });
    // The SFTP server of ssh2 has no extensions, which clients need to query free space.
    session.on('subsystem', (accept: () => ServerChannel, reject: () => void, { name }: { name: string }) => {
      if (name !== 'sftp' || !this.#host.traits.hasSftp) return reject();
      this.#host.count('sftpSessions');
      void serveFiles(accept(), this.#host.sftp);
    });
  }

  async #exec(channel: ServerChannel, command: string): Promise<void> {
    const closed = closing(channel);
    channel.resume();
    const write = (stream: NodeJS.WritableStream) => (bytes: Uint8Array | string) => {
      if (stream.writable) stream.write(bytes);
    };
    const exitCode = await this.#host.run(command, { out: write(channel), err: write(channel.stderr), closed });
    if (!channel.writable) return;
    channel.exit(exitCode);
    channel.end();
  }
}

function closing(channel: ServerChannel): AbortSignal {
  const closed = new AbortController();
  channel.on('error', () => undefined);
  channel.once('close', () => closed.abort(new Error('the channel was closed')));
  return closed.signal;
}

async function serveFiles(channel: ServerChannel, host: SftpHost): Promise<void> {
  const server = new SftpServer(host, closing(channel));
  const packets = new PacketAssembler();
  try {
    for await (const piece of channel) {
      for (const packet of packets.add(piece as Buffer)) {
        channel.write(await server.answer(packet));
        freeMemory(packet);
      }
    }
  } catch {
    // The connection broke or the client sent something other than SFTP.
  }
  await server.end();
  channel.end();
}
