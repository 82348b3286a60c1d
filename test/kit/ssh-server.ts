import { generateKeyPairSync } from 'node:crypto';
import { type AddressInfo, createServer, type Server as TcpServer, type Socket } from 'node:net';
import ssh2, {
  type AuthContext,
  type AuthenticationType,
  type Connection,
  type ServerChannel,
  type ServerConfig,
  type SFTPWrapper,
} from 'ssh2';
import { printPem } from '../../src/base/pem.ts';
import { type HostKey, parseHostKey } from '../../src/host/host-key.ts';
import { type PrivateKey, parsePrivateKey } from '../../src/host/keys/private-key.ts';
import { writeWire } from '../../src/base/ssh-wire.ts';
import { type MemoryFiles, status } from './memory-files.ts';

/** How the server in the process behaves. */
export interface SshServerSettings {
  /** Accepted keys; all if absent. */
  authorized?: readonly PrivateKey[];
  /** What the server names when it refuses; public keys are refused altogether when it is not among them. */
  methods?: AuthenticationType[];
  /** After a good key the server asks for a password in addition. */
  wantsPasswordToo?: boolean;
  /** Called for every login attempt. */
  onAttempt?: (method: AuthenticationType) => void;
  hostKey?: string;
  algorithms?: ServerConfig['algorithms'];
  ident?: string;
  /** Gets every command; without it commands are refused. */
  onExec?: (command: string, channel: ServerChannel) => void;
  /** Without it SFTP is refused. */
  files?: MemoryFiles;
}

export interface SshServer extends AsyncDisposable {
  readonly port: number;
  readonly hostKey: HostKey;
  /** Connections that stand. */
  connections(): number;
  /** Cuts all connections as if the host had lost its power. */
  cut(): void;
}

/** A key pair in a format that the SSH library can read. Its own generator spoils one Ed25519 key in some hundred. */
export function makeKey(type: 'ed25519' | 'ecdsa' | 'rsa' = 'ed25519', bits = 256): { text: string; key: PrivateKey } {
  const text = { ed25519: ed25519Text, ecdsa: () => ecdsaText(bits), rsa: () => rsaText(bits) }[type]();
  return { text, key: parsePrivateKey(text) };
}

function ed25519Text(): string {
  const { d = '', x = '' } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
  const [seed, point] = [Buffer.from(d, 'base64url'), Buffer.from(x, 'base64url')];
  const blob = writeWire('ssh-ed25519', point);
  const secret = Buffer.concat([Buffer.alloc(8), writeWire('ssh-ed25519', point, Buffer.concat([seed, point]), '')]);
  const padding = Buffer.from(Array.from({ length: 7 - ((secret.length + 7) % 8) }, (_, index) => index + 1));
  const head = [Buffer.from('openssh-key-v1\0'), writeWire('none', 'none', ''), Buffer.of(0, 0, 0, 1)];
  return printPem('OPENSSH PRIVATE KEY', Buffer.concat([...head, writeWire(blob, Buffer.concat([secret, padding]))]));
}

function ecdsaText(bits: number): string {
  return generateKeyPairSync('ec', { namedCurve: `P-${bits}` }).privateKey.export({ format: 'pem', type: 'sec1' });
}

function rsaText(bits: number): string {
  return generateKeyPairSync('rsa', { modulusLength: bits }).privateKey.export({ format: 'pem', type: 'pkcs1' });
}

/** A real SSH server on loopback, for what OpenSSH cannot be made to do. */
export async function startSshServer(settings: SshServerSettings = {}): Promise<SshServer> {
  const hostKeyText = settings.hostKey ?? makeKey().text;
  const { algorithms, ident = 'OpenSSH_for_Windows_9.5' } = settings;
  const sockets = new Set<Socket>();
  const config: ServerConfig = { hostKeys: [hostKeyText], ident, ...(algorithms && { algorithms }) };
  const server = new ssh2.Server(config, client => serve(client, settings));
  const tcp = createServer({ noDelay: true }, socket => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => undefined);
    server.injectSocket(socket);
  });
  const port = await listen(tcp);
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port,
    hostKey: parseHostKey(parsePrivateKey(hostKeyText).publicKey.blob.toBase64()),
    connections: () => sockets.size,
    cut,
    async [Symbol.asyncDispose]() {
      const closed = new Promise(resolve => tcp.close(resolve));
      cut();
      await closed;
    },
  };
}

/** A TCP server that is not an SSH server, or a broken one. */
export async function startTcpServer(onSocket: (socket: Socket) => void): Promise<AsyncDisposable & { port: number }> {
  const sockets = new Set<Socket>();
  const tcp = createServer(socket => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    onSocket(socket);
  });
  const port = await listen(tcp);
  return {
    port,
    async [Symbol.asyncDispose]() {
      const closed = new Promise(resolve => tcp.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

async function listen(server: TcpServer): Promise<number> {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

function serve(client: Connection, settings: SshServerSettings): void {
  client.on('error', () => undefined);
  client.on('authentication', context => authenticate(context, settings));
  client.on('session', accept => {
    const session = accept();
    session.on('exec', (acceptExec, reject, { command }) => {
      if (settings.onExec === undefined) return reject();
      const channel = acceptExec();
      channel.on('error', () => undefined);
      settings.onExec(command, channel);
    });
    session.on('sftp', (acceptSftp, reject) => {
      if (settings.files === undefined) return reject();
      serveFiles(acceptSftp(), settings.files);
    });
  });
}

function authenticate(context: AuthContext, settings: SshServerSettings): void {
  const { methods = ['publickey', 'password'], authorized, wantsPasswordToo, onAttempt } = settings;
  onAttempt?.(context.method);
  if (context.method !== 'publickey' || !methods.includes('publickey')) return context.reject(methods);
  const { key, blob, signature, hashAlgo } = context;
  const isKnown = authorized?.some(({ publicKey }) => key.data.equals(publicKey.blob)) ?? true;
  if (!isKnown) return context.reject(methods);
  if (signature === undefined || blob === undefined) return context.accept();
  const parsed = ssh2.utils.parseKey(key.data);
  const isGood = !(parsed instanceof Error) && parsed.verify(blob, signature, hashAlgo);
  if (!isGood) return context.reject(methods);
  return wantsPasswordToo ? context.reject(['password'], true) : context.accept();
}

function serveFiles(sftp: SFTPWrapper, files: MemoryFiles): void {
  const answer = (request: number, result: number | object | undefined) => {
    if (typeof result === 'number') sftp.status(request, result);
    else if (Buffer.isBuffer(result)) sftp.handle(request, result);
  };
  sftp.on('OPEN', (request, path, flags) => answer(request, files.open(path, (flags & 2) !== 0)));
  sftp.on('WRITE', (request, handle, offset, data) => answer(request, files.write(handle, Buffer.from(data), offset)));
  sftp.on('READ', (request, handle, offset, length) => {
    const result = files.read(handle, offset, length);
    if (Buffer.isBuffer(result)) sftp.data(request, result);
    else answer(request, result);
  });
  sftp.on('CLOSE', (request, handle) => answer(request, files.close(handle)));
  sftp.on('REMOVE', (request, path) => answer(request, files.unlink(path)));
  sftp.on('RENAME', (request, from, to) => answer(request, files.rename(from, to, false)));
  sftp.on('MKDIR', (request, path) => answer(request, files.mkdir(path)));
  sftp.on('EXTENDED', request => answer(request, status.unsupported));
}
