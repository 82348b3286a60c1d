import type { Socket } from 'node:net';
import type { Client } from 'ssh2';
import { systemClock } from '#base/clock.ts';
import type {
  CommandResult,
  DownloadOptions,
  ExecOptions,
  FileSizeOptions,
  HostConnection,
  HostUsage,
  RemoveFolderOptions,
  UploadContent,
  UploadOptions,
} from '../host.ts';
import { fetchFile } from './download.ts';
import { runCommand } from './exec.ts';
import { sizeOfFile } from './file-size.ts';
import { deleteFolder } from './delete-folder.ts';
import type { Session } from './handshake.ts';
import { type ExceededLimit, limited, type Operation } from './limits.ts';
import { silentIntervals, watchForSilence } from './liveness.ts';
import {
  commandTimeout,
  connectionClosed,
  connectionLost,
  type FileAct,
  noDataReceived,
  transferTimeout,
} from './operation-failures.ts';
import { SftpSession } from './sftp-session.ts';
import { sendFile, writePlan } from './upload.ts';

const defaults = {
  execTimeoutMs: 60_000,
  maxOutputBytes: 1024 * 1024,
  uploadTimeoutMs: 15 * 60_000,
  uploadStallMs: 60_000,
  downloadTimeoutMs: 30_000,
  downloadMaxBytes: 1024 * 1024,
  fileSizeTimeoutMs: 30_000,
  removeTimeoutMs: 5 * 60_000,
  closeGraceMs: 500,
} as const;

export class SshConnection implements HostConnection {
  readonly facts: HostConnection['facts'];
  readonly #client: Client;
  readonly #socket: Socket;
  readonly #ended = new AbortController();
  readonly #closed: Promise<void>;
  readonly #uploads = new Map<string, Promise<void>>();
  #sftp: Promise<SftpSession> | undefined;
  #execSessions = 0;
  #sftpSessions = 0;

  constructor({ client, facts }: Session, socket: Socket, keepAliveMs: number) {
    this.facts = facts;
    this.#client = client;
    this.#socket = socket;
    let cause: unknown;
    const watch = watchForSilence(socket, keepAliveMs, () => {
      cause = noDataReceived(keepAliveMs * silentIntervals);
      socket.destroy();
    });
    client.on('error', error => {
      cause ??= error;
    });
    this.#closed = new Promise(resolve => {
      client.once('close', () => {
        watch[Symbol.dispose]();
        this.#ended.abort(connectionLost(facts.address, cause));
        resolve();
      });
    });
  }

  get ended(): AbortSignal {
    return this.#ended.signal;
  }

  exec(command: string, options: ExecOptions = {}): Promise<CommandResult> {
    const { timeoutMs = defaults.execTimeoutMs, maxOutputBytes = defaults.maxOutputBytes, signal, onOutput } = options;
    const { address } = this.facts;
    const timeoutError = () => commandTimeout(address, command, timeoutMs);
    return limited({ signals: [this.ended, signal], timeoutMs, timeoutError }, operation => {
      this.#execSessions += 1;
      return runCommand(this.#client, { address, command, maxOutputBytes, onOutput, signal: operation.signal });
    });
  }

  upload(path: string, content: UploadContent, options: UploadOptions = {}): Promise<void> {
    const { timeoutMs = defaults.uploadTimeoutMs, stallTimeoutMs = defaults.uploadStallMs } = options;
    const act: FileAct = { address: this.facts.address, verb: 'write', path };
    const limits = { timeoutMs, stallMs: stallTimeoutMs, signal: options.signal };
    const plan = writePlan(this.facts.software);
    return this.#transfer(act, limits, (session, operation) =>
      this.#inOrder(path, () => sendFile(session, { act, content, plan, onProgress: options.onProgress, operation })),
    );
  }

  download(path: string, options: DownloadOptions = {}): Promise<Uint8Array> {
    const { timeoutMs = defaults.downloadTimeoutMs, maxBytes = defaults.downloadMaxBytes, signal } = options;
    const act: FileAct = { address: this.facts.address, verb: 'read', path };
    return this.#transfer(act, { timeoutMs, signal }, session => fetchFile(session, act, maxBytes));
  }

  fileSize(path: string, options: FileSizeOptions = {}): Promise<number | undefined> {
    const { timeoutMs = defaults.fileSizeTimeoutMs, signal } = options;
    const act: FileAct = { address: this.facts.address, verb: 'read', path };
    return this.#transfer(act, { timeoutMs, signal }, session => sizeOfFile(session, act));
  }

  removeFolder(path: string, options: RemoveFolderOptions = {}): Promise<void> {
    const { timeoutMs = defaults.removeTimeoutMs, signal, keep = [] } = options;
    const act: FileAct = { address: this.facts.address, verb: 'delete', path };
    return this.#transfer(act, { timeoutMs, signal }, session => deleteFolder(session, act, keep));
  }

  usage(): HostUsage {
    const { bytesWritten: bytesSent, bytesRead: bytesReceived } = this.#socket;
    return { execSessions: this.#execSessions, sftpSessions: this.#sftpSessions, bytesSent, bytesReceived };
  }

  async close(): Promise<void> {
    this.#ended.abort(connectionClosed(this.facts.address));
    this.#client.end();
    const grace = new AbortController();
    const timer = systemClock.sleep(defaults.closeGraceMs, grace.signal).then(
      () => this.#socket.destroy(),
      () => undefined,
    );
    await this.#closed;
    grace.abort();
    await timer;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #transfer<T>(
    act: FileAct,
    limits: { timeoutMs: number; stallMs?: number; signal: AbortSignal | undefined },
    run: (session: SftpSession, operation: Operation) => Promise<T>,
  ): Promise<T> {
    const { signal, ...times } = limits;
    const timeoutError = (limit: ExceededLimit, ms: number) => transferTimeout(act, limit, ms);
    return limited({ signals: [this.ended, signal], ...times, timeoutError }, async operation =>
      run(await this.#sftpSession(), operation),
    );
  }

  /** Uploads to the same path run one after the other, including the cleanup after a failure. */
  async #inOrder(path: string, send: () => Promise<void>): Promise<void> {
    const before = this.#uploads.get(path);
    const sending = (async () => {
      await before?.catch(() => undefined);
      await send();
    })();
    this.#uploads.set(path, sending);
    try {
      await sending;
    } finally {
      if (this.#uploads.get(path) === sending) this.#uploads.delete(path);
    }
  }

  /** All transfers of the connection share one session, which is replaced when it ends. */
  async #sftpSession(): Promise<SftpSession> {
    const current = this.#sftp;
    const session = await current?.catch(() => undefined);
    if (session !== undefined && !session.hasEnded) return session;
    // Another transfer may have opened a new one meanwhile.
    if (this.#sftp !== current) return this.#sftpSession();
    this.#sftpSessions += 1;
    this.#sftp = SftpSession.open(this.#client, this.facts.address);
    return this.#sftp;
  }
}
