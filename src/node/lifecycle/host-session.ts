import type { Clock } from '#base/clock.ts';
import { isAppError } from '#base/errors.ts';
import { checkCommand } from '#contract/agent-command.ts';
import type { CommandResult, ExecOptions, HostConnection, HostUsage, UploadOptions } from '#host/host.ts';
import type { Metrics } from '#kube/controller/metrics.ts';

export interface HostSessionOptions {
  /** Opens a connection for which everything is in order, its host key too. */
  open: (signal: AbortSignal) => Promise<HostConnection>;
  clock: Clock;
  metrics: Metrics;
}

/** Content that can be sent more than once. */
export interface Sendable {
  bytes: number;
  chunks(): AsyncIterable<Uint8Array>;
}

export const hostMetrics = {
  connectSeconds: { name: 'wmco_ssh_connect_seconds', help: 'How long it takes to connect to a host.' },
  commandSeconds: { name: 'wmco_ssh_command_seconds', help: 'Length of commands on hosts, by verb of the agent.' },
  uploadSeconds: { name: 'wmco_ssh_upload_seconds', help: 'Length of uploads to hosts.' },
  uploadedBytes: { name: 'wmco_ssh_uploaded_bytes_total', help: 'Bytes of files sent to hosts.' },
} as const;

/** A connection that broke is made once more: all that is done over it can be done again. */
const attempts = 2;
const pauseMs = 1000;

/** One connection to a host at a time, opened when it is needed and opened again when it has broken. Whoever made it closes it. */
export class HostSession implements AsyncDisposable {
  readonly #options: HostSessionOptions;
  #connection: HostConnection | undefined;
  readonly #before: HostUsage = { execSessions: 0, sftpSessions: 0, bytesSent: 0, bytesReceived: 0 };
  #isOver = false;

  constructor(options: HostSessionOptions) {
    this.#options = options;
  }

  /** The connection that stands, or a new one. */
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
      throw new Error('the journey is over');
    }
    this.#connection = connection;
    return connection;
  }

  /** Aborted when there is no connection, or as soon as the one that stands is over. */
  get ended(): AbortSignal {
    return this.#connection?.ended ?? AbortSignal.abort();
  }

  /** Runs a command, once more when the connection breaks meanwhile; one that a shell could read in another way is never sent. */
  async exec(command: string, options: ExecOptions & { signal: AbortSignal }): Promise<CommandResult> {
    checkCommand(command);
    const [, verb = ''] = command.split(' ');
    return this.#twice(options.signal, async connection =>
      this.#timed(hostMetrics.commandSeconds, { verb }, () => connection.exec(command, options)),
    );
  }

  async upload(path: string, content: Sendable, options: UploadOptions & { signal: AbortSignal }): Promise<void> {
    const { bytes: size } = content;
    await this.#twice(options.signal, connection =>
      this.#timed(hostMetrics.uploadSeconds, {}, () =>
        connection.upload(path, { size, chunks: content.chunks() }, options),
      ),
    );
    this.#options.metrics.count(hostMetrics.uploadedBytes, {}, size);
  }

  /** In bytes; undefined when there is no file of that name. */
  fileSize(path: string, signal: AbortSignal): Promise<number | undefined> {
    return this.#twice(signal, connection => connection.fileSize(path, { signal }));
  }

  /** What the journey has cost so far, over all its connections. */
  usage(): HostUsage {
    const now = this.#connection?.usage();
    return now === undefined ? { ...this.#before } : sum(this.#before, now);
  }

  /** Ends the connection; the next need opens another. */
  async close(): Promise<void> {
    const connection = this.#connection;
    if (connection === undefined) return;
    this.#connection = undefined;
    await connection.close();
    Object.assign(this.#before, sum(this.#before, connection.usage()));
  }

  /** Ends it for good: a connection that is still being made is closed as soon as it stands. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    await this.close();
  }

  async #twice<T>(signal: AbortSignal, run: (connection: HostConnection) => Promise<T>): Promise<T> {
    for (let left = attempts; ; left -= 1) {
      try {
        return await run(await this.connect(signal));
      } catch (error) {
        if (!isAppError(error, 'HOST_CONNECTION_LOST') || left <= 1 || signal.aborted) throw error;
      }
      await this.#options.clock.sleep(pauseMs, signal);
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
