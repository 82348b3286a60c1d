import { closeSync, mkdirSync, readdirSync, renameSync, unlinkSync, writeSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Clock } from '#base/clock.ts';
import { fileTime } from './line.ts';
import { identityOf, openLog, type OpenLog } from './open-log.ts';

export interface RotatingFileOptions {
  path: string;
  /** 0 for no limit. */
  maxBytes: number;
  /** Number of full files to keep. */
  keep: number;
  /** First lines of every new file. */
  header: () => readonly string[];
  clock: Clock;
}

interface OpenFile extends OpenLog {
  /** It contains only the header. */
  isFresh: boolean;
}

/** Pause after a failure, so that a full disk does not cost system calls with every message. */
const pauseMs = 1000;

/**
 * A log file that is rotated when it is full. Each line is written at once, so that none is lost when the process ends.
 * Never throws; the number of lost lines is logged later.
 */
export class RotatingFile {
  readonly #options: RotatingFileOptions;
  #open: OpenFile | undefined;
  #lost = 0;
  #pauseUntilMs = Number.NEGATIVE_INFINITY;
  #checkAgainMs = Number.NEGATIVE_INFINITY;
  #rotateAgainMs = Number.NEGATIVE_INFINITY;

  constructor(options: RotatingFileOptions) {
    this.#options = options;
  }

  write(line: string): void {
    const nowMs = this.#options.clock.monotonicMs();
    if (nowMs < this.#pauseUntilMs) {
      this.#lost += 1;
      return;
    }
    try {
      const lines = this.#lost === 0 ? [line] : [`${this.#lost} lines could not be written here`, line];
      const open = this.#fileFor(Buffer.byteLength(line) + 1, nowMs);
      append(open, lines);
      open.isFresh = false;
      this.#lost = 0;
    } catch {
      this.close();
      this.#lost += 1;
      this.#pauseUntilMs = nowMs + pauseMs;
    }
  }

  close(): void {
    const open = this.#open;
    this.#open = undefined;
    if (open !== undefined) quietly(() => closeSync(open.handle));
  }

  /** The open file, rotated if there is no room for the bytes. */
  #fileFor(bytes: number, nowMs: number): OpenFile {
    const { maxBytes } = this.#options;
    this.#closeIfReplaced(nowMs);
    const open = (this.#open ??= this.#openFile());
    const isFull = maxBytes > 0 && !open.isFresh && open.bytes + bytes > maxBytes;
    if (!isFull || nowMs < this.#rotateAgainMs) return open;
    // Another program may block the rename; then the file grows meanwhile.
    this.#rotateAgainMs = nowMs + pauseMs;
    this.close();
    quietly(() => this.#rotate());
    return (this.#open = this.#openFile());
  }

  /** An administrator may have deleted the file, or another agent process rotated it. */
  #closeIfReplaced(nowMs: number): void {
    if (this.#open === undefined || nowMs < this.#checkAgainMs) return;
    this.#checkAgainMs = nowMs + pauseMs;
    if (identityOf(this.#options.path) !== this.#open.identity) this.close();
  }

  #openFile(): OpenFile {
    const { path, header } = this.#options;
    mkdirSync(dirname(path), { recursive: true });
    const opened = openLog(path);
    this.#open = { ...opened, isFresh: opened.bytes === 0 };
    if (opened.bytes === 0) append(this.#open, header());
    return this.#open;
  }

  #rotate(): void {
    const { path, keep, clock } = this.#options;
    renameSync(path, `${path}.${fileTime(clock.now())}`);
    const aside = readdirSync(dirname(path))
      .filter(name => isAside(name, basename(path)))
      .toSorted();
    for (const name of aside.slice(0, Math.max(0, aside.length - keep))) {
      quietly(() => unlinkSync(join(dirname(path), name)));
    }
  }
}

function append(open: OpenFile, lines: readonly string[]): void {
  const bytes = Buffer.from(lines.map(line => `${line}\n`).join(''));
  for (let at = 0; at < bytes.length; ) at += writeSync(open.handle, bytes, at);
  open.bytes += bytes.length;
}

/** Exactly the time stamp of the agent: other files in the directory must not be deleted. */
function isAside(name: string, stem: string): boolean {
  return name.startsWith(`${stem}.`) && /^\d{8}-\d{6}\.\d{3}$/.test(name.slice(stem.length + 1));
}

function quietly(act: () => void): void {
  try {
    act();
  } catch {
    // The next line tries again.
  }
}
