import { parentOf } from '#contract/host-path.ts';
import { readWire, type WireReader } from '#host/keys/ssh-wire.ts';
import type { Content, Draft } from '../host/content-store.ts';
import { DiskFull, type SimulatedFiles } from '../host/files.ts';
import { type Answer, type Attributes, extension, printAnswer, printVersion, request, status } from './sftp-packets.ts';
import { sftpPath, windowsPath } from './sftp-paths.ts';

export interface SftpHost {
  files: SimulatedFiles;
  diskBytes: () => number;
  /** Whether the user may write there: below C:\\Windows only administrators may. */
  mayWrite(path: string): boolean;
  /** Whether a program runs from that file, which Windows then does not let go. */
  isInUse(path: string): boolean;
  /** Hears of what arrives, and lets it in as slowly as the network would. Whatever it throws ends the session. */
  onUpload(bytes: number, closed: AbortSignal): Promise<void>;
  /** Told of every file that was written to its end. */
  onFile(path: string, bytes: number): void;
  /** Told of every file that got another name. */
  onRename(from: string, to: string): void;
}

type Open =
  | { is: 'file to write'; path: string; draft: Draft }
  | { is: 'file to read'; path: string; content: Content }
  | { is: 'folder'; path: string; names: string[] };

type Handler = (reader: WireReader) => Promise<Answer>;

const said = (code: number): Answer => ({ is: 'status', code });
const done = said(status.ok);
const [wantsToWrite, mayCreate, mayNotExist] = [0x2, 0x8, 0x20];

/** Answers the requests of one SFTP session, one after another. */
export class SftpServer {
  readonly #host: SftpHost;
  readonly #closed: AbortSignal;
  readonly #open = new Map<string, Open>();
  readonly #handlers: ReadonlyMap<number, Handler>;
  #handles = 0;

  /** The signal is aborted when the client is gone. */
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
      [request.setstat, async () => done],
      [request.fsetstat, async () => done],
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

  /** The bytes to send for a packet; rejects when the session has to end. */
  async answer(packet: Uint8Array): Promise<Uint8Array> {
    const type = packet[0] ?? 0;
    if (type === request.init) return printVersion();
    const found = readWire(packet.subarray(1), reader => {
      const id = reader.uint32();
      const handler = this.#handlers.get(type);
      const answer = handler === undefined ? Promise.resolve(said(status.unsupported)) : handler(reader);
      // What follows, attributes mostly, changes nothing here.
      reader.rest();
      return { id, answer };
    });
    if (found === undefined) throw new Error(`an SFTP packet of type ${type} that makes no sense`);
    return printAnswer(found.id, await found.answer);
  }

  /** What was being written stays as far as it came. */
  async end(): Promise<void> {
    for (const handle of this.#open.keys()) {
      // The host may be gone altogether.
      await this.#close(handle, 'cut short').catch(() => undefined);
    }
  }

  async #openFile(path: string, flags: number): Promise<Answer> {
    const { files } = this.#host;
    if (files.isFolder(path)) return said(status.failure);
    if ((flags & wantsToWrite) === 0) return this.#openToRead(path);
    if (!files.isFolder(parentOf(path))) return said(status.noSuchFile);
    if (!this.#host.mayWrite(path) || this.#host.isInUse(path)) return said(status.denied);
    if (files.has(path) ? (flags & mayNotExist) !== 0 : (flags & mayCreate) === 0) return said(status.failure);
    await files.finish(files.draft(), path);
    return this.#remember({ is: 'file to write', path, draft: files.draft() });
  }

