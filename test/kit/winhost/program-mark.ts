/** What a test appends to a program, so that versions of it differ; Windows ignores bytes behind the end of an .exe. */
export interface ProgramMark {
  release: string;
  /** Only kubelet.exe reads it: how long after its first start on a host it fails for good. */
  failsAfterMs?: number;
}

const start = '\nlab-mark:';
/** Longer than any mark. */
export const maxMarkBytes = 256;

export function printMark(mark: ProgramMark): string {
  return `${start}${JSON.stringify(mark)}`;
}

/** Of the last bytes of a program; undefined for one without a mark. */
export function parseMark(end: string): ProgramMark | undefined {
  const at = end.lastIndexOf(start);
  return at === -1 ? undefined : (JSON.parse(end.slice(at + start.length)) as ProgramMark);
}
