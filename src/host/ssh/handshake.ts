import type { Socket } from 'node:net';
import ssh2, { type AnyAuthMethod, type Client } from 'ssh2';
import type { AppError } from '#base/errors.ts';
import { type HostKey, trustHostKey } from '../host-key.ts';
import type { ConnectionFacts, HostTarget } from '../host.ts';
import type { PrivateKey } from '../keys/private-key.ts';
import { readPublicKey } from '#base/ssh-public-key.ts';
import { offeredAlgorithms } from './algorithms.ts';
import { authKey } from './auth-key.ts';
import { type FailedHandshake, handshakeFailure, handshakeTimeout } from './handshake-failures.ts';
import { limited } from './limits.ts';
import { freeSentRequests, joinWrites } from './packet-writes.ts';

export interface HandshakeOptions {
  port: number;
  timeoutMs: number;
  keepAliveMs: number;
  signal: AbortSignal | undefined;
}

export interface Session {
  client: Client;
  facts: ConnectionFacts;
}

/** Turns a TCP connection into an SSH session: checks the host key and logs in. On failure the socket is closed. */
export async function shakeHands(socket: Socket, target: HostTarget, options: HandshakeOptions): Promise<Session> {
  const peer = { address: target.address, port: options.port };
  const client = new ssh2.Client();
  // The library may report the same error more than once, and an error without a listener ends the process.
  client.on('error', () => undefined);
  const { timeoutMs, signal } = options;
  const limits = { signals: [signal], timeoutMs, timeoutError: () => handshakeTimeout(peer, timeoutMs) };
  try {
    return await limited(limits, () => negotiate(client, socket, target, options));
  } catch (error) {
    client.destroy();
    socket.destroy();
    throw error;
  }
}

function negotiate(client: Client, socket: Socket, target: HostTarget, options: HandshakeOptions): Promise<Session> {
  const { address, username, privateKeys, pinnedKey } = target;
  return new Promise((resolve, reject) => {
    const greeting = recordGreeting(socket);
    const trust = new HostTrust(address, pinnedKey);
    const keys = new KeyRing(username, privateKeys);
    let isAuthenticating = false;
    const fail = (error: Error) => {
      const { firstLine, ident } = greeting();
      const peer = { address, port: options.port };
      const offeredKeys = privateKeys.map(key => key.publicKey);
      const failure: FailedHandshake = {
        peer,
        username,
        firstLine,
        ident,
        pinnedKey,
        isAuthenticating,
        offeredKeys,
        ...keys.refusal,
        error,
      };
      reject(trust.refusal ?? handshakeFailure(failure));
    };
    client.on('error', fail);
    client.on('close', () => fail(new Error('the host closed the connection')));
    client.once('handshake', () => {
      isAuthenticating = true;
    });
    client.once('ready', () => {
      const { key, isNew } = trust.trusted();
      const software = (greeting().ident ?? '').replace(/^SSH-[\d.]+-/, '');
      freeSentRequests(client);
      client.removeListener('error', fail).removeAllListeners('close');
      resolve({ client, facts: { address, hostKey: key, isNewHostKey: isNew, acceptedKey: keys.current(), software } });
    });
    joinWrites(socket);
    client.connect({
      sock: socket,
      username,
      ident: 'wmco',
      algorithms: offeredAlgorithms(pinnedKey) as never,
      hostVerifier: (blob: Buffer) => trust.verify(blob),
      authHandler: (methodsLeft, isPartial, next) => next(keys.next(methodsLeft, isPartial) as AnyAuthMethod),
      readyTimeout: 0,
      keepaliveInterval: options.keepAliveMs,
      // liveness.ts detects a dead connection.
      keepaliveCountMax: Infinity,
    });
  });
}

/** Checks the host key in the first key exchange and in every later one. */
class HostTrust {
  refusal: AppError | undefined;
  readonly #address: string;
  #pinned: HostKey | undefined;
  #isNew = false;

  constructor(address: string, pinned: HostKey | undefined) {
    this.#address = address;
    this.#pinned = pinned;
  }

  verify(blob: Uint8Array): boolean {
    const offered = readPublicKey(Uint8Array.from(blob));
    if (offered === undefined) return false;
    const trust = trustHostKey(this.#pinned, offered, this.#address);
    if (!trust.accepted) {
      this.refusal = trust.error;
      return false;
    }
    this.#pinned = trust.key;
    this.#isNew ||= trust.isNew;
    return true;
  }

  trusted(): { key: HostKey; isNew: boolean } {
    if (this.#pinned === undefined) throw new Error('an SSH handshake ended without a host key');
    return { key: this.#pinned, isNew: this.#isNew };
  }
}

/** Offers the private keys one by one and keeps the host's last answer. */
class KeyRing {
  readonly refusal: Pick<FailedHandshake, 'methodsLeft' | 'isPartial'> = { methodsLeft: undefined, isPartial: false };
  readonly #username: string;
  readonly #keys: readonly PrivateKey[];
  #at = -1;

  constructor(username: string, keys: readonly PrivateKey[]) {
    this.#username = username;
    this.#keys = keys;
  }

  /** The library's next attempt; false when no attempt is left. */
  next(methodsLeft: readonly string[] | null, isPartial: boolean | null): AnyAuthMethod | false {
    this.refusal.methodsLeft = methodsLeft ?? undefined;
    this.refusal.isPartial = isPartial === true;
    this.#at += 1;
    const key = this.#keys[this.#at];
    const isPointless = methodsLeft !== null && (isPartial === true || !methodsLeft.includes('publickey'));
    if (key === undefined || isPointless) return false;
    return { type: 'publickey', username: this.#username, key: authKey(key) };
  }

  current(): PrivateKey['publicKey'] {
    const key = this.#keys[this.#at];
    if (key === undefined) throw new Error('an SSH server accepted the login without a key');
    return key.publicKey;
  }
}

/** Enough for the identification line of any server. */
const maxGreetingBytes = 4096;

/** Records what the host sends before encryption starts; the library does not report it. */
function recordGreeting(socket: Socket): () => { firstLine: string; ident: string | undefined } {
  let text = '';
  const onData = (bytes: Buffer) => {
    text += bytes.toString('latin1');
    if (/^SSH-.*\n/m.test(text) || text.length > maxGreetingBytes) socket.removeListener('data', onData);
  };
  socket.on('data', onData);
  return () => {
    const lines = text.slice(0, maxGreetingBytes).split(/\r?\n/);
    return { firstLine: lines[0] ?? '', ident: lines.find(line => line.startsWith('SSH-')) };
  };
}
