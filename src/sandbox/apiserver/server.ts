import { createSecureServer, type Http2SecureServer } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { toBase64 } from '#base/bytes.ts';
import { type Clock, systemClock } from '#base/clock.ts';
import { AppError } from '#base/errors.ts';
import { type Log, silentLog } from '#base/log.ts';
import { namespaces } from '#kube/resources.ts';
import { type CertificateAuthority, createAuthority, issueServerPair } from './auth/ca.ts';
import { systemNamespaces } from './controllers/namespace-defaults.ts';
import type { Core } from './core.ts';
import { createCrdController } from './crd-controller.ts';
import { newestVersion, type ServerVersion } from './discovery.ts';
import { createResponder } from './http.ts';
import { Kinds } from './kinds.ts';
import { createLocalApi } from './local-api.ts';
import type { RequestHook } from './pipeline.ts';
import type { Controller, Identity, IdentityFactory, LocalApi } from './ports.ts';
import { Store } from './store.ts';

export interface ApiServerOptions {
  clock?: Clock;
  log?: Log;
  /** 0 (default) for any free port. */
  port?: number;
  /** Signs the server certificate; created if not set. */
  authority?: CertificateAuthority;
  /** Without it every request has all permissions. */
  identity?: IdentityFactory;
  controllers?: readonly Controller[];
  /** The newest by default. */
  version?: ServerVersion;
  /** Number of writes of each kind kept for watches and lists. */
  historyLimit?: number;
  /** To measure or disturb requests. */
  beforeRequest?: RequestHook;
}

/** The user of a kubeconfig. */
export interface KubeconfigIdentity {
  token?: string;
  /** Both in PEM form. */
  clientCertificate?: string;
  clientKey?: string;
}

export interface ApiServer {
  url: string;
  /** Certificate of the authority, in PEM form. */
  ca: string;
  api: LocalApi;
  store: Store;
  /** A kubeconfig for this server, in JSON. */
  kubeconfig(user?: KubeconfigIdentity): string;
  /** As an upgrade does: all connections break, and the server says the new version. */
  upgrade(version: ServerVersion): void;
  close(): Promise<void>;
}

const host = '127.0.0.1';

/** Starts an API server on the loopback address, for HTTP/2 and HTTP/1.1. */
export async function startApiServer(options: ApiServerOptions = {}): Promise<ApiServer> {
  const clock = options.clock ?? systemClock;
  const authority = options.authority ?? createAuthority('sandbox', clock);
  const { core, api } = createCore(options, clock);
  const log = options.log ?? silentLog;
  const controllers = [createCrdController(core.kinds, log), ...(options.controllers ?? [])];
  for (const controller of controllers) controller.start(api);
  const pair = issueServerPair(authority, [host, 'localhost', 'kubernetes', 'kubernetes.default.svc'], clock);
  const server = createSecureServer({
    allowHTTP1: true,
    key: pair.key,
    cert: pair.certificate,
    // The authenticator verifies the client certificate.
    requestCert: true,
    rejectUnauthorized: false,
  });
  const sockets = trackSockets(server);
  const port = await listen(server, options.port ?? 0).catch((error: unknown) => {
    for (const controller of controllers.toReversed()) controller.stop();
    throw error;
  });
  const facts = { version: options.version ?? newestVersion, address: `${host}:${port}` };
  const responder = createResponder(core, facts, log, options.beforeRequest);
  // HTTP/1.1 and HTTP/2 requests have the same interface here.
  server.on('request', (request, response) => {
    // Hosts compare their clock with this one, which may run faster than that of the machine.
    response.setHeader('date', new Date(clock.now()).toUTCString());
    responder.handle(request as never, response as never);
  });
  const url = `https://${facts.address}`;
  let closing: Promise<void> | undefined;
  return {
    url,
    ca: authority.certificate,
    api,
    store: core.store,
    kubeconfig: user => kubeconfigText(url, authority.certificate, user ?? {}),
    upgrade: version => {
      facts.version = version;
      for (const socket of sockets) socket.destroy();
    },
    close: () => {
      if (closing === undefined) {
        for (const controller of controllers.toReversed()) controller.stop();
        responder.stop();
        closing = closeServer(server, sockets);
      }
      return closing;
    },
  };
}

function createCore(options: ApiServerOptions, clock: Clock): { core: Core; api: LocalApi } {
  const kinds = new Kinds();
  const identity: Identity = {};
  const store = new Store(options.historyLimit === undefined ? {} : { historyLimit: options.historyLimit });
  const core: Core = { clock, store, kinds, identity };
  const api = createLocalApi(core);
  for (const name of systemNamespaces) api.create(namespaces, { metadata: { name } });
  Object.assign(identity, options.identity?.(api));
  return { core, api };
}

function trackSockets(server: Http2SecureServer): Set<Socket> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on('close', () => sockets.delete(socket));
  });
  // Ignores clients without TLS or with an aborted handshake.
  server.on('sessionError', () => undefined);
  server.on('tlsClientError', () => undefined);
  return sockets;
}

function listen(server: Http2SecureServer, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const fail = (cause: NodeJS.ErrnoException) => reject(listenError(port, cause));
    server.once('error', fail);
    server.listen(port, host, () => {
      server.off('error', fail);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

function listenError(port: number, cause: NodeJS.ErrnoException): AppError {
  return new AppError('LISTEN_FAILED', `the API server cannot listen at ${host}:${port} (${cause.code})`, {
    remedy: 'Choose another port with --port, or stop the program that uses this one.',
    cause,
  });
}

async function closeServer(server: Http2SecureServer, sockets: ReadonlySet<Socket>): Promise<void> {
  const closed = new Promise<void>(resolve => {
    server.close(() => resolve());
  });
  // Lets the streams end first.
  await new Promise<void>(resolve => {
    setImmediate(resolve);
  });
  for (const socket of sockets) socket.destroy();
  await closed;
}

function kubeconfigText(server: string, ca: string, user: KubeconfigIdentity): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'sandbox', cluster: { server, 'certificate-authority-data': toBase64(ca) } }],
    users: [
      {
        name: 'sandbox',
        user: {
          ...(user.token === undefined ? {} : { token: user.token }),
          ...(user.clientCertificate === undefined
            ? {}
            : { 'client-certificate-data': toBase64(user.clientCertificate) }),
          ...(user.clientKey === undefined ? {} : { 'client-key-data': toBase64(user.clientKey) }),
        },
      },
    ],
    contexts: [{ name: 'sandbox', context: { cluster: 'sandbox', user: 'sandbox' } }],
    'current-context': 'sandbox',
  });
}
