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

export function printPem(type: string, der: Uint8Array): string {
  const lines = toBase64(der).match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${type}-----\n${lines.join('\n')}\n-----END ${type}-----\n`;
}
