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

/** How long a kubeconfig is used before the file is looked at again, when there is a request to send. */
const maxAgeMs = 30_000;

/** A kubeconfig that the operator rewrites: with a new CA, another address, a fresh token. The last good one stays in use. */
export class KubeconfigFile {
  readonly path: string;
  readonly #ports: KubeconfigPorts;
  readonly #source: TextSource;
  #known: { text: string; connection: Connection | AppError } | undefined;
  #good: Connection | undefined;

  constructor(path: string, ports: KubeconfigPorts) {
    this.path = path;
    this.#ports = ports;
    this.#source = changingText(() => this.#look(), maxAgeMs, ports.clock);
  }

  /** What the file says now. */
  async connection(): Promise<Connection> {
    return this.#parsed(await this.#source.read());
  }

  /** Looks at the file now, however short ago it did. */
  async reread(): Promise<Connection> {
    return this.#parsed(await this.#source.reread());
  }

  /** What the file said last. */
  get known(): Connection {
    if (this.#good === undefined) throw missing(this.path);
    return this.#good;
  }

  async #look(): Promise<string> {
    const text = await this.#ports.files.read(this.path);
    if (text === undefined) throw missing(this.path);
    return text;
  }

  #parsed(text: string): Connection {
    if (this.#known?.text !== text) this.#known = { text, connection: this.#parse(text) };
    const { connection } = this.#known;
    if (!(connection instanceof AppError)) this.#good = connection;
    if (this.#good === undefined) throw connection;
    return this.#good;
  }

  #parse(text: string): Connection | AppError {
    const { files, clock, log } = this.#ports;
    const folder = win32.dirname(this.path);
    const readFile = (path: string) => files.read(win32.resolve(folder, path));
    const parsed = attempt(() => loadKubeconfig(text, { readFile, clock }));
    if (parsed.ok) return parsed.value;
    log.warn('The kubeconfig cannot be used', { file: this.path, error: parsed.error });
    const { code, message, remedy } = parsed.error;
    return new AppError(code, `${shown(this.path)}: ${message}`, { remedy });
  }
}

function missing(path: string): AppError {
  return new AppError('CREDENTIAL_UNREADABLE', `${shown(path)} does not exist`, {
    remedy: 'Let the operator configure the host again: it writes the file.',
  });
}