  #openToRead(path: string): Answer {
    const content = this.#host.files.content(path);
    return content === undefined ? said(status.noSuchFile) : this.#remember({ is: 'file to read', path, content });
  }

  #remember(open: Open): Answer {
    this.#handles += 1;
    this.#open.set(String(this.#handles), open);
    return { is: 'handle', handle: String(this.#handles) };
  }

  async #close(handle: string, how: 'whole' | 'cut short' = 'whole'): Promise<Answer> {
    const open = this.#open.get(handle);
    if (open === undefined) return said(status.failure);
    this.#open.delete(handle);
    if (open.is !== 'file to write') return done;
    const { path, draft } = open;
    await this.#host.files.finish(draft, path);
    if (how === 'whole') this.#host.onFile(path, draft.bytes);
    return done;
  }

  async #read(handle: string, at: number, length: number): Promise<Answer> {
    const open = this.#open.get(handle);
    if (open?.is !== 'file to read') return said(status.failure);
    if (at >= open.content.bytes) return said(status.endOfFile);
    try {
      return { is: 'data', bytes: await this.#host.files.readAt(open.content, at, length) };
    } catch {
      // The file has gone meanwhile, and nobody else has the same.
      return said(status.failure);
    }
  }

  async #write(handle: string, at: number, data: Uint8Array): Promise<Answer> {
    const open = this.#open.get(handle);
    if (open?.is !== 'file to write') return said(status.failure);
    await this.#host.onUpload(data.length, this.#closed);
    try {
      await this.#host.files.writeInto(open.draft, data, at);
      return done;
    } catch (error) {
      if (error instanceof DiskFull) return said(status.failure);
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
    return attributes === undefined ? said(status.noSuchFile) : { is: 'attributes', attributes };
  }

  async #openFolder(path: string): Promise<Answer> {
    const { files } = this.#host;
    if (!files.isFolder(path)) return said(status.noSuchFile);
    return this.#remember({ is: 'folder', path, names: await files.list(path) });
  }

  async #readFolder(handle: string): Promise<Answer> {
    const open = this.#open.get(handle);
    if (open?.is !== 'folder') return said(status.failure);
    const name = open.names.shift();
    if (name === undefined) return said(status.endOfFile);
    const attributes = await this.#attributes(`${open.path}\\${name}`);
    return { is: 'names', names: attributes === undefined ? [] : [{ name, attributes }] };
  }

  async #remove(path: string): Promise<Answer> {
    if (!this.#host.files.has(path)) return said(status.noSuchFile);
    if (!this.#host.mayWrite(path) || this.#host.isInUse(path)) return said(status.denied);
    await this.#host.files.remove(path);
    return done;
  }

  async #makeFolder(path: string): Promise<Answer> {
    const { files } = this.#host;
    if (files.isFolder(path) || files.has(path)) return said(status.failure);
    if (!files.isFolder(parentOf(path))) return said(status.noSuchFile);
    if (!this.#host.mayWrite(path)) return said(status.denied);
    await files.makeDirectory(path);
    return done;
  }

  async #removeFolder(path: string): Promise<Answer> {
    const { files } = this.#host;
    if (!files.isFolder(path)) return said(status.noSuchFile);
    if ((await files.list(path)).length > 0) return said(status.failure);
    await files.removeDirectory(path);
    return done;
  }

  async #name(path: string): Promise<Answer> {
    const attributes = { isFolder: true, bytes: 0, modifiedMs: 0 };
    return { is: 'names', names: [{ name: sftpPath(path), attributes }] };
  }

  async #rename(from: string, to: string, replaces: boolean): Promise<Answer> {
    const { files } = this.#host;
    if (!files.has(from) || !files.isFolder(parentOf(to))) return said(status.noSuchFile);
    if (files.isFolder(to) || (files.has(to) && !replaces)) return said(status.failure);
    if (!this.#host.mayWrite(to) || this.#host.isInUse(to)) return said(status.denied);
    await files.rename(from, to);
    this.#host.onRename(from, to);
    return done;
  }

  #extended(reader: WireReader): Promise<Answer> {
    const name = reader.text();
    if (name === extension.rename) return this.#rename(pathOf(reader), pathOf(reader), true);
    if (name === extension.limits) return Promise.resolve({ is: 'limits' });
    const { diskBytes, files } = this.#host;
    const answer: Answer =
      name === extension.space
        ? { is: 'space', totalBytes: diskBytes(), freeBytes: files.freeBytes }
        : said(status.unsupported);
    return Promise.resolve(answer);
  }
}

function pathOf(reader: WireReader): string {
  return windowsPath(reader.text());
}

function longOf(reader: WireReader): number {
  return reader.uint32() * 2 ** 32 + reader.uint32();
}
