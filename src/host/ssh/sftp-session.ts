import type { Client, SFTPWrapper } from 'ssh2';
import { connectionLost, sftpMissing } from './operation-failures.ts';

type Done<T> = (error?: Error | null, value?: T) => void;

/**
 * One SFTP session with promises. Rejects pending requests when the session ends; the library would never answer them.
 */
export class SftpSession {
  readonly #sftp: SFTPWrapper;
  readonly #pending = new Set<(error: Error) => void>();
  #endError: Error | undefined;

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
      // The library throws when the connection is lost before it has emitted an event.
      reject(connectionLost(address, error));
    }
    return promise;
  }

  get hasEnded(): boolean {
    return this.#endError !== undefined;
  }

  /** Longest write request. The library splits longer ones and then keeps the buffer until the host has answered. */
  get maxWriteBytes(): number {
    return (this.#sftp as { _maxWriteLen?: number })._maxWriteLen ?? Infinity;
  }

  /** Rejects with the status of the host, or when the session ends before the answer. */
  async request<T = void>(start: (sftp: SFTPWrapper, done: Done<T>) => void): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    if (this.#endError !== undefined) throw this.#endError;
    this.#pending.add(reject);
    try {
      start(this.#sftp, (error, value) => (error ? reject(error) : resolve(value as T)));
      return await promise;
    } finally {
      this.#pending.delete(reject);
    }
  }

  #end(error: Error): void {
    this.#endError ??= error;
    for (const reject of this.#pending) reject(this.#endError);
    this.#pending.clear();
  }
}
