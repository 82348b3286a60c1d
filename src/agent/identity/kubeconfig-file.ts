import { win32 } from 'node:path';
import type { Clock } from '#base/clock.ts';
import { AppError, attempt, shown } from '#base/errors.ts';
import type { Log } from '#base/log.ts';
import { loadKubeconfig } from '#kube/config/load-kubeconfig.ts';
import { changingText, type TextSource } from '#kube/config/text-source.ts';
import type { Connection } from '#kube/transport/connection.ts';
import type { Files } from '../ports.ts';

export interface KubeconfigPorts {
  files: Pick<Files, 'read'>;
  clock: Clock;
  log: Log;
}

/** How long a kubeconfig is used before a request reads the file again. */
const maxAgeMs = 30_000;

/** A kubeconfig that the operator rewrites with a new CA, address or token. The last valid one stays in use. */
export class KubeconfigFile {
  readonly path: string;
  readonly #ports: KubeconfigPorts;
  readonly #source: TextSource;
  #known: { text: string; connection: Connection | AppError } | undefined;
  #valid: Connection | undefined;

  constructor(path: string, ports: KubeconfigPorts) {
    this.path = path;
    this.#ports = ports;
    this.#source = changingText(() => this.#readFile(), maxAgeMs, ports.clock);
  }

  /** From the file, at most 30 s old. */
  async connection(): Promise<Connection> {
    return this.#parsed(await this.#source.read());
  }

  /** Reads the file now. */
  async reread(): Promise<Connection> {
    return this.#parsed(await this.#source.reread());
  }

  /** From the last read, without reading the file. */
  get known(): Connection {
    if (this.#valid === undefined) throw missing(this.path);
    return this.#valid;
  }

  async #readFile(): Promise<string> {
    const text = await this.#ports.files.read(this.path);
    if (text === undefined) throw missing(this.path);
    return text;
  }

  #parsed(text: string): Connection {
    if (this.#known?.text !== text) this.#known = { text, connection: this.#parse(text) };
    const { connection } = this.#known;
    if (!(connection instanceof AppError)) this.#valid = connection;
    if (this.#valid === undefined) throw connection;
    return this.#valid;
  }

  #parse(text: string): Connection | AppError {
    const { files, clock, log } = this.#ports;
    const folder = win32.dirname(this.path);
    const readFile = (path: string) => files.read(win32.resolve(folder, path));
    const parsed = attempt(() => loadKubeconfig(text, { readFile, clock }));
    if (parsed.ok) return parsed.value;
    log.warn('Invalid kubeconfig; using the previous one', { file: this.path, error: parsed.error });
    const { code, message, remedy } = parsed.error;
    return new AppError(code, `${shown(this.path)}: ${message}`, { remedy });
  }
}

function missing(path: string): AppError {
  return new AppError('CREDENTIAL_UNREADABLE', `${shown(path)} does not exist`, {
    remedy: 'Wait for the operator to configure the host again: it writes the file.',
  });
}
