import { fromBase64, toBase64 } from './bytes.ts';

export interface PemBlock {
  type: string;
  der: Uint8Array<ArrayBuffer>;
}

/** Complete blocks in order, and the lines of damaged ones. */
export interface PemScan {
  blocks: PemBlock[];
  broken: { line: number; why: string }[];
}

/** A line that begins or ends a block, correctly written or not. */
const marker = /^-{2,}\s*(BEGIN|END)\b/;

const begin = /^-----BEGIN ([A-Z0-9 ]{1,64})-----$/;

/** Scans line by line: text between blocks is skipped, a truncated block is reported. */
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
  // Headers such as "Proc-Type: 4,ENCRYPTED" end at a blank line.
  const blank = block.body.indexOf('');
  const hasHeaders = block.body.some(line => line.includes(':'));
  const body = hasHeaders && blank !== -1 ? block.body.slice(blank + 1) : block.body;
  const der = fromBase64(body.join(''));
  if (der === undefined || der.length === 0) scan.broken.push({ line: block.line, why: 'is not base64' });
  else scan.blocks.push({ type: block.type, der });
}

export type OnlyPem = { ok: true; der: Uint8Array<ArrayBuffer> } | { ok: false; why: string };

/**
 * Accepts exactly what `printPem` writes (the last line break is optional), so that every reader finds the same bytes.
 * For texts that other programs read as well; `scanPem` is for files written by users.
 */
export function readOnlyPem(type: string, text: string): OnlyPem {
  const whole = text.endsWith('\n') ? text : `${text}\n`;
  const [begins, ends] = [`-----BEGIN ${type}-----\n`, `\n-----END ${type}-----\n`];
  if (!whole.startsWith(begins)) return { ok: false, why: `it does not begin with the line ${begins.trimEnd()}` };
  if (!whole.endsWith(ends)) return { ok: false, why: `it does not end with the line ${ends.trim()}` };
  const der = fromBase64(whole.slice(begins.length, -ends.length));
  if (der === undefined || der.length === 0) return { ok: false, why: 'the text between its two lines is not base64' };
  if (printPem(type, der) === whole) return { ok: true, der };
  return { ok: false, why: 'its base64 is not in lines of 64 characters that end in a line feed' };
}

export function printPem(type: string, der: Uint8Array): string {
  const lines = toBase64(der).match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${type}-----\n${lines.join('\n')}\n-----END ${type}-----\n`;
}
