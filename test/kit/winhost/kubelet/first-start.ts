import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import type { KubeletHost } from '../../../../src/sandbox/machines/kubelet/kubelet-host.ts';
import { maxMarkBytes, parseMark } from '../program-mark.ts';

/** How long the program may still run by its mark, counted from its first start on this host; undefined for ever. */
export async function remainingMs(
  host: Pick<KubeletHost, 'read' | 'write'>,
  { program, folder, nowMs }: { program: string; folder: string; nowMs: number },
): Promise<number | undefined> {
  const mark = parseMark(lastBytes(program));
  if (mark?.failsAfterMs === undefined) return undefined;
  const path = `${folder}/kubelet-${mark.release}.first-start`;
  const known = await host.read(path);
  if (known === undefined) await host.write(path, `${nowMs}`);
  return Math.max(0, Number(known ?? nowMs) + mark.failsAfterMs - nowMs);
}

function lastBytes(path: string): string {
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    const bytes = Buffer.alloc(Math.min(size, maxMarkBytes));
    readSync(file, bytes, 0, bytes.length, size - bytes.length);
    return bytes.toString('latin1');
  } finally {
    closeSync(file);
  }
}
