import { parentOf } from '#contract/host-path.ts';
import { readWire, type WireReader } from '#base/ssh-wire.ts';
import type { Content, Draft } from '../host/content-store.ts';
import { DiskFull, type SimulatedFiles } from '../host/files.ts';
import { type Answer, type Attributes, extension, printAnswer, printVersion, request, status } from './sftp-packets.ts';
import { sftpPath, windowsPath } from './sftp-paths.ts';

export interface SftpHost {
  files: SimulatedFiles;
  diskBytes: () => number;
  /** Only administrators may write below C:\\Windows. */
  mayWrite(path: string): boolean;
  /** Windows does not replace the file of a running program. */
  isInUse(path: string): boolean;
  /** Called for each chunk; delays it as the network would. A rejection ends the session. */
  onUpload(bytes: number, closed: AbortSignal): Promise<void>;
  /** Called for every completed upload. */
  onFile(path: string, bytes: number): void;
  /** Called for every rename. */
  onRename(from: string, to: string): void;
}

type Open =
  | { is: 'file to write'; path: string; draft: Draft }
  | { is: 'file to read'; path: string; content: Content }
  | { is: 'folder'; path: string; names: string[] };

type Handler = (reader: WireReader) => Promise<Answer>;

const statusAnswer = (code: number): Answer => ({ is: 'status', code });
const ok = statusAnswer(status.ok);
const [writeFlag, createFlag, exclusiveFlag] = [0x2, 0x8, 0x20];

/** Handles the requests of one SFTP session in order. */
export class SftpServer {
  readonly #host: SftpHost;
  readonly #closed: AbortSignal;
  readonly #open = new Map<string, Open>();
  readonly #handlers: ReadonlyMap<number, Handler>;
  #handles = 0;

