import { decodeText } from '../memory.ts';

/** A process in the list of all processes. */
export interface ProcessEntry {
  pid: number;
  /** May be the PID of another process by now, if the parent has exited. */
  parentPid: number;
  /** With its extension, such as `kubelet.exe`. */
  program: string;
}

export const processEntryBytes = 568;

/** PROCESSENTRY32W, with its size set as Windows requires. */
export function emptyProcessEntry(): Buffer {
  const bytes = Buffer.alloc(processEntryBytes);
  bytes.writeUInt32LE(processEntryBytes, 0);
  return bytes;
}

export function decodeProcessEntry(bytes: Buffer): ProcessEntry {
  const program = decodeText(bytes.subarray(44, 44 + 2 * 260));
  return { pid: bytes.readUInt32LE(8), parentPid: bytes.readUInt32LE(32), program };
}

/** Processes whose parent is one of the given PIDs, without those PIDs themselves. */
export function startedBy(parents: ReadonlySet<number>, entries: readonly ProcessEntry[]): ProcessEntry[] {
  return entries.filter(({ pid, parentPid }) => parents.has(parentPid) && !parents.has(pid));
}

/** Compares the name of a program, given with or without `.exe`, with the last part of a path. */
export function isProgram(path: string, name: string): boolean {
  const program = path.slice(path.lastIndexOf('\\') + 1).toLowerCase();
  const wanted = name.toLowerCase();
  return program === wanted || program === `${wanted}.exe`;
}
