import type { Clock } from '#base/clock.ts';
import { isAppError } from '#base/errors.ts';
import { checkCommand } from '#contract/agent-command.ts';
import type {
  CommandResult,
  ExecOptions,
  HostConnection,
  HostUsage,
  RemoveFolderOptions,
  UploadOptions,
} from '#host/host.ts';
import type { Metrics } from '#kube/controller/metrics.ts';

export interface HostSessionOptions {
  /** Opens a connection whose host key is checked and recorded. */
  open: (signal: AbortSignal) => Promise<HostConnection>;
  clock: Clock;
  metrics: Metrics;
}

/** Content that can be uploaded more than once. */
export interface Sendable {
  bytes: number;
  chunks(): AsyncIterable<Uint8Array>;
}

export const hostMetrics = {
  connectSeconds: { name: 'wmco_ssh_connect_seconds', help: 'Time to connect to a host.' },
  commandSeconds: { name: 'wmco_ssh_command_seconds', help: 'Duration of commands on hosts, by verb of the agent.' },
  uploadSeconds: { name: 'wmco_ssh_upload_seconds', help: 'Duration of uploads to hosts.' },
  uploadedBytes: { name: 'wmco_ssh_uploaded_bytes_total', help: 'Bytes uploaded to hosts.' },
} as const;

/** After a lost connection everything is retried once: all commands and uploads are idempotent. */
const attempts = 2;
const pauseMs = 1000;

/** At most one connection to a host, opened on demand and again after it was lost. */
export class HostSession implements AsyncDisposable {
  readonly #options: HostSessionOptions;
  #connection: HostConnection | undefined;
  readonly #closedUsage: HostUsage = { execSessions: 0, sftpSessions: 0, bytesSent: 0, bytesReceived: 0 };
  #isOver = false;

  constructor(options: HostSessionOptions) {
    this.#options = options;
  }

  /** Returns the open connection, or opens one. */
  async connect(signal: AbortSignal): Promise<HostConnection> {
    const { clock, metrics, open } = this.#options;
    if (this.#connection !== undefined && !this.#connection.ended.aborted) return this.#connection;
    await this.close();
    const startMs = clock.monotonicMs();
    const connection = await open(signal);
    metrics.observe(hostMetrics.connectSeconds, {}, (clock.monotonicMs() - startMs) / 1000);
    if (this.#isOver || signal.aborted) {
      await connection.close();
      signal.throwIfAborted();
      throw new Error('the session is closed');
    }
    this.#connection = connection;
    return connection;
  }

  /** By the clock of the session. */
  pause(ms: number, signal: AbortSignal): Promise<void> {
    return this.#options.clock.sleep(ms, signal);
  }

  /** Aborted when there is no connection, or as soon as it ends. */
  get ended(): AbortSignal {
    return this.#connection?.ended ?? AbortSignal.abort();
  }

  /** Runs a command, and again after a lost connection. Rejects commands that a shell could interpret differently. */
  async exec(command: string, options: ExecOptions & { signal: AbortSignal }): Promise<CommandResult> {
    checkCommand(command);
    const [, verb = ''] = command.split(' ');
    return this.#retry(options.signal, async connection =>
      this.#timed(hostMetrics.commandSeconds, { verb }, () => connection.exec(command, options)),
    );
  }

  async upload(path: string, content: Sendable, options: UploadOptions & { signal: AbortSignal }): Promise<void> {
    const { bytes: size } = content;
    await this.#retry(options.signal, connection =>
      this.#timed(hostMetrics.uploadSeconds, {}, () =>
        connection.upload(path, { size, chunks: content.chunks() }, options),
      ),
    );
    this.#options.metrics.count(hostMetrics.uploadedBytes, {}, size);
  }

  /** In bytes; undefined when there is no file of that name. */
  fileSize(path: string, signal: AbortSignal): Promise<number | undefined> {
    return this.#retry(signal, connection => connection.fileSize(path, { signal }));
  }

  /** Deletes a folder with everything in it. */
  removeFolder(path: string, options: RemoveFolderOptions & { signal: AbortSignal }): Promise<void> {
    return this.#retry(options.signal, connection => connection.removeFolder(path, options));
  }

  /** Sessions and bytes so far, over all connections. */
  usage(): HostUsage {
    const now = this.#connection?.usage();
    return now === undefined ? { ...this.#closedUsage } : sum(this.#closedUsage, now);
  }

  /** Closes the connection; the next command opens another. */
  async close(): Promise<void> {
    const connection = this.#connection;
    if (connection === undefined) return;
    this.#connection = undefined;
    await connection.close();
    Object.assign(this.#closedUsage, sum(this.#closedUsage, connection.usage()));
  }

  /** Closes the session; a connection that is still being opened is closed afterwards. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    await this.close();
  }

  async #retry<T>(signal: AbortSignal, run: (connection: HostConnection) => Promise<T>): Promise<T> {
    for (let left = attempts; ; left -= 1) {
      try {
        return await run(await this.connect(signal));
      } catch (error) {
        if (!isAppError(error, 'HOST_CONNECTION_LOST') || left <= 1 || signal.aborted) throw error;
      }
      await this.pause(pauseMs, signal);
    }
  }

  async #timed<T>(
    metric: (typeof hostMetrics)['commandSeconds' | 'uploadSeconds'],
    labels: Record<string, string>,
    run: () => Promise<T>,
  ): Promise<T> {
    const { clock, metrics } = this.#options;
    const startMs = clock.monotonicMs();
    try {
      return await run();
    } finally {
      metrics.observe(metric, labels, (clock.monotonicMs() - startMs) / 1000);
    }
  }
}

function sum(one: HostUsage, other: HostUsage): HostUsage {
  return {
    execSessions: one.execSessions + other.execSessions,
    sftpSessions: one.sftpSessions + other.sftpSessions,
    bytesSent: one.bytesSent + other.bytesSent,
    bytesReceived: one.bytesReceived + other.bytesReceived,
  };
}