  /** `closed` is aborted when the client disconnects. */
  constructor(host: SftpHost, closed: AbortSignal) {
    this.#host = host;
    this.#closed = closed;
    this.#handlers = new Map<number, Handler>([
      [request.open, reader => this.#openFile(pathOf(reader), reader.uint32())],
      [request.close, reader => this.#close(reader.text())],
      [request.read, reader => this.#read(reader.text(), longOf(reader), reader.uint32())],
      [request.write, reader => this.#write(reader.text(), longOf(reader), reader.string())],
      [request.lstat, reader => this.#stat(pathOf(reader))],
      [request.stat, reader => this.#stat(pathOf(reader))],
      [request.fstat, reader => this.#stat(this.#open.get(reader.text())?.path ?? '')],
      [request.setstat, async () => ok],
      [request.fsetstat, async () => ok],
      [request.opendir, reader => this.#openFolder(pathOf(reader))],
      [request.readdir, reader => this.#readFolder(reader.text())],
      [request.remove, reader => this.#remove(pathOf(reader))],
      [request.mkdir, reader => this.#makeFolder(pathOf(reader))],
      [request.rmdir, reader => this.#removeFolder(pathOf(reader))],
      [request.realpath, reader => this.#name(pathOf(reader))],
      [request.rename, reader => this.#rename(pathOf(reader), pathOf(reader), false)],
      [request.extended, reader => this.#extended(reader)],
    ]);
  }

  /** The response to a packet; rejects to end the session. */
  async answer(packet: Uint8Array): Promise<Uint8Array> {
    const type = packet[0] ?? 0;
    if (type === request.init) return printVersion();
    const found = readWire(packet.subarray(1), reader => {
      const id = reader.uint32();
      const handler = this.#handlers.get(type);
      const answer = handler === undefined ? Promise.resolve(statusAnswer(status.unsupported)) : handler(reader);
      // Ignores the rest, mostly attributes.
      reader.rest();
      return { id, answer };
    });
    if (found === undefined) throw new Error(`SFTP packet of type ${type} is malformed`);
    return printAnswer(found.id, await found.answer);
  }

  /** Keeps partial uploads. */
  async end(): Promise<void> {
    for (const handle of this.#open.keys()) {
      // The host may have been removed.
      await this.#close(handle, 'cut short').catch(() => undefined);
    }
  }

  async #openFile(path: string, flags: number): Promise<Answer> {
    const { files } = this.#host;
    if (files.isFolder(path)) return statusAnswer(status.failure);
    if ((flags & writeFlag) === 0) return this.#openToRead(path);
    if (!files.isFolder(parentOf(path))) return statusAnswer(status.noSuchFile);
    if (!this.#host.mayWrite(path) || this.#host.isInUse(path)) return statusAnswer(status.denied);
    if (files.has(path) ? (flags & exclusiveFlag) !== 0 : (flags & createFlag) === 0)
      return statusAnswer(status.failure);
    await files.finish(files.draft(), path);
    return this.#remember({ is: 'file to write', path, draft: files.draft() });
  }

  #openToRead(path: string): Answer {
    const content = this.#host.files.content(path);
    return content === undefined
      ? statusAnswer(status.noSuchFile)
      : this.#remember({ is: 'file to read', path, content });
  }

  #remember(open: Open): Answer {
    this.#handles += 1;
    this.#open.set(String(this.#handles), open);
    return { is: 'handle', handle: String(this.#handles) };
  }

  async #close(handle: string, how: 'whole' | 'cut short' = 'whole'): Promise<Answer> {
    const open = this.#open.get(handle);
    if (open === undefined) return statusAnswer(status.failure);
    this.#open.delete(handle);
    if (open.is !== 'file to write') return ok;
    const { path, draft } = open;
    await this.#host.files.finish(draft, path);
    if (how === 'whole') this.#host.onFile(path, draft.bytes);
    return ok;
  }

  async #read(handle: string, at: number, length: number): Promise<Answer> {
    const open = this.#open.get(handle);
    if (open?.is !== 'file to read') return statusAnswer(status.failure);
    if (at >= open.content.bytes) return statusAnswer(status.endOfFile);
    try {
      return { is: 'data', bytes: await this.#host.files.readAt(open.content, at, length) };
    } catch {
      // The file was deleted meanwhile.
      return statusAnswer(status.failure);
    }
  }

  async #write(handle: string, at: number, data: Uint8Array): Promise<Answer> {
    const open = this.#open.get(handle);
    if (open?.is !== 'file to write') return statusAnswer(status.failure);
    await this.#host.onUpload(data.length, this.#closed);
    try {
      await this.#host.files.writeInto(open.draft, data, at);
      return ok;
    } catch (error) {
      if (error instanceof DiskFull) return statusAnswer(status.failure);
      throw error;
    }
  }

  async #attributes(path: string): Promise<Attributes | undefined> {
    const { files } = this.#host;
    if (files.isFolder(path)) return { isFolder: true, bytes: 0, modifiedMs: 0 };
    const found = await files.stat(path);
    return found && { isFolder: false, ...found };
  }

  async #stat(path: string): Promise<Answer> {
    const attributes = await this.#attributes(path);
    return attributes === undefined ? statusAnswer(status.noSuchFile) : { is: 'attributes', attributes };
  }

  async #openFolder(path: string): Promise<Answer> {
    const { files } = this.#host;
    if (!files.isFolder(path)) return statusAnswer(status.noSuchFile);
    return this.#remember({ is: 'folder', path, names: await files.list(path) });
  }

  async #readFolder(handle: string): Promise<Answer> {
    const open = this.#open.get(handle);
    if (open?.is !== 'folder') return statusAnswer(status.failure);
    const name = open.names.shift();
    if (name === undefined) return statusAnswer(status.endOfFile);
    const attributes = await this.#attributes(`${open.path}\\${name}`);
    return { is: 'names', names: attributes === undefined ? [] : [{ name, attributes }] };
  }

  async #remove(path: string): Promise<Answer> {
    if (!this.#host.files.has(path)) return statusAnswer(status.noSuchFile);
    if (!this.#host.mayWrite(path) || this.#host.isInUse(path)) return statusAnswer(status.denied);
    await this.#host.files.remove(path);
    return ok;
  }

  async #makeFolder(path: string): Promise<Answer> {
    const { files } = this.#host;
    if (files.isFolder(path) || files.has(path)) return statusAnswer(status.failure);
    if (!files.isFolder(parentOf(path))) return statusAnswer(status.noSuchFile);
    if (!this.#host.mayWrite(path)) return statusAnswer(status.denied);
    await files.makeDirectory(path);
    return ok;
  }

  async #removeFolder(path: string): Promise<Answer> {
    const { files } = this.#host;
    if (!files.isFolder(path)) return statusAnswer(status.noSuchFile);
    if (!this.#host.mayWrite(path)) return statusAnswer(status.denied);
    if ((await files.list(path)).length > 0) return statusAnswer(status.failure);
    await files.removeDirectory(path);
    return ok;
  }

  async #name(path: string): Promise<Answer> {
    const attributes = { isFolder: true, bytes: 0, modifiedMs: 0 };
    return { is: 'names', names: [{ name: sftpPath(path), attributes }] };
  }

  async #rename(from: string, to: string, replaces: boolean): Promise<Answer> {
    const { files } = this.#host;
    if (!files.has(from) || !files.isFolder(parentOf(to))) return statusAnswer(status.noSuchFile);
    if (files.isFolder(to) || (files.has(to) && !replaces)) return statusAnswer(status.failure);
    if (!this.#host.mayWrite(to) || this.#host.isInUse(to)) return statusAnswer(status.denied);
    await files.rename(from, to);
    this.#host.onRename(from, to);
    return ok;
  }

  #extended(reader: WireReader): Promise<Answer> {
    const name = reader.text();
    if (name === extension.rename) return this.#rename(pathOf(reader), pathOf(reader), true);
    if (name === extension.limits) return Promise.resolve({ is: 'limits' });
    const { diskBytes, files } = this.#host;
    const answer: Answer =
      name === extension.space
        ? { is: 'space', totalBytes: diskBytes(), freeBytes: files.freeBytes }
        : statusAnswer(status.unsupported);
    return Promise.resolve(answer);
  }
}

function pathOf(reader: WireReader): string {
  return windowsPath(reader.text());
}

function longOf(reader: WireReader): number {
  return reader.uint32() * 2 ** 32 + reader.uint32();
}
