import type { HostKey } from './host-key.ts';
import type { PrivateKey } from './keys/private-key.ts';
import type { PublicKey } from './keys/public-key.ts';

/** An open connection to a Windows host. One serves a whole journey; whoever opened it closes it. */
export interface HostConnection extends AsyncDisposable {
  readonly facts: ConnectionFacts;
  /** Aborted when the connection ends; pending operations fail with its reason. */
  readonly ended: AbortSignal;
  /**
   * Runs a command in the default shell of the user, without standard input. Any exit code is a result, not an error.
   */
  exec(command: string, options?: ExecOptions): Promise<CommandResult>;
  /** Replaces a file atomically. Missing folders are created. */
  upload(path: string, content: UploadContent, options?: UploadOptions): Promise<void>;
  /** Reads a small file. */
  download(path: string, options?: DownloadOptions): Promise<Uint8Array>;
  /** In bytes; undefined when the file does not exist. */
  fileSize(path: string, options?: FileSizeOptions): Promise<number | undefined>;
  /** Deletes a folder with everything in it; no error when it does not exist. */
  removeFolder(path: string, options?: RemoveFolderOptions): Promise<void>;
  usage(): HostUsage;
  /** Can be called at any time and more than once; never fails. */
  close(): Promise<void>;
}

/** What the handshake revealed about the host. */
export interface ConnectionFacts {
  /** As given by the caller; messages name the host by it. */
  address: string;
  hostKey: HostKey;
  /** True when no key was pinned: the key must be stored before anything is changed on the host. */
  isNewHostKey: boolean;
  /** The offered key that the host accepted. */
  acceptedKey: PublicKey;
  /** Software version of the server, such as `OpenSSH_for_Windows_9.5`. */
  software: string;
}

/** Opens a connection; the port through which controllers and journeys reach hosts. */
export type Connect = (target: HostTarget, options?: ConnectOptions) => Promise<HostConnection>;

export interface HostTarget {
  /** IP address or DNS name. */
  address: string;
  /** Default: 22. */
  port?: number;
  /** Where to connect instead, such as a forwarded port; messages still name the host. */
  dialAt?: { address: string; port: number };
  username: string;
  /** In the order of attempts: during a key rotation the new one, then the old one. */
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
  /** Interval of keep-alive requests; after four intervals without data the connection is lost. */
  keepAliveMs?: number;
}

export interface ExecOptions {
  signal?: AbortSignal;
  timeoutMs?: number;
  /** Of both streams together. */
  maxOutputBytes?: number;
  /** Called with output as it arrives. */
  onOutput?: (text: string, stream: OutputStream) => void;
}

export type OutputStream = 'stdout' | 'stderr';

export interface CommandResult {
  /** Unsigned 32 bits, as on Windows. */
  exitCode: number;
  stdout: string;
  stderr: string;
}

/** Bytes, or a stream of known length; a chunk is valid only until the next one is requested. */
export type UploadContent = Uint8Array | { size: number; chunks: AsyncIterable<Uint8Array> };

/** Best chunk size of a stream. */
export const uploadChunkBytes = 255 * 1024;

export interface UploadOptions {
  signal?: AbortSignal;
  timeoutMs?: number;
  /** Longest time without progress. */
  stallTimeoutMs?: number;
  /** Called with the number of bytes that the host has acknowledged. */
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

export interface RemoveFolderOptions {
  signal?: AbortSignal;
  timeoutMs?: number;
  /** Names in the folder, in lower case, that stay; the folder then stays, too. */
  keep?: readonly string[];
}

/** Statistics of a connection. */
export interface HostUsage {
  execSessions: number;
  sftpSessions: number;
  bytesSent: number;
  bytesReceived: number;
}
