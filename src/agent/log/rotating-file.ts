import { closeSync, mkdirSync, readdirSync, renameSync, unlinkSync, writeSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Clock } from '#base/clock.ts';
import { fileTime } from './line.ts';
import { identityOf, openLog, type OpenLog } from './open-log.ts';

export interface RotatingFileOptions {
  path: string;
  /** No limit when 0. */
  maxBytes: number;
  /** Full files that are kept beside the one written to. */
  keep: number;
  /** Lines with which every new file begins. */
  header: () => readonly string[];
  clock: Clock;
}

interface OpenFile extends OpenLog {
  /** Nothing but its head is in it. */
  isFresh: boolean;
}

/** What fails is left alone for so long, so that a full disk does not cost system calls with every message. */
const pauseMs = 1000;

/**
 * A file that lines are added to and that is put aside when it is full. Each line is written at once: whatever ends the
 * process, the last thing it said is on disk. No failure ever reaches the caller; the number of lines lost is told later.
 */
export class RotatingFile {
  readonly #options: RotatingFileOptions;
  #open: OpenFile | undefined;
  #lost = 0;
  #pauseUntilMs = Number.NEGATIVE_INFINITY;
  #lookAgainMs = Number.NEGATIVE_INFINITY;
  #putAsideAgainMs = Number.NEGATIVE_INFINITY;

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

  /** The open file with room for so many bytes. */
  #fileFor(bytes: number, nowMs: number): OpenFile {
    const { maxBytes } = this.#options;
    this.#lookForOther(nowMs);
    const open = (this.#open ??= this.#openFile());
    const isFull = maxBytes > 0 && !open.isFresh && open.bytes + bytes > maxBytes;
    if (!isFull || nowMs < this.#putAsideAgainMs) return open;
    // Somebody may have the file open in a way that forbids a new name; then it grows meanwhile.
    this.#putAsideAgainMs = nowMs + pauseMs;
    this.close();
    quietly(() => this.#putAside());
    return (this.#open = this.#openFile());
  }

  /** An administrator may have deleted the file, or another process of ours put it aside. */
  #lookForOther(nowMs: number): void {
    if (this.#open === undefined || nowMs < this.#lookAgainMs) return;
    this.#lookAgainMs = nowMs + pauseMs;
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

  #putAside(): void {
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

/** Only what carries exactly our stamp: nothing else in the directory is ours to delete. */
function isAside(name: string, stem: string): boolean {
  return name.startsWith(`${stem}.`) && /^\d{8}-\d{6}\.\d{3}$/.test(name.slice(stem.length + 1));
}

function quietly(act: () => void): void {
  try {
    act();
  } catch {
    // What can be done about it, the next line does.
  }
}
