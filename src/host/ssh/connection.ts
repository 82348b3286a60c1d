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
  UploadContent,
  UploadOptions,
} from '../host.ts';
import { fetchFile } from './download.ts';
import { runCommand } from './exec.ts';
import { sizeOfFile } from './file-size.ts';
import type { Session } from './handshake.ts';
import { limited, type Turn } from './limits.ts';
import { silentIntervals, watchForSilence } from './liveness.ts';
import {
  commandTimeout,
  connectionClosed,
  connectionLost,
  type FileAct,
  noSignOfLife,
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
  closeGraceMs: 500,
} as const;

/** A host connection over SSH. */
export class SshConnection implements HostConnection {
  readonly facts: HostConnection['facts'];
  readonly #client: Client;
  readonly #socket: Socket;
  readonly #over = new AbortController();
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
      cause = noSignOfLife(keepAliveMs * silentIntervals);
      socket.destroy();
    });
    client.on('error', error => {
      cause ??= error;
    });
    this.#closed = new Promise(resolve => {
      client.once('close', () => {
        watch[Symbol.dispose]();
        this.#over.abort(connectionLost(facts.address, cause));
        resolve();
      });
    });
  }

  get ended(): AbortSignal {
    return this.#over.signal;
  }

  exec(command: string, options: ExecOptions = {}): Promise<CommandResult> {
    const { timeoutMs = defaults.execTimeoutMs, maxOutputBytes = defaults.maxOutputBytes, signal, onOutput } = options;
    const { address } = this.facts;
    const overdue = () => commandTimeout(address, command, timeoutMs);
    return limited({ signals: [this.ended, signal], timeoutMs, overdue }, ({ end }) => {
      this.#execSessions += 1;
      return runCommand(this.#client, { address, command, maxOutputBytes, onOutput, end });
    });
  }

  upload(path: string, content: UploadContent, options: UploadOptions = {}): Promise<void> {
    const { timeoutMs = defaults.uploadTimeoutMs, stallTimeoutMs = defaults.uploadStallMs } = options;
    const act: FileAct = { address: this.facts.address, verb: 'write', path };
    const limits = { timeoutMs, stallMs: stallTimeoutMs, signal: options.signal };
    const plan = writePlan(this.facts.software);
    return this.#transfer(act, limits, (session, turn) =>
      this.#inTurn(path, () => sendFile(session, { act, content, plan, onProgress: options.onProgress, turn })),
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

  usage(): HostUsage {
    const { bytesWritten: bytesSent, bytesRead: bytesReceived } = this.#socket;
    return { execSessions: this.#execSessions, sftpSessions: this.#sftpSessions, bytesSent, bytesReceived };
  }

  async close(): Promise<void> {
    this.#over.abort(connectionClosed(this.facts.address));
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
    run: (session: SftpSession, turn: Turn) => Promise<T>,
  ): Promise<T> {
    const { signal, ...times } = limits;
    const overdue = (why: 'took' | 'stood still', ms: number) => transferTimeout(act, why, ms);
    return limited({ signals: [this.ended, signal], ...times, overdue }, async turn =>
      run(await this.#sftpSession(), turn),
    );
  }

  /** One upload to a path begins when the one before it is over, with all that it had to clear away. */
  async #inTurn(path: string, send: () => Promise<void>): Promise<void> {
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

  /** One session serves all transfers of the connection, as long as it lives. */
  async #sftpSession(): Promise<SftpSession> {
    const current = this.#sftp;
    const session = await current?.catch(() => undefined);
    if (session !== undefined && !session.isOver) return session;
    // While we looked, another transfer may have opened a new one.
    if (this.#sftp !== current) return this.#sftpSession();
    this.#sftpSessions += 1;
    this.#sftp = SftpSession.open(this.#client, this.facts.address);
    return this.#sftp;
  }
}
