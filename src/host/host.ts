import type { HostKey } from './host-key.ts';
import type { PrivateKey } from './keys/private-key.ts';
import type { PublicKey } from './keys/public-key.ts';

/** A Windows machine to which a connection stands. One connection serves a whole journey; whoever opened it closes it. */
export interface HostConnection extends AsyncDisposable {
  readonly facts: ConnectionFacts;
  /** Aborted when the connection is over; the reason is what every operation under way fails with. */
  readonly ended: AbortSignal;
  /** Runs a command in the default shell of the user, without standard input. Any exit code is a result, not an error. */
  exec(command: string, options?: ExecOptions): Promise<CommandResult>;
  /** Puts a file in place of whatever has its name, whole or not at all. Missing folders are made. */
  upload(path: string, content: UploadContent, options?: UploadOptions): Promise<void>;
  /** Reads a small file. */
  download(path: string, options?: DownloadOptions): Promise<Uint8Array>;
  /** In bytes; undefined when there is no file of that name. */
  fileSize(path: string, options?: FileSizeOptions): Promise<number | undefined>;
  usage(): HostUsage;
  /** May be called at any time and more than once; never fails. */
  close(): Promise<void>;
}

/** What became known about the host while the connection was made. */
export interface ConnectionFacts {
  /** As it was asked for; messages name the host by it. */
  address: string;
  hostKey: HostKey;
  /** True when no key was pinned: the key is to be stored before anything is done on the host. */
  isNewHostKey: boolean;
  /** Which of the keys offered the host accepted. */
  acceptedKey: PublicKey;
  /** What the server calls itself, such as `OpenSSH_for_Windows_9.5`. */
  software: string;
}

/** Opens a connection; the port by which controllers and journeys reach hosts. */
export type Connect = (target: HostTarget, options?: ConnectOptions) => Promise<HostConnection>;

export interface HostTarget {
  /** IP address or DNS name. */
  address: string;
  /** 22 unless told otherwise. */
  port?: number;
  /** Where the connection goes when that is another place, such as a forwarded port. Messages name the host all the same. */
  dialAt?: { address: string; port: number };
  username: string;
  /** Tried in this order: while a key is rotated, the new one and the one before it. */
  privateKeys: readonly PrivateKey[];
  /** The key the host must show; undefined accepts any. */
  pinnedKey: HostKey | undefined;
}

export interface ConnectOptions {
  signal?: AbortSignal;
  /** For the name and the TCP connection. */
  dialTimeoutMs?: number;
  /** For the SSH handshake and the authentication. */
  handshakeTimeoutMs?: number;
  /** How often the host is asked for a sign of life; without one for four times as long the connection is lost. */
  keepAliveMs?: number;
}

export interface ExecOptions {
  signal?: AbortSignal;
  timeoutMs?: number;
  /** Of both streams together. */
  maxOutputBytes?: number;
  /** Gets the output as it comes. */
  onOutput?: (text: string, stream: OutputStream) => void;
}

export type OutputStream = 'stdout' | 'stderr';

export interface CommandResult {
  /** As Windows has it: a whole number of 32 bits without sign. */
  exitCode: number;
  stdout: string;
  stderr: string;
}

/** Bytes at hand, or a stream of them whose length is known; a piece of it need not be good for longer than until the next one is asked for. */
export type UploadContent = Uint8Array | { size: number; chunks: AsyncIterable<Uint8Array> };

/** Streams are sent with the least effort in pieces of this size. */
export const uploadChunkBytes = 255 * 1024;

export interface UploadOptions {
  signal?: AbortSignal;
  timeoutMs?: number;
  /** How long no byte may arrive. */
  stallTimeoutMs?: number;
  /** Told the number of bytes that are safely on the host. */
  onProgress?: (bytes: number) => void;
}

export interface DownloadOptions {
  signal?: AbortSignal;
  timeoutMs?: number;
  maxBytes?: number;
}

export interface FileSizeOptions {
  signal?: AbortSignal;
  timeoutMs?: number;
}

/** What a connection has cost so far. */
export interface HostUsage {
  execSessions: number;
  sftpSessions: number;
  bytesSent: number;
  bytesReceived: number;
}
