import { downloadFailed, Transient } from './failures.ts';
import type { Answer } from './http.ts';

export interface Asked {
  /** The first byte that is missing. */
  from: number;
  /** Of the part that is there; '' if unknown. */
  validator: string;
}

interface Range {
  /** Where the body begins in the file. */
  start: number;
  /** Size of the whole file, if known. */
  total: number | undefined;
}

/** What the body of an answer is; undefined when it is none of what was requested. */
export function rangeOf(answer: Answer, asked: Asked): Range | 'restart' | undefined {
  const { status, headers } = answer;
  if (status === 200) return { start: 0, total: numberIn(headers['content-length']) };
  if (asked.from === 0 || ![206, 416].includes(status)) return undefined;
  return status === 206 && isSame(answer, asked)
    ? (restOf(headers['content-range'] ?? '', asked) ?? 'restart')
    : 'restart';
}

/** Some servers ignore If-Range. An answer need not repeat the date. */
function isSame({ headers: { etag, 'last-modified': modified } }: Answer, { validator }: Asked): boolean {
  const own = validator.startsWith('"') ? etag : modified;
  return own === undefined || validator === '' || own === validator;
}

function restOf(contentRange: string, { from }: Asked): Range | undefined {
  const [, start, total] = /^bytes (\d{1,15})-\d{1,15}\/(\d{1,15})$/.exec(contentRange) ?? [];
  return start !== undefined && Number(start) === from ? { start: from, total: Number(total) } : undefined;
}

/** Tells whether another attempt may help. */
export function refusal(url: string, { status, headers }: Answer, now: number): Error {
  if (status === 429 || status === 408 || status >= 500)
    return new Transient(`the server answered ${status}`, { waitMs: waitMsIn(headers['retry-after'], now) });
  const remedy = {
    401: 'The server wants a login, which only registries get: with --authfile.',
    403: 'The server does not give it to everybody; logins are for registries only: with --authfile.',
    404: 'Check version and address in the lock, or the layout of the mirror: the file does not exist there.',
  }[status];
  return downloadFailed(url, `the server answered ${status}`, remedy);
}

/** Retry-After: seconds or a date. */
function waitMsIn(text: string | undefined, now: number): number {
  if (text === undefined) return 0;
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? 0 : Math.max(0, at - now);
}

/** Strong ETag or Last-Modified; a weak ETag does not promise the same bytes. */
export function validatorOf({ headers: { etag = '', 'last-modified': modified = '' } }: Answer): string {
  return /^"[^"\r\n]{0,1000}"$/.test(etag) ? etag : modified.slice(0, 100);
}

function numberIn(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}
