import { fromBase64, toBase64 } from './bytes.ts';

export interface PemBlock {
  type: string;
  der: Uint8Array<ArrayBuffer>;
}

/** What was found in a text: whole blocks in order, and the lines where one is damaged: no good end, or no beginning. */
export interface PemScan {
  blocks: PemBlock[];
  broken: { line: number; why: string }[];
}

/** A line that wants to begin or end a block, well written or not. */
const marker = /^-{2,}\s*(BEGIN|END)\b/;

const begin = /^-----BEGIN ([A-Z0-9 ]{1,64})-----$/;

/** Scans line by line, so text between blocks is skipped and a truncated block is reported instead of silently dropped. */
export function scanPem(text: string): PemScan {
  const scan: PemScan = { blocks: [], broken: [] };
  let open: { type: string; line: number; body: string[] } | undefined;
  text.split('\n').forEach((raw, index) => {
    const line = raw.trim();
    const starts = begin.exec(line);
    if (starts !== null) {
      if (open !== undefined) scan.broken.push({ line: open.line, why: 'has no END line' });
      open = { type: starts[1] ?? '', line: index + 1, body: [] };
    } else if (open !== undefined && line === `-----END ${open.type}-----`) {
      finish(scan, open);
      open = undefined;
    } else if (open !== undefined) open.body.push(line);
    else if (marker.test(line)) scan.broken.push({ line: index + 1, why: 'is not part of a block' });
  });
  if (open !== undefined) scan.broken.push({ line: open.line, why: 'has no END line' });
  return scan;
}

function finish(scan: PemScan, block: { type: string; line: number; body: string[] }): void {
  // Header lines such as "Proc-Type: 4,ENCRYPTED" end at a blank line; what follows is base64.
  const blank = block.body.indexOf('');
  const hasHeaders = block.body.some(line => line.includes(':'));
  const body = hasHeaders && blank !== -1 ? block.body.slice(blank + 1) : block.body;
  const der = fromBase64(body.join(''));
  if (der === undefined || der.length === 0) scan.broken.push({ line: block.line, why: 'is not base64' });
  else scan.blocks.push({ type: block.type, der });
}

/** A whole text that is one block, or why it is not. */
export type OnlyPem = { ok: true; der: Uint8Array<ArrayBuffer> } | { ok: false; why: string };

/**
 * Reads a text in which every reader finds the same bytes: exactly what `printPem` writes, where the last line break may be missing.
 * For texts that others read again after us and act upon; `scanPem` is for files that people put together.
 */
export function readOnlyPem(type: string, text: string): OnlyPem {
  const whole = text.endsWith('\n') ? text : `${text}\n`;
  const [begins, ends] = [`-----BEGIN ${type}-----\n`, `\n-----END ${type}-----\n`];
  if (!whole.startsWith(begins)) return { ok: false, why: `it does not begin with the line ${begins.trimEnd()}` };
  if (!whole.endsWith(ends)) return { ok: false, why: `it does not end with the line ${ends.trim()}` };
  const der = fromBase64(whole.slice(begins.length, -ends.length));
  if (der === undefined || der.length === 0)
    return { ok: false, why: 'what is between its two lines is not base64 alone' };
  if (printPem(type, der) === whole) return { ok: true, der };
  return { ok: false, why: 'its base64 is not in lines of 64 characters that end in a line feed' };
}

export function printPem(type: string, der: Uint8Array): string {
  const lines = toBase64(der).match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${type}-----\n${lines.join('\n')}\n-----END ${type}-----\n`;
}
