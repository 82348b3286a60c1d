import { type FileHandle, open, stat } from 'node:fs/promises';
import type { Clock } from '#base/clock.ts';
import type { AppError } from '#base/errors.ts';
import { startDeadline } from '#base/waiting/abort.ts';
import { backoffMs } from '#base/waiting/backoff.ts';
import { sumOf } from '../folder.ts';
import { connectionFailure, downloadDiffers, downloadFailed, Transient } from './failures.ts';
import type { Answer } from './http.ts';
import { type Asked, rangeOf, refusal, validatorOf } from './answer.ts';
import { deletePartial, endPartial, readPartial, startPartial } from './partial.ts';

export interface Download {
  /** For messages and, with `partial`, to know an unfinished download again. */
  url: string;
  /** Asks the server, with these headers. */
  get: (headers: Readonly<Record<string, string>>, signal: AbortSignal) => Promise<Answer>;
  /** Expected, in hex; undefined when nobody knows it. */
  sha256: string | undefined;
  /** Expected, if known. */
  bytes?: number;
  maxBytes: number;
  /** Where it is stored; an unfinished one is continued. */
  partial: string;
}

export interface DownloadContext {
  clock: Clock;
  signal: AbortSignal;
  /** Bytes so far and in all, if known. */
  progress: (bytes: number, total: number | undefined) => void;
  /** A failure that is followed by another attempt. */
  retried: (why: string, pauseMs: number) => void;
}

/** A server that sends less than `bytes` within `ms` counts as stalled. */
const stall = { ms: 60_000, bytes: 64 * 1024 } as const;
/** In succession; an attempt that has made progress starts the count again, up to the second limit. */
const maxFailures = 6;
const maxAttempts = 200;
const pauses = { firstMs: 1000, maxMs: 30_000 };
/** Nobody waits longer for a server that asks for it. */
const maxWaitMs = 300_000;

/** Downloads a file with resume and retries, and checks it. Returns its SHA-256. */
export async function download(wanted: Download, context: DownloadContext): Promise<string> {
  const done = await finished(wanted);
  if (done !== undefined) return done;
  return receiveChecked(wanted, context, true);
}

async function receiveChecked(wanted: Download, context: DownloadContext, mayRepeat: boolean): Promise<string> {
  const isResumed = await receive(wanted, context);
  const sum = await sumOf(wanted.partial);
  if (wanted.sha256 === undefined || sum === wanted.sha256) {
    await endPartial(wanted.partial);
    return sum;
  }
  await deletePartial(wanted.partial);
  // The server may have changed the file between two attempts: what was put together is neither the old nor the new one.
  if (isResumed && mayRepeat) return receiveChecked(wanted, context, false);
  throw downloadDiffers(wanted.url, sum, wanted.sha256);
}

/** What an earlier run has downloaded, but not used. */
async function finished({ partial, sha256 }: Download): Promise<string | undefined> {
  if (sha256 === undefined) return undefined;
  const sum = await sumOf(partial).catch(() => undefined);
  return sum === sha256 ? sum : undefined;
}

/** True when the file consists of the answers to several requests. */
async function receive(wanted: Download, context: DownloadContext): Promise<boolean> {
  let failures = 0;
  for (let attempts = 1; ; attempts += 1) {
    const before = await sizeOf(wanted.partial);
    try {
      return await attempt(wanted, context);
    } catch (error) {
      context.signal.throwIfAborted();
      const failure = error instanceof Transient ? error : connectionFailure(wanted.url, error);
      if (!(failure instanceof Transient)) throw failure;
      failures = (await sizeOf(wanted.partial)) >= before + stall.bytes ? 1 : failures + 1;
      if (failures >= maxFailures || attempts >= maxAttempts)
        throw downloadFailed(wanted.url, `${failure.message}, ${failures} times in succession`, undefined, failure);
      if (failure.waitMs > maxWaitMs)
        throw downloadFailed(wanted.url, `${failure.message}, and asks to wait for ${failure.waitMs / 1000} s`);
      const pauseMs = Math.max(backoffMs(pauses, failures), failure.waitMs);
      context.retried(failure.message, pauseMs);
      await context.clock.sleep(pauseMs, context.signal);
    }
  }
}

