import type { Client, SFTPWrapper } from 'ssh2';
import { connectionLost, sftpMissing } from './operation-failures.ts';

type Done<T> = (error?: Error | null, value?: T) => void;

/** One SFTP session with promises. It notices its own end: the library leaves requests after that without an answer. */
export class SftpSession {
  readonly #sftp: SFTPWrapper;
  readonly #pending = new Set<(error: Error) => void>();
  #over: Error | undefined;

  private constructor(sftp: SFTPWrapper) {
    this.#sftp = sftp;
    sftp.on('error', (error: Error) => this.#end(error));
    sftp.on('end', () => this.#end(new Error('the host ended the SFTP session')));
    sftp.on('close', () => this.#end(new Error('the host closed the SFTP session')));
  }

  static open(client: Client, address: string): Promise<SftpSession> {
    const { promise, resolve, reject } = Promise.withResolvers<SftpSession>();
    try {
      client.sftp((error, sftp) => (error ? reject(sftpMissing(address, error)) : resolve(new SftpSession(sftp))));
    } catch (error) {
      // The library notices that the other end is gone a moment before it says so.
      reject(connectionLost(address, error));
    }
    return promise;
  }

  get isOver(): boolean {
    return this.#over !== undefined;
  }

  /** The most that goes to the host in one request; the library cuts what is longer and needs it until the host has answered. */
  get maxWriteBytes(): number {
    return (this.#sftp as { _maxWriteLen?: number })._maxWriteLen ?? Infinity;
  }

  /** Makes one request. It rejects with the status the host answers, or when the session ends before that. */
  async request<T = void>(start: (sftp: SFTPWrapper, done: Done<T>) => void): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    if (this.#over !== undefined) throw this.#over;
    this.#pending.add(reject);
    try {
      start(this.#sftp, (error, value) => (error ? reject(error) : resolve(value as T)));
      return await promise;
    } finally {
      this.#pending.delete(reject);
    }
  }

  #end(error: Error): void {
    this.#over ??= error;
    for (const reject of this.#pending) reject(this.#over);
    this.#pending.clear();
  }
}
