/** A process as the list of all processes has it. */
export interface ProcessEntry {
  pid: number;
  /** May be the number of another process by now, if the parent has ended. */
  parentPid: number;
  /** With its ending, such as `kubelet.exe`. */
  program: string;
}

export const processEntryBytes = 568;

/** PROCESSENTRY32W, with its size as Windows wants to find it. */
export function emptyProcessEntry(): Buffer {
  const bytes = Buffer.alloc(processEntryBytes);
  bytes.writeUInt32LE(processEntryBytes, 0);
  return bytes;
}

export function decodeProcessEntry(bytes: Buffer): ProcessEntry {
  const text = bytes.toString('utf16le', 44, 44 + 2 * 260);
  const end = text.indexOf('\0');
  return {
    pid: bytes.readUInt32LE(8),
    parentPid: bytes.readUInt32LE(32),
    program: end === -1 ? text : text.slice(0, end),
  };
}

/** Processes started by one of those given, by their numbers, and not among them. */
export function startedBy(parents: ReadonlySet<number>, entries: readonly ProcessEntry[]): ProcessEntry[] {
  return entries.filter(({ pid, parentPid }) => parents.has(parentPid) && !parents.has(pid));
}

/** Compares the name of a program, given with or without `.exe`, with the last part of a path. */
export function isProgram(path: string, name: string): boolean {
  const program = path.slice(path.lastIndexOf('\\') + 1).toLowerCase();
  const wanted = name.toLowerCase();
  return program === wanted || program === `${wanted}.exe`;
}
