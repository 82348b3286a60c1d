import { EventEmitter } from 'node:events';
import type { Client, SFTPWrapper } from 'ssh2';

/** Numbers of the SFTP protocol. */
export const status = { ok: 0, endOfFile: 1, noSuchFile: 2, denied: 3, failure: 4, unsupported: 8 } as const;

/** What becomes of an operation: a status other than OK, or no answer at all. */
export type Fault = number | 'silence';

/** The drive of a host in memory, with the rules of SFTP. Faults are injected per operation. */
export class MemoryFiles {
  readonly files = new Map<string, Buffer>();
  readonly folders = new Set<string>(['/C:']);
  /** Every operation with its path, in order. */
  readonly log: string[] = [];
  freeBytes = Number.MAX_SAFE_INTEGER;
  fault: (operation: string, path: string) => Fault | undefined = () => undefined;
  readonly #handles = new Map<number, string>();
  #next = 0;

  /** The status or the value; undefined for no answer. */
  do(operation: string, path: string, act: () => number | object): number | object | undefined {
    this.log.push(`${operation} ${path}`);
    const fault = this.fault(operation, path);
    if (fault === 'silence') return undefined;
    return fault ?? act();
  }

  open(path: string, writes: boolean): number | object | undefined {
    return this.do('open', path, () => {
      if (writes && !this.folders.has(parentOf(path))) return status.noSuchFile;
      if (!writes && !this.files.has(path)) return status.noSuchFile;
      if (writes) this.files.set(path, Buffer.alloc(0));
      this.#next += 1;
      this.#handles.set(this.#next, path);
      const handle = Buffer.alloc(4);
      handle.writeUInt32BE(this.#next);
      return handle;
    });
  }

  write(handle: Buffer, data: Buffer, at: number): number | object | undefined {
    const path = this.#pathOf(handle);
    return this.do('write', path, () => {
      const old = this.files.get(path) ?? Buffer.alloc(0);
      const grown = Buffer.alloc(Math.max(old.length, at + data.length));
      old.copy(grown);
      data.copy(grown, at);
      this.files.set(path, grown);
      return status.ok;
    });
  }

  read(handle: Buffer, at: number, length: number): number | object | undefined {
    const path = this.#pathOf(handle);
    return this.do('read', path, () => {
      const piece = this.files.get(path)?.subarray(at, at + length) ?? Buffer.alloc(0);
      return piece.length === 0 ? status.endOfFile : piece;
    });
  }

  close(handle: Buffer): number | object | undefined {
    const path = this.#pathOf(handle);
    return this.do('close', path, () => {
      this.#handles.delete(handle.readUInt32BE());
      return status.ok;
    });
  }

  unlink(path: string): number | object | undefined {
    return this.do('unlink', path, () => (this.files.delete(path) ? status.ok : status.noSuchFile));
  }

  rename(from: string, to: string, replaces: boolean): number | object | undefined {
    return this.do(replaces ? 'replace' : 'rename', to, () => {
      const content = this.files.get(from);
      if (content === undefined) return status.noSuchFile;
      if (!replaces && this.files.has(to)) return status.failure;
      this.files.delete(from);
      this.files.set(to, content);
      return status.ok;
    });
  }

  mkdir(path: string): number | object | undefined {
    return this.do('mkdir', path, () => {
      if (this.folders.has(path) || !this.folders.has(parentOf(path))) return status.failure;
      this.folders.add(path);
      return status.ok;
    });
  }

  rmdir(path: string): number | object | undefined {
    return this.do('rmdir', path, () => {
      if (!this.folders.has(path)) return status.noSuchFile;
      return this.#inside(path).length > 0 || !this.folders.delete(path) ? status.failure : status.ok;
    });
  }

  /** The names in a folder with their kind. */
  readdir(path: string): number | object | undefined {
    return this.do('readdir', path, () => {
      if (!this.folders.has(path)) return status.noSuchFile;
      return this.#inside(path).map(each => ({
        filename: each.slice(path.length + 1),
        attrs: { isDirectory: () => this.folders.has(each) },
      }));
    });
  }

  #inside(path: string): string[] {
    return [...this.files.keys(), ...this.folders].filter(each => parentOf(each) === path);
  }

  stat(path: string): number | object | undefined {
    return this.do('stat', path, () => {
      const file = this.files.get(path);
      if (file === undefined && !this.folders.has(path)) return status.noSuchFile;
      return { size: file?.length ?? 0, isFile: () => file !== undefined };
    });
  }

  space(path: string): number | object | undefined {
    return this.do('space', path, () => ({ f_frsize: 1, f_bavail: this.freeBytes }));
  }

  get openHandles(): number {
    return this.#handles.size;
  }

  #pathOf(handle: Buffer): string {
    return this.#handles.get(handle.readUInt32BE()) ?? '';
  }
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}

type Done = (error?: Error, value?: unknown) => void;

/** The SSH library's client for these files, without network. `extensions` says whether the server is an OpenSSH. */
export function modelSftp(files: MemoryFiles, extensions = true): SFTPWrapper & EventEmitter {
  const answer = (result: number | object | undefined, done: Done) => {
    if (result === undefined) return;
    // As from a network: never before the caller continues.
    setImmediate(() => {
      if (typeof result === 'object') done(undefined, result);
      else done(result === status.ok ? undefined : Object.assign(new Error(`status ${result}`), { code: result }));
    });
  };
  const extended = (run: () => void) => {
    if (!extensions) throw new Error('Server does not support this extended request');
    run();
  };
  const methods = {
    open: (path: string, flags: string, done: Done) => answer(files.open(path, flags === 'w'), done),
    write: (...[handle, data, from, length, at, done]: [Buffer, Buffer, number, number, number, Done]) =>
      answer(files.write(handle, data.subarray(from, from + length), at), done),
    read: (...[handle, into, from, length, at, done]: [Buffer, Buffer, number, number, number, Done]) => {
      const got = files.read(handle, at, length);
      if (!Buffer.isBuffer(got)) return answer(got, done);
      got.copy(into, from);
      setImmediate(() => done(undefined, got.length));
      return undefined;
    },
    close: (handle: Buffer, done: Done) => answer(files.close(handle), done),
    unlink: (path: string, done: Done) => answer(files.unlink(path), done),
    rename: (from: string, to: string, done: Done) => answer(files.rename(from, to, false), done),
    mkdir: (path: string, done: Done) => answer(files.mkdir(path), done),
    rmdir: (path: string, done: Done) => answer(files.rmdir(path), done),
    readdir: (path: string, done: Done) => answer(files.readdir(path), done),
    stat: (path: string, done: Done) => answer(files.stat(path), done),
    ext_openssh_rename: (from: string, to: string, done: Done) =>
      extended(() => answer(files.rename(from, to, true), done)),
    ext_openssh_statvfs: (path: string, done: Done) => extended(() => answer(files.space(path), done)),
  };
  return Object.assign(new EventEmitter(), methods) as unknown as SFTPWrapper & EventEmitter;
}

/** A client of the SSH library that gives this session, or fails to. */
export function clientWith(sftp: SFTPWrapper | Error): Client {
  const open = (done: (error: Error | undefined, sftp?: SFTPWrapper) => void) => {
    if (sftp instanceof Error) done(sftp);
    else done(undefined, sftp);
  };
  return { sftp: open } as unknown as Client;
}