async function attempt(wanted: Download, { clock, signal, progress }: DownloadContext): Promise<boolean> {
  const deadline = startDeadline(clock, stall.ms, () => new Transient('the server sends no data'), signal);
  let answer: Answer | undefined;
  let file: FileHandle | undefined;
  try {
    const asked = await whatToAsk(wanted);
    answer = await wanted.get(rangeHeaders(asked), deadline.signal);
    const { start, total } = await checkedRange(answer, asked, { wanted, now: clock.now() });
    file =
      start > 0
        ? await open(wanted.partial, 'a')
        : await startPartial(wanted.partial, { url: wanted.url, validator: validatorOf(answer) });
    await store(answer, file, { wanted, start, total, progress, extend: () => deadline.extend(stall.ms) });
    return start > 0;
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw deadline.signal.aborted ? deadline.signal.reason : error;
  } finally {
    deadline.end();
    answer?.cancel();
    await file?.close();
  }
}

interface Storing {
  wanted: Download;
  start: number;
  total: number | undefined;
  progress: DownloadContext['progress'];
  extend: () => void;
}

async function store({ body }: Answer, file: FileHandle, storing: Storing): Promise<void> {
  const { wanted, start, total, progress, extend } = storing;
  let [bytes, extendedAt] = [start, start];
  progress(bytes, total);
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > wanted.maxBytes) {
      await deletePartial(wanted.partial);
      throw tooLarge(wanted);
    }
    await file.writeFile(chunk);
    progress(bytes, total);
    if (bytes < extendedAt + stall.bytes) continue;
    extendedAt = bytes;
    extend();
  }
  if (total !== undefined && bytes !== total) throw new Transient('the connection was cut');
}

/** Without a validator only a known checksum tells whether the parts belong together. */
async function whatToAsk({ partial, url, sha256 }: Download): Promise<Asked> {
  const { bytes = 0, validator = '' } = (await readPartial(partial, url)) ?? {};
  return validator !== '' || sha256 !== undefined ? { from: bytes, validator } : { from: 0, validator: '' };
}

function rangeHeaders({ from, validator }: Asked): Record<string, string> {
  return from === 0 ? {} : { range: `bytes=${from}-`, ...(validator !== '' && { 'if-range': validator }) };
}

async function checkedRange(answer: Answer, asked: Asked, { wanted, now }: { wanted: Download; now: number }) {
  const range = rangeOf(answer, asked);
  if (range === undefined) throw refusal(wanted.url, answer, now);
  if (range === 'restart') {
    await deletePartial(wanted.partial);
    throw new Transient('the server cannot continue the download, which starts again');
  }
  // Without a size or chunks, a cut connection looks like the end of the file.
  if (wanted.sha256 === undefined && range.total === undefined && answer.headers['transfer-encoding'] === undefined)
    throw downloadFailed(
      wanted.url,
      'the server does not tell how large it is, so nobody would notice a cut download',
      'Enter the SHA-256 that the vendor publishes in the lock.',
    );
  checkSize(wanted, range.total);
  return range;
}

function checkSize(wanted: Download, total: number | undefined): void {
  if (total !== undefined && total > wanted.maxBytes) throw tooLarge(wanted);
  if (wanted.bytes === undefined || total === undefined || total === wanted.bytes) return;
  throw downloadFailed(wanted.url, `it has ${total} bytes, not ${wanted.bytes}`);
}

function tooLarge({ url, maxBytes }: Download): AppError {
  return downloadFailed(url, `it has more than ${maxBytes} bytes`, 'Check the address in the lock.');
}

async function sizeOf(path: string): Promise<number> {
  return (await stat(path).catch(() => undefined))?.size ?? 0;
}
