/** First line of a program file in the sandbox: name, version, and what is wrong with the program, if anything. */
const stamp = /^MZ wmco-sandbox (\S+) (\S+)(?: (broken|breaks-after-\d{1,6}s))?\n/;

/** A program that fails at its start, or works only so many seconds after its first start. */
export type Defect = 'broken' | `breaks-after-${number}s`;

/** A program file by its stamp. */
export interface Stamped {
  name: string;
  version: string;
  defect?: Defect;
}

export function stampOf(name: string, version: string, defect?: Defect): string {
  return `MZ wmco-sandbox ${name} ${version}${defect === undefined ? '' : ` ${defect}`}\n`;
}

/** Longer than any stamp. */
export const stampBytes = 256;

/** Name in the stamp of an agent of the Go operator. */
export const goAgentStamp = 'go-agent';

/** Undefined for files without a stamp. */
export function readStamp(head: Uint8Array): Stamped | undefined {
  const found = stamp.exec(Buffer.from(head.subarray(0, stampBytes)).toString('latin1'));
  const [, name, version, defect] = found ?? [];
  if (name === undefined || version === undefined) return undefined;
  return { name, version, ...(defect !== undefined && { defect: defect as Defect }) };
}

/** How long a program with this defect works. */
export function lifetimeMs(defect: Defect): number {
  return Number(/\d+/.exec(defect)?.[0] ?? 0) * 1000;
}
