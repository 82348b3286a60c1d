import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { checkServerIdentity, connect as connectTls, type TLSSocket } from 'node:tls';
import type { Secret } from '#base/secret.ts';
import type { ClientCertificate } from './connection.ts';
import { connectThroughProxy } from './proxy.ts';

export interface DialTarget {
  server: URL;
  serverName?: string | undefined;
  skipTlsVerify: boolean;
  proxyUrl?: Secret | undefined;
  trusted: string | undefined;
  clientCertificate: ClientCertificate | undefined;
  /** Offered for TLS; HTTP/2 first by default. */
  protocols?: readonly string[];
}

export interface Dialled {
  socket: Socket;
  protocol: 'h2' | 'http/1.1';
}

/** For HTTP/1.1; HTTP/2 sessions detect dead peers earlier by pings. */
const keepAliveDelayMs = 30_000;

/** Opens a connection, through a proxy if set, with TLS unless the URL is http, and negotiates the protocol. */
export async function dial(target: DialTarget, signal: AbortSignal): Promise<Dialled> {
  signal.throwIfAborted();
  const { server, proxyUrl } = target;
  const address = { host: hostOf(server), port: portOf(server) };
  const plain =
    proxyUrl === undefined
      ? await whenOpen(connectTcp({ ...address, noDelay: true }), 'connect', signal)
      : await connectThroughProxy(proxyUrl, address, signal);
  plain.setNoDelay(true).setKeepAlive(true, keepAliveDelayMs);
  if (server.protocol === 'http:') return { socket: plain, protocol: 'http/1.1' };
  const socket = (await whenOpen(startTls(plain, target), 'secureConnect', signal)) as TLSSocket;
  return { socket, protocol: socket.alpnProtocol === 'h2' ? 'h2' : 'http/1.1' };
}

function startTls(plain: Socket, target: DialTarget): TLSSocket {
  const name = target.serverName ?? hostOf(target.server);
  try {
    return connectTls({
      socket: plain,
      // SNI must not be an IP address.
      servername: isIP(name) === 0 ? name : '',
      checkServerIdentity: (_, certificate) => checkServerIdentity(name, certificate),
      ALPNProtocols: [...(target.protocols ?? ['h2', 'http/1.1'])],
      minVersion: 'TLSv1.2',
      rejectUnauthorized: !target.skipTlsVerify,
      ...(target.trusted === undefined ? {} : { ca: target.trusted }),
      ...(target.clientCertificate && {
        cert: target.clientCertificate.certificate,
        key: target.clientCertificate.key.reveal(),
      }),
    });
  } catch (error) {
    plain.destroy();
    throw error;
  }
}

/** Waits for the event; destroys the socket on failure. */
export function whenOpen(socket: Socket, event: 'connect' | 'secureConnect', signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const done = (settle: () => void) => {
      socket.off(event, succeed).off('error', fail).off('close', fail);
      signal.removeEventListener('abort', abort);
      settle();
    };
    const succeed = () => done(() => resolve(socket));
    const fail = (error?: unknown) => {
      done(() => reject(error instanceof Error ? error : new Error('the connection was closed')));
      socket.on('error', () => undefined).destroy();
    };
    const abort = () => fail(signal.reason);
    socket.once(event, succeed).once('error', fail).once('close', fail);
    signal.addEventListener('abort', abort, { once: true });
  });
}

export function hostOf({ hostname }: URL): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
}

export function portOf({ port, protocol }: URL): number {
  return port === '' ? (protocol === 'http:' ? 80 : 443) : Number(port);
}
